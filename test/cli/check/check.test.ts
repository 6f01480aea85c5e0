import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { STARTER } from '../../../src/cli/start/starter.ts';
import { makeWorld, pythonCollate, WRONG } from '../world.ts';

const PLAIN_TRAINER = `
const pad = (rows, value) => rows.map((row) => [...row, ...Array(Math.max(...rows.map((r) => r.length)) - row.length).fill(value)]);
export const trainer = (change = (ids) => ids) => ({
  hello: { protocol: 1, name: 'object', ops: { collate: {} } },
  ops: {
    collate: ({ input_ids, labels }) => ({
      input_ids: pad(change(input_ids), 0),
      attention_mask: pad(input_ids.map((row) => row.map(() => 1)), 0),
      labels: pad(labels, -100),
    }),
  },
});
`;

test('a trainer that holds exits 0, and the seed is printed first', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate());
  expect(await world.run('check', '--seed', '7', '--', 'python3', 'adapter.py')).toBe(0);
  expect(world.out().split('\n')[0]).toMatch(/^lossproof \d+\.\d+\.\d+ · seed 7$/);
  expect(world.out()).toContain('1 property: 1 holds · seed 7');
  expect(world.err()).toBe('');
});

test('a failure exits 1, is saved, is replayed, and heals', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate(WRONG));
  const command = ['--', 'python3', 'adapter.py'];
  expect(await world.run('check', '--seed', '7', ...command)).toBe(1);
  expect(world.out()).toContain('In row 0 the ids are others.');
  expect(world.out()).toContain('Case   [[');
  const id = /replay (\w+)/.exec(world.out())?.[1] ?? '';
  expect(readdirSync(join(world.folder, '.lossproof/cases')).sort()).toEqual([`${id}.json`, `${id}.ndjson`]);

  expect(await world.run('replay', id)).toBe(1);
  expect(world.out()).toContain(`✗ still fails  ${id}`);
  expect(world.out()).toContain(`python3 adapter.py < .lossproof/cases/${id}.ndjson`);
  world.write('adapter.py', pythonCollate());
  expect(await world.run('replay', `.lossproof/cases/${id}.json`)).toBe(0);
  expect(world.out()).toContain(`+ fixed  ${id}`);
  expect(await world.run('check', ...command)).toBe(0);
  expect(world.out()).toContain(`+ fixed ${id}`);
  expect(readdirSync(join(world.folder, '.lossproof/cases'))).toEqual([]);
});

test('LOSSPROOF_SEED chooses the cases where --seed does not', async () => {
  const command = ['--', 'python3', 'adapter.py'];
  const world = makeWorld(undefined, { env: { LOSSPROOF_SEED: '41' } });
  world.write('adapter.py', pythonCollate());
  expect(await world.run('check', ...command)).toBe(0);
  expect(await world.run('check', '--seed', '7', ...command)).toBe(0);
  expect(world.out().match(/^lossproof .* seed \d+$/gm)).toEqual([
    expect.stringContaining('seed 41'),
    expect.stringContaining('seed 7'),
  ]);
});

test.each([
  ['check', ['--', 'python3', 'adapter.py']],
  ['demo', ['count-as-position']],
])('%s does not run where LOSSPROOF_SEED is none', async (name, words) => {
  const world = makeWorld(undefined, { env: { LOSSPROOF_SEED: '4l' } });
  world.write('adapter.py', pythonCollate());
  expect(await world.run(name, ...words)).toBe(2);
  expect(world.both()).toBe(
    'lossproof: LOSSPROOF_SEED is "4l"; it must be a whole number from 0 to 2147483647.\n',
  );
});

test('--no-corpus keeps no case, and the run all the same', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate(WRONG));
  expect(await world.run('check', '--no-corpus', '--seed', '7', '--', 'python3', 'adapter.py')).toBe(1);
  expect(readdirSync(join(world.folder, '.lossproof')).sort()).toEqual(['.gitignore', 'last-run.ndjson']);
  expect(await world.run('report')).toBe(0);
  expect(world.out()).toContain('tiny · 1 property: 1 fails · seed 7');
  expect(await world.run('check', '--help-all')).toBe(0);
  expect(world.out().replaceAll(/\s+/g, ' ')).toContain('the last run is saved as always');
});

const SHOULD_ONLY = ['check', '--seed', '7', '--rows', '--only'];

test.each([
  ['a stage is held to must', ['collate,mask'], 'collate/drops-nothing', 'mask/adds-nothing'],
  ['a glob is held to must', ['*/*-nothing'], 'collate/drops-nothing', 'mask/adds-nothing'],
])('%s, and the end says what was not run', async (_, names, run, left) => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate());
  expect(await world.run(...SHOULD_ONLY, ...names, '--', 'python3', 'adapter.py')).toBe(0);
  expect(world.out()).toContain(run);
  expect(world.out()).not.toContain(left);
  expect(world.out()).toMatch(/ · 1 should property not run: --level should\n$/);
});

test('a property that is named by its whole id is run whatever its level is, unless a level is typed', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate());
  world.write('lossproof.config.json', '{"trainer": "python3 adapter.py", "level": "must"}');
  expect(await world.run(...SHOULD_ONLY, 'mask/adds-nothing')).toBe(0);
  expect(world.out()).toContain('mask/adds-nothing  should');
  expect(world.out()).not.toContain('not run');
  expect(await world.run(...SHOULD_ONLY, 'mask/adds-nothing', '--level', 'must')).toBe(2);
  expect(world.err()).toContain('no property of mask/adds-nothing is of level must; --level should has some');
});

