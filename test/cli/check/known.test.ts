// Known failures and levels, through the command: exit codes, what is said, and what becomes of the file.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Property } from '../../../src/check/property.ts';
import { openTestRunner } from '../../../src/cli/test-runner/test-runner.ts';
import { DROPS_NOTHING, makeWorld, pythonCollate, WRONG } from '../world.ts';

const ADAPTER = ['--', 'python3', 'adapter.py'];
const UPDATE = ['check', '--known', 'known.json', '--update-known', '--seed', '7', ...ADAPTER];
const CHECK = ['check', '--known', 'known.json', '--seed', '7', ...ADAPTER];
/** The last id of every row is lost. */
const SHORTER = '[row[:-1] for row in rows]';

/** The same rule at the next level. */
const SHOULD: Property = { ...DROPS_NOTHING, id: 'mask/drops-nothing', level: 'should' };

/** As DROPS_NOTHING, and rows that became shorter are another kind of failure. */
const KINDS: Property = {
  ...DROPS_NOTHING,
  async check(subject, given) {
    const rows = given as readonly (readonly number[])[];
    const { input_ids } = await subject.ask('collate', { input_ids: rows, labels: rows, pad_token_id: 0 });
    for (const [row, ids] of rows.entries()) {
      if (ids.some((id, at) => id === 30 && input_ids[row]?.[at] === 31))
        return { kind: 'id', sentence: 'Id.' };
      if (ids.some((id, at) => id !== input_ids[row]?.[at])) return { kind: 'row', sentence: 'Row.' };
    }
    return undefined;
  },
};

const read = (folder: string): Record<string, Record<string, unknown>> =>
  JSON.parse(readFileSync(join(folder, 'known.json'), 'utf8'));

test('--update-known records new failures, asks for their reason, and forgets them when they hold', async () => {
  const world = makeWorld([KINDS]);
  world.write('adapter.py', pythonCollate(WRONG));
  expect(await world.run(...UPDATE)).toBe(0);
  expect(world.out()).toContain('added collate/drops-nothing: Id.\nknown.json now holds 1 known failure\n');
  expect(read(world.folder)).toEqual({
    'collate/drops-nothing': { reason: 'not explained yet', kind: 'id', given: expect.anything() },
  });
  expect(readdirSync(world.folder).filter((name) => name.startsWith('known'))).toEqual(['known.json']);

  expect(await world.run(...CHECK)).toBe(0);
  expect(world.out()).toContain('! no reason given');
  const entry = { reason: 'ticket 4', link: 'https://example.org', kind: 'id', given: [[30]] };
  world.write('known.json', JSON.stringify({ 'collate/drops-nothing': entry }));
  expect(await world.run(...UPDATE)).toBe(0);
  expect(world.out()).toContain('known.json says all of this already');

  world.write('adapter.py', pythonCollate(SHORTER));
  expect(await world.run(...CHECK)).toBe(1);
  expect(world.out()).toContain('Changed: it was recorded as "id" (ticket 4), and is "row" now.');
  expect(await world.run(...UPDATE)).toBe(0);
  expect(world.out()).toContain('the reason "ticket 4" is kept, see whether it still says why');
  expect(read(world.folder)).toEqual({ 'collate/drops-nothing': { ...entry, kind: 'row' } });

  world.write('adapter.py', pythonCollate());
  expect(await world.run(...UPDATE)).toBe(0);
  expect(world.out()).toContain('removed collate/drops-nothing: it holds now');
  expect(read(world.folder)).toEqual({});
});

test('--update-known leaves errors unrecorded and exits 1', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate('rows[99]'));
  expect(await world.run(...UPDATE)).toBe(1);
  expect(existsSync(join(world.folder, 'known.json'))).toBe(false);
});

test('--update-known without a file to write is a question back', async () => {
  const world = makeWorld();
  expect(await world.run('check', '--bundled', '--update-known')).toBe(2);
  expect(world.err()).toContain('--update-known needs --known <file>');
});

test('an interrupted run does not touch the file', async () => {
  const world = makeWorld();
  const before = '{"collate/drops-nothing": {"reason": "ticket 4"}}';
  world.write('known.json', before);
  world.write('adapter.py', pythonCollate('rows', 'import time; time.sleep(0.2)'));
  const words = ['check', '--known', 'known.json', '--update-known', '--cases', '20000', ...ADAPTER];
  const running = world.run(...words);
  const poll = setInterval(() => {
    if (!world.out().includes('checking tiny')) return;
    clearInterval(poll);
    world.interrupt();
  }, 5);
  expect(await running).toBe(130);
  expect(world.out()).toContain('known.json is left as it is');
  expect(readFileSync(join(world.folder, 'known.json'), 'utf8')).toBe(before);
});

