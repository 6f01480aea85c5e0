// A trainer that failed to answer, as text: what happened, what to do, and the end of what it printed.
import { stripVTControlCharacters } from 'node:util';
import type { TrainerFailure } from '../trainer/failure.ts';
import type { Paint } from './paint.ts';
import { wrap } from './visible.ts';

/** Lines of at most `width` columns. */
export function troubleLines(
  trouble: TrainerFailure,
  { width, paint }: { width: number; paint: Paint },
): string[] {
  const traceback = tail(trouble.traceback ?? '', TRACEBACK_LINES);
  // A traceback says it all; without one, what was printed last is the best witness.
  const printed = traceback.length > 0 ? [] : tail(trouble.stderrTail ?? '', STDERR_LINES);
  // Wrapped, not cut: what matters may stand at the end of a long line.
  const quoted = (lines: readonly string[]): string[] =>
    lines.flatMap((line) => wrap(line, width - BAR.length)).map((line) => paint.dim(BAR + line));
  const happened = wrap(trouble.message + again(trouble.reproduced), width);
  const advice = wrap(trouble.advice, width);
  const witness = [
    ...(traceback.length > 0 ? quoted(traceback) : []),
    ...(printed.length > 0 ? ['Last lines of its stderr:', ...quoted(printed)] : []),
  ];
  if (witness.length === 0) return [...happened, ...advice];
  // Why a process does not start is in what it printed, and the advice is about that.
  if (trouble.kind === 'start') return [...happened, '', ...witness, '', ...advice];
  return [...happened, ...advice, '', ...witness];
}

const BAR = '│ ';
/** The end of a traceback names the error; its beginning is the SDK. */
const TRACEBACK_LINES = 12;
const STDERR_LINES = 8;

function again(reproduced: boolean | undefined): string {
  if (reproduced === undefined) return '';
  return reproduced ? ' It did so again, alone in a fresh process.' : ' It did not do so again alone.';
}

/** What was printed is shown, not obeyed: no colours, no moved cursor; of a progress bar the last state. */
function tail(text: string, count: number): string[] {
  const lines = stripVTControlCharacters(text)
    .split('\n')
    .map(
      (line) =>
        line
          .trimEnd()
          .split('\r')
          .at(-1)
          ?.replaceAll('\t', '    ')
          .replaceAll(/\p{Cc}/gu, '\ufffd') ?? '',
    )
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