test('only what was measured of what was chosen is told', async () => {
  const world = makeWorld(properties);
  const measured = async (...words: readonly string[]): Promise<string> => {
    world.write('starter.py', STARTER['adapter.py'].replace(', semantics={"kl_estimator": "k3"}', ''));
    const before = world.out().length;
    await world.run('check', '--cases', '3', '--seed', '7', ...words, '--', 'python3', 'starter.py');
    return world.out().slice(before);
  };
  const masks = await measured('--only', 'mask');
  expect(masks).toContain('measured, not declared: stop_token_in_mask true');
  expect(masks).not.toContain('kl_');
  const kls = await measured('--only', 'kl');
  expect(kls).toContain('measured, not declared: kl_estimator k3');
  expect(kls).not.toContain('stop_token_in_mask');
});

test('a case that the trainer cannot be asked for is no longer valid', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate(WRONG));
  await world.run('check', '--', 'python3', 'adapter.py');
  const id = /replay (\w+)/.exec(world.out())?.[1] ?? '';
  world.write('adapter.py', pythonCollate().replace('"collate"', '"mask"'));
  expect(await world.run('replay', id)).toBe(2);
  expect(world.out()).toContain(`! no longer valid  ${id}`);
});

test('a trainer that dies at import exits 2 with its last words', async () => {
  const world = makeWorld();
  world.write('adapter.py', 'raise RuntimeError("no weights here")');
  expect(await world.run('check', '--', 'python3', 'adapter.py')).toBe(2);
  expect(world.err()).toContain('lossproof: python3 adapter.py did not start');
  expect(world.err()).toContain('RuntimeError: no weights here');
});

test('a trainer that can be checked for nothing exits 2, not 0', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate().replace('"collate"', '"kl"'));
  expect(await world.run('check', '--', 'python3', 'adapter.py')).toBe(2);
  expect(world.out()).toContain('0 of 1 property applies');
  expect(world.err()).toContain('nothing was checked');
});

test('an object in the configuration is a trainer', async () => {
  const world = makeWorld();
  world.write('trainer.mjs', PLAIN_TRAINER);
  world.write(
    'lossproof.config.mjs',
    "import { trainer } from './trainer.mjs'; export default { trainer: trainer(), level: 'may' };",
  );
  expect(await world.run('check')).toBe(0);
  expect(world.out()).toContain('checking object · 2 properties');
});

test('a trainer object without the op that it declares is one sentence and exit 2', async () => {
  const world = makeWorld();
  world.write(
    'lossproof.config.mjs',
    "export default { trainer: { hello: { protocol: 1, name: 'x', ops: { collate: {} } }, ops: {} } };",
  );
  expect(await world.run('check')).toBe(2);
  expect(world.err()).toContain('hello.ops names collate, but ops has no function collate');
});

test('the first Ctrl-C finishes, reports and exits 130; before hello it leaves at once', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate('rows', 'import time; time.sleep(0.2)'));
  const running = world.run('check', '--cases', '20000', '--seed', '9', '--', 'python3', 'adapter.py');
  const poll = setInterval(() => {
    if (!world.out().includes('checking tiny')) return;
    clearInterval(poll);
    world.interrupt();
  }, 5);
  expect(await running).toBe(130);
  expect(world.err()).toContain('finishing the case in hand');
  expect(world.out()).toContain('interrupted · 1 property: 1 interrupted · seed 9');
  expect(world.exits).toEqual([]);

  const early = world.run('check', '--', 'python3', 'adapter.py');
  await world.listening();
  world.interrupt();
  await early;
  expect(world.exits).toEqual([130]);
});

test('a second Ctrl-C leaves at once', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate());
  const running = world.run('check', '--cases', '20000', '--', 'python3', 'adapter.py');
  const poll = setInterval(() => {
    if (!world.out().includes('checking tiny')) return;
    clearInterval(poll);
    world.interrupt();
    world.interrupt();
  }, 5);
  await running;
  expect(world.exits).toEqual([130]);
});

test('known failures pass with their reason, and a stale one fails', async () => {
  const world = makeWorld();
  world.write('known.json', '{"collate/drops-nothing": {"reason": "upstream issue 4"}}');
  world.write('adapter.py', pythonCollate(WRONG));
  const words = ['check', '--known', 'known.json', '--', 'python3', 'adapter.py'];
  expect(await world.run(...words)).toBe(0);
  expect(world.out()).toContain('upstream issue 4');
  world.write('adapter.py', pythonCollate());
  expect(await world.run(...words)).toBe(1);
  expect(world.out()).toContain('1 stale');
});

test('events and JUnit are written', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate());
  const files = ['--events', 'run.ndjson', '--junit', 'run.xml'];
  expect(await world.run('check', ...files, '--', 'python3', 'adapter.py')).toBe(0);
  const types = readFileSync(join(world.folder, 'run.ndjson'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { type: string }).type)
    // Of a slow machine.
    .filter((type) => type !== 'progress');
  expect(types).toEqual(['run-start', 'property-start', 'property-end', 'run-end']);
  expect(readFileSync(join(world.folder, 'run.xml'), 'utf8')).toContain('tests="1" failures="0"');
});
