// A trainer that failed to answer, as text: what happened, what to do, and the end of what it printed.
import { stripVTControlCharacters } from 'node:util';
import type { Failure } from '../../check/events.ts';
import type { TrainerFailure } from '../../trainer/failure.ts';
import type { Paint } from '../text/paint.ts';
import { harmless, wrap } from '../text/visible.ts';

/** Lines of at most `width` columns. */
export function troubleLines(
  trouble: TrainerFailure,
  { width, paint }: { width: number; paint: Paint },
): string[] {
  const { traceback, printed } = witnessOf(trouble);
  // Wrapped, not cut: what matters may stand at the end of a long line.
  const quoted = (lines: readonly string[]): string[] =>
    lines.flatMap((line) => wrap(line, width - BAR.length)).map((line) => paint.dim(BAR + line));
  const happened = wrap(harmless(trouble.message), width);
  const advice = wrap(harmless(trouble.advice), width);
  const witness = [
    ...(traceback.length > 0 ? quoted(traceback) : []),
    ...(printed.length > 0 ? ['Last lines of its stderr:', ...quoted(printed)] : []),
  ];
  if (witness.length === 0) return [...happened, ...advice];
  // Why a process does not start is in what it printed, and the advice is about that.
  if (trouble.kind === 'start') return [...happened, '', ...witness, '', ...advice];
  return [...happened, ...advice, '', ...witness];
}

/** What it was heard to say, as lines that are safe to show: of a traceback and stderr only one has any. */
export function witnessOf(trouble: TrainerFailure): {
  readonly traceback: readonly string[];
  readonly printed: readonly string[];
} {
  const traceback = tail(trouble.traceback ?? '', TRACEBACK_LINES);
  // A traceback says it all; without one, what was printed last is the best witness.
  return { traceback, printed: traceback.length > 0 ? [] : tail(trouble.stderrTail ?? '', STDERR_LINES) };
}

/** Of a failed case, if it is one; the engine's copy of stderr stands in where the trainer's failure has none. */
export function troubleIn({ trainerFailure, stderrTail }: Failure): TrainerFailure | undefined {
  if (trainerFailure === undefined || stderrTail === undefined) return trainerFailure;
  return { stderrTail, ...trainerFailure };
}

const BAR = '│ ';
/** The end of a traceback names the error; its beginning is the SDK. */
const TRACEBACK_LINES = 12;
const STDERR_LINES = 8;

/** What was printed is shown, not obeyed: no colours, no moved cursor; of a progress bar the last state. */
export function tail(text: string, count: number): string[] {
  const lines = stripVTControlCharacters(text)
    .split('\n')
    .map((line) => harmless(line.trimEnd().split('\r').at(-1) ?? ''))
    .filter((line) => line !== '');
  const runs = runsOf(lines);
  return runs.length <= count ? runs : ['…', ...runs.slice(-count)];
}

/** A print in an op comes once a request: said once, and counted. */
function runsOf(lines: readonly string[]): string[] {
  const runs: { readonly line: string; times: number }[] = [];
  for (const line of lines) {
    const last = runs.at(-1);
    if (last?.line === line) last.times++;
    else runs.push({ line, times: 1 });
  }
  return runs.map(({ line, times }) => (times === 1 ? line : `${line}  (${times} times)`));
}
