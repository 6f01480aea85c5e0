// Two versions of lossproof in one Python: which of them runs is Python's choice, and the one that runs says it.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { copyTo, OLDER, sdkBeforeTheDoor, VERSION } from './copies.ts';

interface Environment {
  readonly folder: string;
  readonly site: string;
  run(
    words: readonly string[],
    path?: string,
    cwd?: string,
  ): Promise<{ readonly stdout: string; readonly stderr: string }>;
}

/** A real one, with this version installed. */
async function makeEnvironment(): Promise<Environment> {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof other ü '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const own = join(folder, 'own');
  await execa('python3', ['-m', 'venv', '--without-pip', own]);
  const version = readdirSync(join(own, 'lib')).find((name) => name.startsWith('python')) ?? '';
  const site = copyTo(join(own, 'lib', version, 'site-packages'), VERSION);
  return {
    folder,
    site,
    async run(words, path = '', cwd = folder) {
      const ran = await execa(join(own, 'bin', 'python'), words, {
        cwd,
        env: { PATH: process.env.PATH ?? '', PYTHONPATH: path, LOSSPROOF_NODE: process.execPath },
        extendEnv: false,
        reject: false,
      });
      return { stdout: ran.stdout, stderr: ran.stderr };
    },
  };
}

const MODULE = ['-m', 'lossproof', '--version'];
/** As pip writes the command. */
const COMMAND = ['-c', 'import sys; from lossproof_door.main import main; sys.exit(main(["--version"]))'];
/** The version, and below it that of its Node. */
const SAID = expect.stringMatching(new RegExp(`^${VERSION}\\nNode [\\d.]+$`));
const TELL = 'import sys, lossproof_door; sys.stdout.write(lossproof_door.__file__)';

test.each([
  ['python -m lossproof', MODULE],
  ['lossproof', COMMAND],
])('%s out of an older one in PYTHONPATH says that it hides the one that is installed', async (_, words) => {
  const { folder, site, run } = await makeEnvironment();
  const older = copyTo(join(folder, 'older'), OLDER);
  const { stderr } = await run(words, older);
  expect(stderr).toBe(
    `lossproof: this is lossproof ${OLDER} of ${older}, and it hides lossproof ${VERSION}, which is installed in ${site}; take ${older} out of PYTHONPATH.`,
  );
  // It is the older one that speaks.
  expect((await run(['-c', TELL], older)).stdout).toContain(older);
});

test('from the folder of an older one, the way out is another folder', async () => {
  const { folder, run } = await makeEnvironment();
  const older = copyTo(join(folder, 'older'), OLDER);
  expect((await run(MODULE, '', older)).stderr).toContain(`; start from another folder than ${older}.`);
});

test('one alone, a copy of the same version, and what an environment is meant to hide are no news', async () => {
  const { folder, site, run } = await makeEnvironment();
  expect(await run(MODULE)).toEqual({ stdout: SAID, stderr: '' });
  const same = copyTo(join(folder, 'same'), VERSION);
  expect((await run(MODULE, same)).stderr).toBe('');
  const below = copyTo(join(folder, 'below'), OLDER);
  writeFileSync(join(site, 'below.pth'), `${below}\n`);
  expect(await run(MODULE)).toEqual({ stdout: SAID, stderr: '' });
});

test('an SDK alone, without a door, is said where the command starts', async () => {
  const { folder, site, run } = await makeEnvironment();
  const older = sdkBeforeTheDoor(join(folder, 'older'));
  const { stdout, stderr } = await run(COMMAND, older);
  expect(stdout).toEqual(SAID);
  expect(stderr).toBe(
    `lossproof: \`import lossproof\` gives ${join(older, 'lossproof')} here, and not ${join(site, 'lossproof')}, which belongs to the command and to pytest's plugin; take ${older} out of PYTHONPATH.`,
  );
});

test.each([
  'lossproof.view("nothing.jsonl")',
  'lossproof.check("nothing", only="mask")',
  'lossproof.pytest.trace("nothing.py")',
])('%s warns of it', async (call) => {
  const { folder, run } = await makeEnvironment();
  const older = copyTo(join(folder, 'older'), OLDER);
  const { stderr } = await run(['-c', `import lossproof; ${call}`], older);
  expect(stderr).toContain(`UserWarning: lossproof: this is lossproof ${OLDER} of ${older}`);
  expect((await run(['-c', `import lossproof; ${call}`])).stderr).not.toContain('UserWarning');
});

test('a folder of the PYTHONPATH that is not there, and a file, are passed over', async () => {
  const { folder, run } = await makeEnvironment();
  const older = copyTo(join(folder, 'older'), OLDER);
  mkdirSync(join(folder, 'empty'));
  cpSync(join(older, 'lossproof', 'py.typed'), join(folder, 'a file'));
  const path = [join(folder, 'gone'), join(folder, 'a file'), join(folder, 'empty'), older].join(':');
  expect((await run(MODULE, path)).stderr).toContain(`hides lossproof ${VERSION}`);
});
