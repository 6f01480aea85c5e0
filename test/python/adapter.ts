// Pipes request lines to a Python program and reads its answers. Not the harness's own connection: these tests
// must be able to see every byte.
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

export interface Request {
  readonly op: string;
  readonly args?: unknown;
}

export interface Answer {
  readonly id: number | null;
  readonly ok?: Record<string, unknown>;
  readonly reject?: string;
  readonly skip?: string;
  readonly error?: { readonly message: string; readonly traceback: string };
}

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | undefined;
}

export interface Ran extends Output {
  readonly answers: readonly Answer[];
}

const PACKAGE = fileURLToPath(new URL('../../src/python', import.meta.url));

/** `python3 ...args` with the package importable and `input` on its standard input. */
export async function bytes(args: readonly string[], input: string): Promise<Output> {
  const { stdout, stderr, exitCode } = await execa('python3', args, {
    input,
    reject: false,
    env: { PYTHONPATH: PACKAGE, PYTHONDONTWRITEBYTECODE: '1' },
  });
  return { stdout, stderr, exitCode };
}

/** The same, with the answers parsed. */
export async function python(args: readonly string[], input: string): Promise<Ran> {
  const output = await bytes(args, input);
  const answers = output.stdout.split('\n').filter((line) => line.startsWith('{'));
  return { ...output, answers: answers.map((line): Answer => JSON.parse(line)) };
}

/** Requests with ids from 1 on, one a line. */
export function lines(requests: readonly Request[]): string {
  return requests.map(({ op, args = {} }, at) => `${JSON.stringify({ id: at + 1, op, args })}\n`).join('');
}

/** Answers of an adapter whose source is `script`, after `import lossproof`. */
export function adapter(script: string, requests: readonly Request[]): Promise<Ran> {
  return python(['-c', `import lossproof\n${script}`], lines(requests));
}

/** Answers of one of the bundled examples. */
export function example(name: readonly string[], requests: readonly Request[]): Promise<Ran> {
  const [module, ...rest] = name;
  return python(['-m', `lossproof.examples.${module}`, ...rest], lines(requests));
}
