// Code of a folder runs only with a reason: for every door, a folder that is not to be trusted leaves its mark only if its code ran.
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { makeWorld, pythonCollate, type World, WRONG } from '../world.ts';

/** Any account but the one of the tests and root. */
const SOMEBODY = 12_345;
const isRoot = process.getuid?.() === 0;

/** Commands that find a configuration, with what they need beside it. */
const STARTING: readonly string[][] = [['list'], ['doctor'], ['profile'], ['check']];
const READING: readonly string[][] = [
  ['monitor', 'log.jsonl'],
  ['view', 'data.jsonl'],
  ['dataset', 'made.jsonl', '--form', 'chat', '--rows', '4'],
  ['trace', '--from', 'traced'],
];

interface Trap extends World {
  /** Whether code of the folder has run. */
  sprung(): boolean;
}

/** `below` is where the user stands; a world of the same screen. */
function trap(options: Parameters<typeof makeWorld>[1] = {}): Trap {
  const world = makeWorld(undefined, options);
  world.write('log.jsonl', '{"step": 1, "loss": 1.5}\n{"step": 2, "loss": 1.4}\n');
  world.write('data.jsonl', '{"input_ids": [1, 2], "labels": [-100, 2]}\n');
  world.write('good.py', pythonCollate());
  return { ...world, sprung: () => existsSync(join(world.folder, 'RAN')) };
}

const module = (world: World): string =>
  `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(join(world.folder, 'RAN'))}, '');\nexport default {};\n`;

const ENDINGS = ['ts', 'js', 'mjs'];

test.each([...STARTING, ...READING])(
  '%s passes over the configuration of a folder outside the project',
  async (...argv) => {
    for (const ending of ENDINGS) {
      const world = trap();
      world.write(`lossproof.config.${ending}`, module(world));
      const below = within(world);
      await below.run(...argv);
      expect(world.sprung(), ending).toBe(false);
      expect(world.err(), ending).toContain(`lossproof.config.${ending} was passed over`);
    }
  },
);

test.each(READING)('%s runs no configuration that it finds, also of the project', async (...argv) => {
  for (const ending of ENDINGS) {
    const world = trap();
    world.write(`lossproof.config.${ending}`, module(world));
    await world.run(...argv);
    expect(world.sprung(), ending).toBe(false);
    expect(world.err(), ending).toContain('this command runs no code that it finds');
  }
});

test.each(STARTING)('%s runs the configuration of the own project, and names it', async (...argv) => {
  const world = trap();
  world.write('lossproof.config.mjs', module(world));
  mkdirSync(join(world.folder, '.git'));
  await within(world).run(...argv);
  expect(world.sprung()).toBe(true);
  expect(world.err()).toContain('lossproof: running the configuration ../lossproof.config.mjs');
});

test('a configuration that was run in a command that starts trainers, or named, is read by the others, until it changes', async () => {
  const world = trap();
  world.write('lossproof.config.mjs', 'export default { monitor: { paths: ["log.jsonl"] } };');
  expect(await world.run('monitor')).toBe(2);
  expect(await world.run('monitor', '--config', 'lossproof.config.mjs')).not.toBe(2);
  expect(await world.run('monitor')).not.toBe(2);
  world.write('lossproof.config.mjs', module(world));
  expect(await world.run('monitor', 'log.jsonl')).toBe(2);
  expect(world.sprung()).toBe(false);
});

test('LOSSPROOF_TRUST names folders whose code runs', async () => {
  const world = trap({ env: { LOSSPROOF_TRUST: '.' } });
  world.write('lossproof.config.mjs', module(world));
  await world.run('monitor', 'log.jsonl');
  expect(world.sprung()).toBe(true);
});

test.runIf(isRoot).each([...STARTING, ...READING])(
  '%s does not run the configuration of another user',
  async (...argv) => {
    const world = trap();
    chownSync(world.write('lossproof.config.mjs', module(world)), SOMEBODY, SOMEBODY);
    await world.run(...argv);
    expect(world.sprung()).toBe(false);
    expect(world.err()).toContain(`it belongs to user ${SOMEBODY}`);
  },
);

test.runIf(isRoot)('another user cannot name a trainer in JSON, unless the file is named', async () => {
  const world = trap();
  world.write(
    'lossproof.config.json',
    JSON.stringify({ trainer: ['sh', '-c', 'touch RAN; exec python3 good.py'] }),
  );
  chownSync(join(world.folder, 'lossproof.config.json'), SOMEBODY, SOMEBODY);
  expect(await world.run('check')).toBe(2);
  expect(world.sprung()).toBe(false);
  expect(await world.run('check', '--config', 'lossproof.config.json')).toBe(0);
  expect(world.sprung()).toBe(true);
});

