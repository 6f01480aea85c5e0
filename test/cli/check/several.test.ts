// Commands that need one trainer, in the folder of a configuration that has several.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openTestRunner } from '../../../src/cli/test-runner/test-runner.ts';
import { DROPS_NOTHING, makeWorld, pythonCollate, type World, WRONG } from '../world.ts';

/** `good` and `bad`, which is bad at 30 only. */
function worldOfTwo(more: object = {}): World {
  const world = makeWorld([DROPS_NOTHING]);
  world.write('good.py', pythonCollate());
  world.write('bad.py', pythonCollate(WRONG));
  const trainers = { good: { trainer: 'python3 good.py' }, bad: { trainer: 'python3 bad.py' } };
  world.write('lossproof.config.json', JSON.stringify({ trainers, level: 'may', ...more }));
  return world;
}

test.each([['check'], ['doctor'], ['profile'], ['golden', 'record'], ['golden', 'check']])(
  '%s %s names them where none is meant',
  async (...argv) => {
    const world = worldOfTwo();
    expect(await world.run(...argv)).toBe(2);
    const [line = '', ...others] = world.err().trimEnd().split('\n');
    expect(others).toEqual([]);
    expect(line).toContain('lossproof.config.json has several trainers');
    expect(line).toContain('"good", "bad"');
    expect(line.includes('--all checks them all')).toBe(argv[0] === 'check');
    expect(line).toContain('--trainer NAME');
    expect(existsSync(join(world.folder, '.lossproof'))).toBe(false);
  },
);

test.each([
  [['--trainer', 'gud'], 'the configuration has no trainer "gud", did you mean "good"?'],
  [['--trainer', 'x*'], 'the configuration has no trainer "x*", there are "good", "bad"'],
  [
    ['--trainer', 'good', '--bundled'],
    "--trainer names one of the configuration's; leave it out, or do not say --bundled",
  ],
  [
    ['--trainer', 'good', '--', 'python3', 'x.py'],
    "--trainer names one of the configuration's; leave it out, or type no command after --",
  ],
  [
    ['--trainer', 'good', '--adapter', 'trl-sft'],
    "--trainer names one of the configuration's; leave it out, or name no --adapter",
  ],
])('%j is refused', async (argv, says) => {
  for (const command of ['check', 'doctor']) {
    const world = worldOfTwo();
    expect(await world.run(command, ...argv)).toBe(2);
    expect(world.err()).toBe(`lossproof: ${says}\n`);
  }
});

test('--trainer without several is said', async () => {
  const world = makeWorld();
  expect(await world.run('doctor', '--trainer', 'good')).toBe(2);
  expect(world.err()).toBe(
    "lossproof: --trainer names one of the configuration's trainers, and there is none\n",
  );
  const file = world.write('lossproof.config.json', '{"trainer": "python3 a.py"}');
  expect(await world.run('doctor', '--trainer', 'good')).toBe(2);
  expect(world.err()).toContain(`and ${file} has no \`trainers\` and no \`matrix\``);
});

test('what is wrong with a matrix is said of the file, and nothing starts', async () => {
  const world = worldOfTwo({ matrix: { side: ['left'] } });
  expect(await world.run('check', '--all')).toBe(2);
  expect(world.err()).toMatch(/lossproof\.config\.json: matrix\.side is used nowhere: write \{side\}/);
});

test('doctor takes the one that is named, list shows the properties where none is', async () => {
  const world = worldOfTwo();
  expect(await world.run('doctor', '--trainer', 'b*')).toBe(0);
  expect(world.out()).toContain('tiny');
  const other = worldOfTwo();
  expect(await other.run('list')).toBe(0);
  expect(other.out()).toContain('collate/drops-nothing');
  expect(other.out()).not.toContain('can be checked for');
  expect(await other.run('list', '--trainer', 'good')).toBe(0);
  expect(other.out()).toContain('tiny can be checked for 1 of');
  expect(await other.run('list', '--trainer', 'gut')).toBe(2);
});

test('a typed trainer is the one that is meant, with what all share', async () => {
  const world = worldOfTwo();
  expect(await world.run('check', '--cases', '5', '--', 'python3', 'good.py')).toBe(0);
  expect(existsSync(join(world.folder, '.lossproof', 'last-run.ndjson'))).toBe(true);
});

test('a case of one trainer is saved, and replayed, as its own', async () => {
  const world = worldOfTwo();
  expect(await world.run('check', '--trainer', 'bad', '--seed', '1')).toBe(1);
  const folder = join(world.folder, '.lossproof', 'cases');
  const id =
    readdirSync(join(folder, 'bad'))
      .find((name) => name.endsWith('.json'))
      ?.slice(0, -5) ?? '';
  expect(world.out()).toContain(`npx lossproof replay --trainer bad ${id}`);
  // The other one holds it, and does not forget it.
  expect(await world.run('check', '--trainer', 'good', '--seed', '1')).toBe(0);
  expect(existsSync(join(folder, 'bad', `${id}.json`))).toBe(true);
  expect(await world.run('replay', id)).toBe(1);
  expect(await world.run('replay', '--trainer', 'bad', id)).toBe(1);
  expect(world.out()).toContain(`.lossproof/cases/bad/${id}.ndjson`);
  expect(await world.run('replay', '--trainer', 'good', id)).toBe(0);
  expect(await world.run('replay', id, '--', 'python3', 'good.py')).toBe(0);
});

test('a case from before there were several is replayed by its command', async () => {
  const world = worldOfTwo();
  expect(await world.run('check', '--seed', '1', '--', 'python3', 'bad.py')).toBe(1);
  const [file = ''] = readdirSync(join(world.folder, '.lossproof', 'cases')).filter((name) =>
    name.endsWith('.json'),
  );
  expect(await world.run('replay', file.slice(0, -5))).toBe(1);
});

test('a test runner opens the one that is named', async () => {
  const world = worldOfTwo();
  const options = { cwd: world.folder, env: {} };
  const nobody = await openTestRunner([DROPS_NOTHING], options);
  expect(nobody).toMatchObject({ problem: expect.stringContaining('--trainer NAME') });
  const verdicts = [];
  for (const trainer of ['good', 'bad']) {
    const runner = await openTestRunner([DROPS_NOTHING], { ...options, trainer });
    if ('problem' in runner) expect.fail(runner.problem);
    verdicts.push((await runner.check(DROPS_NOTHING, 1)).verdict);
    await runner.stop();
  }
  expect(verdicts).toEqual(['pass', 'fail']);
});