test('an entry that no property is about fails; one that --only left out is said and passes', async () => {
  const world = makeWorld([DROPS_NOTHING, SHOULD]);
  world.write('adapter.py', pythonCollate());
  world.write('known.json', '{"collate/drops-nothin": {"reason": "ticket 4"}}');
  expect(await world.run(...CHECK)).toBe(1);
  expect(world.out()).toMatch(/no property is called so; did you mean\s+"collate\/drops-nothing"\?/);
  expect(world.out()).toContain('2 properties: 1 holds, 1 unseen');
  expect(await world.run(...UPDATE)).toBe(0);
  expect(read(world.folder)).toEqual({});

  world.write('known.json', '{"mask/drops-nothing": {"reason": "ticket 5"}}');
  expect(await world.run(...UPDATE)).toBe(0);
  expect(world.out()).toContain(
    'known failures that this run leaves out (--only, --level): mask/drops-nothing',
  );
  expect(read(world.folder)).toEqual({ 'mask/drops-nothing': { reason: 'ticket 5' } });
});

test('a `should` that fails is only met at its level, and then fails the run in every report', async () => {
  const world = makeWorld([{ ...DROPS_NOTHING, check: async () => undefined }, SHOULD]);
  world.write('adapter.py', pythonCollate(WRONG));
  expect(await world.run('check', ...ADAPTER)).toBe(0);
  expect(world.out()).toContain('1 property: 1 holds');
  expect(await world.run('check', '--level', 'should', '--junit', 'run.xml', ...ADAPTER)).toBe(1);
  expect(world.out()).toContain('✗ mask/drops-nothing  should');
  expect(readFileSync(join(world.folder, 'run.xml'), 'utf8')).toContain('tests="2" failures="1"');
  expect(await world.run('check', '--only', 'mask/drops-nothing', ...ADAPTER)).toBe(1);
});

test('a test runner takes the level, the known failures, and names strangers among them', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate(SHORTER));
  world.write(
    'lossproof.config.json',
    JSON.stringify({ trainer: 'python3 adapter.py', level: 'should', known: 'known.json', corpus: false }),
  );
  const other = { reason: 'ticket 4', kind: 'other', given: [[1]] };
  world.write(
    'known.json',
    JSON.stringify({ 'mask/drops-nothing': other, 'mask/x': { reason: 'ticket 5' } }),
  );
  const runner = await openTestRunner([DROPS_NOTHING, SHOULD], world.context);
  if ('problem' in runner) throw new Error(runner.problem);
  try {
    expect(runner.chosen.size).toBe(2);
    expect(runner.strangers).toEqual([expect.stringMatching(/^mask\/x: .*no property is called so/)]);
    const changed = await runner.check(SHOULD, 7, 20);
    expect(changed.verdict).toBe('changed');
    expect(await runner.explain(changed, 7)).toContain('recorded as "other" (ticket 4)');
    expect((await runner.check(DROPS_NOTHING, 7, 20)).verdict).toBe('fail');
  } finally {
    await runner.stop();
  }
});

test('a test runner knows before any test what there is to test, stage by stage', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate());
  world.write('lossproof.config.json', '{"trainer": "python3 adapter.py", "corpus": false}');
  const lacking: Property[] = ['kl/a', 'kl/b'].map((id) => ({ ...DROPS_NOTHING, id, ops: ['kl'] }));
  const own: Property = { ...DROPS_NOTHING, id: 'house/own', level: 'may' };
  const all = [DROPS_NOTHING, { ...SHOULD, id: 'collate/should' }, ...lacking];
  const stagesOf = async (more: object): Promise<unknown> => {
    const runner = await openTestRunner(all, { ...world.context, ...more });
    if ('problem' in runner) return runner.problem;
    await runner.stop();
    return runner.stages.map(({ stage, tests, unsupported }) => [
      stage,
      tests.map(({ id }) => id),
      unsupported?.count ?? 0,
    ]);
  };
  expect(await stagesOf({ own: [own] })).toEqual([
    ['collate', ['collate/drops-nothing'], 0],
    ['kl', [], 2],
    ['house', ['house/own'], 0],
  ]);
  expect(await stagesOf({ only: 'collate', level: 'should' })).toEqual([
    ['collate', ['collate/drops-nothing', 'collate/should'], 0],
  ]);
  expect(await stagesOf({ only: ['collate/should'] })).toEqual([['collate', ['collate/should'], 0]]);
  // What is listed as known is watched, also where it can no longer be judged.
  expect(await stagesOf({ known: { 'kl/b': { reason: 'ticket 4' } } })).toContainEqual(['kl', ['kl/b'], 1]);
  expect(await stagesOf({ only: 'kk' })).toContain('no property is called "kk"');
  expect(await stagesOf({ known: 'nowhere.json' })).toContain('nowhere.json');
});

test('--labels prints what the cases were about beside what they must be', async () => {
  const counted: Property = { ...DROPS_NOTHING, labels: () => ['seen'], coverage: { seen: 0.5, never: 0.2 } };
  const world = makeWorld([counted]);
  world.write('adapter.py', pythonCollate());
  expect(await world.run('check', '--labels', '--junit', 'run.xml', ...ADAPTER)).toBe(1);
  expect(world.out()).toContain('    seen    100 %  at least 50 %\n    never     0 %  at least 20 %\n');
  expect(world.out()).toContain('1 property: 1 thin');
  expect(readFileSync(join(world.folder, 'run.xml'), 'utf8')).toContain('<failure message="thin: only 0 %');
  expect(await world.run('check', '--quiet', ...ADAPTER)).toBe(1);
  expect(world.out().split('% thin')).toHaveLength(3);
});