test.each([
  ['demo', 'count-as-position', '--cases', '1'],
  ['check', '--bundled', '--cases', '1'],
  ['doctor', '--bundled'],
])('%s %s runs neither ./.venv nor modules of the folder', async (...argv) => {
  const world = trap();
  environment(world);
  // `python -m` would import these in place of the standard library, and of ours.
  for (const name of ['json.py', 'lossproof.py', 'random.py', 'sitecustomize.py'])
    world.write(name, `open(${JSON.stringify(join(world.folder, 'RAN'))}, 'w')\n`);
  await world.run(...argv);
  expect(world.sprung()).toBe(false);
});

test.runIf(isRoot).each([
  ['discover', 'good.py'],
  ['check', '--adapter', 'trl-sft'],
  ['doctor', '--adapter', 'trl-dpo'],
])('%s %s does not run the ./.venv of another user', async (...argv) => {
  const world = trap();
  environment(world);
  chownSync(join(world.folder, '.venv'), SOMEBODY, SOMEBODY);
  expect(await world.run(...argv)).toBe(2);
  expect(world.sprung()).toBe(false);
  expect(world.err()).toContain(`it belongs to user ${SOMEBODY}`);
});

test.each([
  ['its id', (id: string) => id],
  ['the beginning of its id', (id: string) => id.slice(0, 3)],
  ['its file', (id: string) => join('.lossproof/cases', `${id}.json`)],
])('replay of a committed case by %s shows its command, and asks', async (_, name) => {
  const { world, id } = await committed();
  expect(await world.run('replay', name(id))).toBe(2);
  expect(world.err()).toContain('asks for this command to be run: sh -c');
  expect(world.sprung()).toBe(false);
});

test.each([
  'sh -c "touch RAN" lossproof.examples.left_padded',
  './good.py -m lossproof.examples.left_padded',
])('a command that ends as the bundled example does is no bundled example: %s', async (command) => {
  const { world, id } = await committed(command);
  expect(await world.run('replay', id)).toBe(2);
  expect(world.err()).toContain('asks for this command');
  expect(world.sprung()).toBe(false);
});

test.each([
  ['n', 2],
  ['', 2],
  ['y', 1],
])('at a terminal, the answer %o to the question ends with %i', async (answer, code) => {
  const { world, id } = await committed(undefined, [answer]);
  expect(await world.run('replay', id)).toBe(code);
  expect(world.sprung()).toBe(code === 1);
  expect(world.both()).toContain('Run it in this folder, now and later?');
});

test('--trust is remembered for the folder, outside of it, and for this command alone', async () => {
  const { world, id } = await committed();
  const before = readdirSync(world.folder, { recursive: true }).sort();
  expect(await world.run('replay', '--trust', id)).toBe(1);
  expect(readdirSync(world.folder, { recursive: true }).sort()).toEqual([...before, 'RAN'].sort());
  expect(await world.run('replay', id)).toBe(1);
  const other = await committed('sh -c "touch RAN; exec python3 bad.py"');
  expect(await other.world.run('replay', other.id)).toBe(2);
});

test('a command too long to be read is not confirmed', async () => {
  const { world, id } = await committed(`sh -c "touch RAN; ${' '.repeat(2_000)} exec python3 bad.py"`);
  expect(await world.run('replay', '--trust', id)).toBe(2);
  expect(world.sprung()).toBe(false);
});

// --- helpers ---

/** The same screen and state, one folder down, where the inputs are, too. */
function within(world: World): World {
  const cwd = join(world.folder, 'below');
  mkdirSync(join(cwd, 'traced'), { recursive: true });
  for (const name of ['log.jsonl', 'data.jsonl'])
    writeFileSync(join(cwd, name), readFileSync(join(world.folder, name)));
  const context = { ...world.context, cwd };
  return { ...world, folder: cwd, context, run: (...argv) => runProgram(argv, context) };
}

function environment(world: World): void {
  mkdirSync(join(world.folder, '.venv/bin'), { recursive: true });
  const python = world.write(
    '.venv/bin/python',
    `#!/bin/sh\ntouch ${JSON.stringify(join(world.folder, 'RAN'))}\n`,
  );
  chmodSync(python, 0o755);
}

/** A folder whose case somebody else has saved, with a command of theirs. */
async function committed(
  command = 'sh -c "touch RAN; exec python3 bad.py"',
  answers?: readonly string[],
): Promise<{ readonly world: Trap; readonly id: string }> {
  const world = trap(answers === undefined ? {} : { answers });
  world.write('bad.py', pythonCollate(WRONG));
  await world.run('check', '--only', 'collate', '--', 'python3', 'bad.py');
  const [file = ''] = readdirSync(join(world.folder, '.lossproof/cases')).filter((name) =>
    name.endsWith('.json'),
  );
  const path = join(world.folder, '.lossproof/cases', file);
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), command }));
  return { world, id: file.replace('.json', '') };
}
