// Pipes request lines to a ready-made adapter in the environment that `npm run setup:trainers` made.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

export type Module = 'dpo' | 'grpo' | 'kto' | 'sft';

export interface Asked {
  readonly op: string;
  readonly args: unknown;
}

/** Milliseconds for a hook that starts an adapter: importing torch takes seconds, on a busy machine many. */
export const STARTING = 120_000;

/** A request for hello, as the harness sends it first. */
export const HELLO: Asked = { op: 'hello', args: { protocol: 1, harness: 'test' } };

const path = (relative: string): string => fileURLToPath(new URL(`../../../${relative}`, import.meta.url));

/** A folder with a tokenizer of a bundled family. */
export const family = (name: string): string => path(`src/tokenizers/families/${name}`);

/** The Python with torch; an error that says what to do where there is none. */
export function trainersPython(): string {
  const named = process.env.LOSSPROOF_PYTHON ?? path('.venv/bin/python');
  if (!existsSync(named)) throw new Error(`${named} is missing: run \`npm run setup:trainers\``);
  return named;
}

/** The `ok` of each answer, in order; an error names the first answer that is no `ok`. */
export async function ask(
  module: Module,
  requests: readonly Asked[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const answers = await answersOf(module, requests, env);
  return answers.map((answer, at) => {
    if (typeof answer.ok === 'object') return answer.ok;
    throw new Error(`answer ${at + 1} of ${module}: ${JSON.stringify(answer)}`);
  });
}

interface Answer {
  readonly ok?: Readonly<Record<string, unknown>>;
  readonly reject?: string;
  readonly error?: { readonly message: string };
}

/** The answers as they are: ok, reject or error. */
export async function answersOf(
  module: Module,
  requests: readonly Asked[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly Answer[]> {
  const input = requests.map(({ op, args }, at) => `${JSON.stringify({ id: at + 1, op, args })}\n`).join('');
  const { stdout, stderr } = await execa(trainersPython(), ['-m', `lossproof.adapters.trl.${module}`], {
    input,
    reject: false,
    env: { PYTHONPATH: path('src/python'), PYTHONDONTWRITEBYTECODE: '1', ...env },
  });
  const lines = stdout.split('\n').filter((line) => line !== '');
  if (lines.length !== requests.length)
    throw new Error(`${module} answered ${lines.length} of ${requests.length} requests\n${stderr}`);
  return lines.map((line): Answer => JSON.parse(line));
}
