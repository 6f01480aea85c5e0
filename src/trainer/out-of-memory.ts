// Whether a failure says that memory ran out, of the machine or of its GPU: where several trainers share them, fewer at a
// time may do what this one could not.
import type { TrainerFailure } from './failure.ts';

/** Only what is shown of a failure is asked: nobody but the kernel knows more. */
export function diedOfMemory(failure: TrainerFailure): boolean {
  const { kind, message, exitCode, signal, traceback = '', stderrTail = '' } = failure;
  if (!ENDED.includes(kind)) return false;
  if (OUT_OF_MEMORY.test(message) || OUT_OF_MEMORY.test(lastLines(traceback))) return true;
  if (kind === 'error') return false; // the process lives on, and what it wrote before was about something else
  // We kill what hangs or prints, too, and that is told as another kind.
  if (
    signal === 'SIGKILL' ||
    exitCode === KILLED ||
    /was killed by SIGKILL|exited with code 137\b/.test(message)
  )
    return true;
  return OUT_OF_MEMORY.test(lastLines(stderrTail));
}

/** An op that raised for want of memory has freed its own; the next one wants it again. */
const ENDED: readonly TrainerFailure['kind'][] = ['start', 'crash', 'budget', 'error'];

/** 128 and SIGKILL, as a shell between us and the trainer says it. */
const KILLED = 137;

/** Python's words, torch's, those of its allocators, XLA's, and those of the C library and of C++. */
const OUT_OF_MEMORY =
  /\bMemoryError\b|\bOutOfMemoryError\b|\b(?:CUDA|HIP|XPU|MPS|backend|cudaMalloc\w*)\b[^\n]{0,60}\bout of memory\b|CUBLAS_STATUS_ALLOC_FAILED|CUDNN_STATUS_ALLOC_FAILED|DefaultCPUAllocator: (?:can't allocate|not enough) memory|RESOURCE_EXHAUSTED: Out of memory|Cannot allocate memory|\[Errno 12\]|std::bad_alloc/i;

/** What a process says last is what ended it. */
const LAST_LINES = 20;

function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-LAST_LINES).join('\n');
}
