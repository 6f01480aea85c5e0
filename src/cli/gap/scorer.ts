// The Python that scores rows with a model folder, `src/python/lossproof_gap`: one line of JSON out, one in. Loading and scoring take
// as long as they take: whoever waits sees the progress and may end it.
import { parsePython } from '../../outside/json.ts';
import { lineSplitter } from '../../protocol/lines.ts';
import { type Child, startChild } from '../../trainer/child.ts';
import { PYTHON_FOLDER } from '../../version.ts';
import type { Problem } from '../context.ts';

export interface Scorer {
  ask(request: object): Promise<Readonly<Record<string, unknown>> | Problem>;
  stop(): Promise<void>;
}

export function startScorer(
  python: string,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Scorer {
  const waiting: ((answer: Readonly<Record<string, unknown>> | Problem) => void)[] = [];
  const splitter = lineSplitter();
  let ended: Problem | undefined;
  const variables = Object.entries(env).filter((each): each is [string, string] => each[1] !== undefined);
  const child: Child = startChild(
    // Python imports from the folder that it is started in: what lies beside the rollouts is no library.
    {
      command: [python, '-m', 'lossproof_gap', folder],
      cwd: PYTHON_FOLDER,
      env: Object.fromEntries(variables),
    },
    (chunk) => {
      for (const line of splitter.push(chunk)) {
        const parsed = typeof line === 'string' && line !== '' ? parsePython(line) : { complaint: '' };
        const answer =
          'ok' in parsed && isRecord(parsed.ok) ? parsed.ok : { problem: 'its answer cannot be read' };
        waiting.shift()?.(answer);
      }
    },
  );
  void child.exited.then(({ exitCode, signal, spawnError }) => {
    const last = child.stderrTail().trimEnd().split('\n').at(-1) ?? '';
    ended = {
      problem:
        spawnError === undefined
          ? `its process ended (${signal ?? `exit code ${exitCode ?? 0}`})${last === '' ? '' : `: ${last}`}`
          : `${python} could not be started: ${spawnError}`,
    };
    for (const hear of waiting.splice(0)) hear(ended);
  });
  return {
    ask(request) {
      if (ended !== undefined) return Promise.resolve(ended);
      return new Promise((hear) => {
        waiting.push(hear);
        child.write(`${JSON.stringify(request)}\n`);
      });
    },
    async stop() {
      await child.kill();
    },
  };
}

// --- helpers ---

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
