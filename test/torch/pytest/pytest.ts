// pytest with the plugin, as a user runs it: in a folder of its own, with the engine of dist/.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { onTestFinished } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/version.ts';

export const EXAMPLE = join(PACKAGE_ROOT, 'docs', 'example', 'pytest');
/** `npm run setup:trainers` makes it; LOSSPROOF_PYTEST is the Python of another. */
export const PYTHON = process.env.LOSSPROOF_PYTEST ?? join(PACKAGE_ROOT, '.venv-pytest', 'bin', 'python');

export interface Ran {
  readonly code: number | undefined;
  readonly out: string;
}

export interface Running {
  kill(signal: NodeJS.Signals): void;
  readonly ran: Promise<Ran>;
}

export interface Folder {
  readonly path: string;
  write(name: string, text: string): void;
  /** `pytest ...argv`, with the plugin as its entry point would load it. */
  pytest(argv: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ran>;
  /** The same, while it runs. */
  start(argv: readonly string[], env?: Readonly<Record<string, string>>): Running;
  /** `python ...argv`, which finds the package. */
  python(argv: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ran>;
  startPython(argv: readonly string[]): Running;
  /** `classname::name` to what a report of JUnit says of it: what stands in the test case, and the verdict. */
  junit(name: string): Readonly<Record<string, string>>;
}

/** With right.py and wrong.py of the example in it. */
export function makeFolder(): Folder {
  // A space and letters outside ASCII: paths have them.
  const path = mkdtempSync(join(tmpdir(), 'loss proof ü '));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  const write = (name: string, text: string): void => writeFileSync(join(path, name), text);
  for (const name of ['right.py', 'wrong.py']) write(name, readFileSync(join(EXAMPLE, name), 'utf8'));
  const run = (argv: readonly string[], env: Readonly<Record<string, string>> = {}): Running => {
    const subprocess = execa(PYTHON, argv, {
      cwd: path,
      env: {
        PYTHONPATH: join(PACKAGE_ROOT, 'src', 'python'),
        PYTHONDONTWRITEBYTECODE: '1',
        COLUMNS: '120',
        LOSSPROOF_SEED: '7',
        LOSSPROOF_TRAINER: '',
        PYTEST_ADDOPTS: '',
        // pytest cuts the lines of its summary to the screen, but not where one of these is set.
        CI: undefined,
        BUILD_NUMBER: undefined,
        ...env,
      },
      reject: false,
      all: true,
      stdin: 'ignore',
    });
    return {
      kill: (signal) => void subprocess.kill(signal),
      ran: subprocess.then(({ exitCode, all }) => ({ code: exitCode, out: all })),
    };
  };
  const start: Folder['start'] = (argv, env) =>
    run(['-m', 'pytest', '-p', 'lossproof_door.pytest_plugin', ...argv], env);
  return {
    path,
    write,
    python: (argv, env) => run(argv, env).ran,
    startPython: (argv) => run(argv),
    start,
    pytest: (argv, env) => start(argv, env).ran,
    junit(name) {
      const text = readFileSync(join(path, name), 'utf8');
      const cases = text.matchAll(
        /<testcase classname="([^"]*)" name="([^"]*)"[^>]*?(?:\/>|>(.*?)<\/testcase>)/gs,
      );
      return Object.fromEntries(
        [...cases].map(([, group, own, inside = '']) => [
          `${group}::${own}`,
          [...inside.matchAll(/<(failure|skipped|error) [^>]*?message="([^"]*)"|verdict" value="(\w+)"/g)]
            .map(([, tag, message, verdict]) => verdict ?? `${tag} ${message}`)
            .join(' '),
        ]),
      );
    },
  };
}

/** The same two as modules of functions, `right_functions` and `wrong_functions`. */
export function makeNotebook(): Folder {
  const folder = makeFolder();
  for (const name of ['right', 'wrong']) {
    const text = readFileSync(join(folder.path, `${name}.py`), 'utf8');
    folder.write(
      `${name}_functions.py`,
      text.replace('@lossproof.op\n', '').replace(/^lossproof\.serve.*$/m, ''),
    );
  }
  return folder;
}

export const BOTH = [
  '--lossproof',
  'right.py',
  '--lossproof',
  'wrong.py',
  '--lossproof-only',
  'mask',
] as const;
