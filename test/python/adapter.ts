// Pipes request lines to a Python program and reads its answers. Not the harness's own connection: these tests
// must be able to see every byte.
import { execa } from 'execa';
import { pythonEnvironment } from '../../scripts/python.ts';
import { parseAnswer } from '../../src/protocol/json.ts';

export interface Request {
  readonly op: string;
  readonly args?: unknown;
}

export interface Answer {
  readonly written?: readonly string[];
  readonly id: number | null;
  readonly ok?: Record<string, unknown>;
  readonly reject?: string;
  readonly skip?: string;
  readonly error?: { readonly message: string; readonly traceback: string; readonly adapter?: true };
}

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | undefined;
}

export interface Ran extends Output {
  readonly answers: readonly Answer[];
}

/** Of what the harness starts. */
const STARTED_BY_HARNESS = { LOSSPROOF_PIPE: '1' };

/** `python3 ...args` with the package importable and `input` on its standard input. */
export async function bytes(
  args: readonly string[],
  input: string,
  mark: Readonly<Record<string, string>> = STARTED_BY_HARNESS,
): Promise<Output> {
  const { stdout, stderr, exitCode } = await execa('python3', args, {
    input,
    reject: false,
    env: { ...pythonEnvironment(), PYTHONDONTWRITEBYTECODE: '1', ...mark },
  });
  return { stdout, stderr, exitCode };
}

/** The same, with the answers parsed. */
export async function python(args: readonly string[], input: string): Promise<Ran> {
  const output = await bytes(args, input);
  const answers = output.stdout.split('\n').filter((line) => line.startsWith('{'));
  return { ...output, answers: answers.map(answerOf) };
}

/** With NaN and the infinities, as Python writes them. */
function answerOf(line: string): Answer {
  const parsed = parseAnswer(line);
  if ('complaint' in parsed) throw new Error(`${parsed.complaint}: ${line}`);
  return parsed.ok as Answer;
}

/** Requests with ids from 1 on, one a line. */
export function lines(requests: readonly Request[]): string {
  return requests.map(({ op, args = {} }, at) => `${JSON.stringify({ id: at + 1, op, args })}\n`).join('');
}

/** Answers of an adapter whose source is `script`, after `import lossproof`. */
export function adapter(script: string, requests: readonly Request[]): Promise<Ran> {
  return python(['-c', `import lossproof\n${script}`], lines(requests));
}

/** What does not come along in the package. */
const PACKAGES: Readonly<Record<string, string>> = {
  mutants: 'mutants',
  right_padded: 'conformance.right_padded',
};

/** Answers of one of the examples, or of the mutants. */
export function example(name: readonly string[], requests: readonly Request[]): Promise<Ran> {
  const [module = '', ...rest] = name;
  return python(['-m', PACKAGES[module] ?? `lossproof.examples.${module}`, ...rest], lines(requests));
}
