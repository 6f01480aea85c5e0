// One process of the dialogue: every request has its answer, in order, or the reason why there is none.
import { bound } from '../bounds.ts';
import { parsePython } from '../outside/json.ts';
import { lineSplitter } from '../protocol/lines.ts';
import { type Child, startChild } from '../trainer/child.ts';

/** For one that reads the end of its input; it has nothing to save. */
const CLOSE_MILLISECONDS = bound({
  of: '`discover`: waiting for Python to end',
  wall: 500,
  over: 'it is killed',
});

interface Waiting {
  readonly milliseconds: number;
  readonly hear: (answer: Record<string, unknown>) => void;
}

/** Starts it. */
export function talk(python: string, cwd: string, env: Readonly<Record<string, string>>) {
  const waiting: Waiting[] = [];
  const splitter = lineSplitter();
  let alive = true;
  let timer: NodeJS.Timeout | undefined;
  let words = 'its process ended';
  const child: Child = startChild(
    { command: [python, '-m', 'lossproof_discover'], cwd, env: { ...env } },
    (chunk) => {
      for (const line of splitter.push(chunk)) {
        const parsed = typeof line === 'string' && line !== '' ? parsePython(line) : { complaint: '' };
        const head = waiting.shift();
        arm();
        head?.hear('ok' in parsed ? (parsed.ok as Record<string, unknown>) : { problem: 'no answer' });
      }
    },
  );
  void child.exited.then((exit) => {
    alive = false;
    clearTimeout(timer);
    if (words === 'its process ended')
      words =
        exit.spawnError !== undefined
          ? `${python} could not be started: ${exit.spawnError}`
          : exit.signal === undefined
            ? `it ended the process (exit code ${exit.exitCode ?? 0})${lastLine(child)}`
            : `it ended the process (${exit.signal})`;
    for (const each of waiting.splice(0)) each.hear({ problem: words, error: words, died: true });
  });

  function arm(): void {
    clearTimeout(timer);
    const [head] = waiting;
    if (head === undefined) return;
    timer = setTimeout(() => {
      words = `it did not return within ${Math.round(head.milliseconds / 1000)} s`;
      void child.kill();
    }, head.milliseconds);
  }

  return {
    alive: () => alive,
    ask(request: string | object, milliseconds: number): Promise<Record<string, unknown>> {
      if (!alive) return Promise.resolve({ problem: words, error: words, died: true });
      return new Promise((hear) => {
        waiting.push({ milliseconds, hear });
        if (waiting.length === 1) arm();
        child.write(`${typeof request === 'string' ? request : JSON.stringify(request)}\n`);
      });
    },
    kill(): void {
      words = 'stopped';
      void child.kill();
    },
    async end(): Promise<void> {
      child.endInput();
      const impatience = setTimeout(() => void child.kill(), CLOSE_MILLISECONDS);
      await child.exited;
      clearTimeout(impatience);
    },
  };
}

/** What it said last: a missing module of our own, a Python that is too old. */
function lastLine(child: Child): string {
  const last = child.stderrTail().trimEnd().split('\n').at(-1) ?? '';
  return last === '' ? '' : `: ${last}`;
}
