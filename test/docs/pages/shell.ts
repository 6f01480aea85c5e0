// Types a page's commands into a shell, in a folder of its own, where `lossproof` and `npx` are what is built here.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import { MAIN } from '../../../scripts/misbehaving/measure.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';

export interface Typed {
  readonly line: string;
  readonly code: number;
  readonly out: string;
}

export interface Shell {
  readonly folder: string;
  write(name: string, text: string): void;
  /** From the repository: a file, or a folder with all that is in it. */
  copy(from: string, to: string): void;
  read(name: string): string;
  close(): void;
  /** The lines of one block, in one shell. */
  type(lines: readonly string[]): Promise<readonly Typed[]>;
}

/** Of use only against a hang. */
const LIMIT_MS = 500_000;

/** `python` is a Python's path; where there is none it is `python3` of the tests. */
export function openShell(python?: string): Shell {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-page-'));
  const bin = mkdtempSync(join(tmpdir(), 'lossproof-bin-'));
  const program = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  program('lossproof', `exec '${process.execPath}' '${MAIN}' "$@"`);
  program('npx', 'exec "$@"');
  if (python === undefined) program('python', 'exec python3 "$@"');
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  const env = {
    PATH: [bin, ...(python === undefined ? [] : [dirname(python)]), process.env.PATH ?? ''].join(delimiter),
    ...(python === undefined ? {} : { VIRTUAL_ENV: dirname(dirname(python)) }),
    XDG_STATE_HOME: bin,
    COLUMNS: '80',
    LOSSPROOF_SEED: '1',
    HF_HUB_OFFLINE: '1',
    CI: '',
    GITHUB_ACTIONS: '',
  };
  return {
    folder,
    write,
    copy(from, to) {
      mkdirSync(dirname(join(folder, to)), { recursive: true });
      cpSync(join(PACKAGE_ROOT, from), join(folder, to), { recursive: true });
    },
    read: (name) => readFileSync(join(folder, name), 'utf8'),
    close() {
      for (const each of [folder, bin]) rmSync(each, { recursive: true, force: true, maxRetries: 5 });
    },
    async type(lines) {
      const told = (at: number): string => join(bin, `told-${at}`);
      const script = lines.map(
        (line, at) => `{ ${line}\n} >'${told(at)}' 2>&1 </dev/null\necho $? >'${told(at)}.code'`,
      );
      // bash, as nearly every reader has it: one page uses <( ).
      await execa('bash', ['-c', script.join('\n')], { cwd: folder, env, reject: false, timeout: LIMIT_MS });
      return lines.map((line, at) => ({
        line,
        code: existsSync(`${told(at)}.code`) ? Number(readFileSync(`${told(at)}.code`, 'utf8')) : Number.NaN,
        out: existsSync(told(at)) ? readFileSync(told(at), 'utf8') : '',
      }));
    },
  };
}
