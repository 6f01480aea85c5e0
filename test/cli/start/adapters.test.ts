// doctor, list, init and demo: the commands that help to write an adapter, with the real properties.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { makeWorld, pythonCollate } from '../world.ts';

test('init writes an adapter that runs at once, and never writes over a file', async () => {
  const world = makeWorld(properties);
  expect(await world.run('init')).toBe(0);
  expect(world.out()).toContain('Next:\n  npx lossproof doctor\n  npx lossproof check\n');
  expect(await world.run('doctor')).toBe(0);
  expect(world.out()).toMatch(/✓ mask +answers\n✓ kl +answers\n/);
  expect(await world.run('check', '--cases', '50')).toBe(0);
  expect(world.out()).toMatch(/\d+ of \d+ properties apply: \d+ hold/);

  const before = readFileSync(join(world.folder, 'adapter.py'), 'utf8');
  expect(before.split('\n').length).toBeLessThan(36);
  world.write('adapter.py', '# mine');
  expect(await world.run('init')).toBe(2);
  expect(world.err()).toContain(
    '\nlossproof: adapter.py and lossproof.config.json are already here; --force writes over\n',
  );
  expect(readFileSync(join(world.folder, 'adapter.py'), 'utf8')).toBe('# mine');
  expect(await world.run('init', '--force')).toBe(0);
  expect(readFileSync(join(world.folder, 'adapter.py'), 'utf8')).toBe(before);
});

test.each([
  ['raises', 'rows[99]', 'IndexError'],
  ['answers in the wrong shape', 'rows + [[1]]', 'input_ids'],
  ['dies', 'sys.exit(3)', '3'],
  ['prints to stdout', '(print("hi") or rows)', 'hi'],
])('doctor explains an op that %s, and exits 1', async (_, expression, word) => {
  const world = makeWorld(properties);
  world.write('adapter.py', pythonCollate(expression));
  expect(await world.run('doctor', '--', 'python3', 'adapter.py')).toBe(1);
  expect(world.out()).toContain('✗ collate');
  expect(world.out()).toContain(word);
  expect(world.out()).toContain('1 op declared, 1 tried, 1 with a complaint.');
});

const maskAdapter = (start: string, serve: string, op = ''): string => `
import lossproof
@lossproof.op${op}
def mask(sequences, attention_mask, prompt_width, eos_token_ids):
    rows = []
    for ids, real in zip(sequences, attention_mask):
        start, ended, row = ${start}, False, []
        for t, i in enumerate(ids):
            row.append(int(t >= start and not ended))
            ended = ended or (t >= start and i in eos_token_ids)
        rows.append(row)
    return {"completion_mask": rows}
lossproof.serve(name="a", ${serve})
`;
const PREDICTOR = 'layout={"alignment": "predictor", "span": "row"}';

test.each([
  ['a right mask', 'prompt_width'],
  ['one that is wrong as well', 'sum(real[:prompt_width])'],
])('doctor says that %s is in another layout than the declared one', async (_, start) => {
  const world = makeWorld(properties);
  world.write('adapter.py', maskAdapter(start, PREDICTOR));
  await world.run('doctor', '--', 'python3', 'adapter.py');
  const said = world.out().replaceAll(/\s+/g, ' ');
  expect(said).toMatch(/answers, but its ones stand one column late in \d+ of \d+ rows\./);
  expect(said).toContain('@lossproof.op(layout={"alignment": "token", "span": "row"}) for this op');
});

test('a complaint of doctor stands below its op, and all of it in one column', async () => {
  const world = makeWorld(properties, { columns: 80 });
  const bad =
    'import lossproof\n\n@lossproof.op\ndef kl(logprobs, ref_logprobs):\n    REST\n\nlossproof.serve(name="a")\n';
  for (const rest of ['return {"kl": [[0.5]]}', `raise ValueError("${'a long reason '.repeat(12)}")`]) {
    world.write('adapter.py', bad.replace('REST', rest));
    expect(await world.run('doctor', '--', 'python3', 'adapter.py')).toBe(1);
    const [, below = ''] = world.out().split(/^✗ kl\n/m);
    const lines = (below.split(/^\n?1 op declared/m)[0] ?? '').split('\n').filter((line) => line !== '');
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.filter((line) => !/^ {4}\S/.test(line) || line.length > 80)).toEqual([]);
  }
});

test('doctor says so the other way round, and says nothing of layouts where the declared one fits', async () => {
  const world = makeWorld(properties);
  world.write('adapter.py', maskAdapter('prompt_width - 1', ''));
  await world.run('doctor', '--', 'python3', 'adapter.py');
  expect(world.out().replaceAll(/\s+/g, ' ')).toContain('one column early');
  const other = makeWorld(properties);
  for (const [start, serve, op] of [
    ['prompt_width', '', ''],
    ['sum(real[:prompt_width])', '', ''],
    ['prompt_width', PREDICTOR, '(layout={"alignment": "token", "span": "row"})'],
  ] as const) {
    other.write('adapter.py', maskAdapter(start, serve, op));
    await other.run('doctor', '--', 'python3', 'adapter.py');
  }
  expect(other.out()).toContain('of mask: token-aligned, over the row');
  expect(other.out()).not.toContain('one column');
});

const BY_ID = `
import lossproof
@lossproof.op
def collate(input_ids, labels, pad_token_id):
    width = max(map(len, input_ids))
    ids = [row + [pad_token_id] * (width - len(row)) for row in input_ids]
    kept = [row + [-100] * (width - len(row)) for row in labels]
    kept = [[-100 if i == pad_token_id else l for i, l in zip(*pair)] for pair in zip(ids, kept)]
    return {"input_ids": ids, "labels": kept, "attention_mask": [[int(i != pad_token_id) for i in row] for row in ids]}
lossproof.serve(name="a")
`;

test.each([
  [
    'one stop id of several was looked at',
    'mask/padding-is-never-trained',
    maskAdapter('prompt_width', '').replace('i in eos_token_ids', 'i == eos_token_ids[0]'),
    'A trainer whose generation stops at one id only declares that',
  ],
  ['padding is known by its id', 'collate/labels-stay-with-their-tokens', BY_ID, 'Its id is that of padding'],
])('a failure says where %s', async (_, id, adapter, note) => {
  const world = makeWorld(properties.filter((property) => property.id === id));
  world.write('adapter.py', adapter);
  expect(await world.run('check', '--no-corpus', '--', 'python3', 'adapter.py')).toBe(1);
  expect(world.out().replaceAll(/\s+/g, ' ')).toContain(note);
});

test('doctor says what each op and capability that is not there would bring, most first', async () => {
  const world = makeWorld(properties);
  world.write('adapter.py', LOSS);
  expect(await world.run('doctor', '--', 'python3', 'adapter.py')).toBe(0);
  const [, ops = '', capabilities = ''] =
    /Ops you could add .*?:\n(.*?)Capabilities .*?:\n(.*)$/s.exec(world.out()) ?? [];
  const counts = [...ops.matchAll(/^ {2}(\w+) +(\d+) bugs, /gm)].map(([, op, bugs]) => [op, Number(bugs)]);
  expect(counts.map(([op]) => op)).toContain('tokenize');
  expect(counts.map(([op]) => op)).not.toContain('loss');
  expect(counts).toEqual(counts.toSorted((a, b) => Number(b[1]) - Number(a[1])));
  expect(ops).toMatch(/^ {2}Less: /m);
  expect(capabilities).toMatch(/^ {2}loss\(micro_batches\) +\d+ bugs, \d+ propert/m);
  expect(capabilities).toContain('loss(ranks)');
});

test('doctor names the capabilities of an op that refuses everything, and none where it has none', async () => {
  const refusing = (op: string): string =>
    `import lossproof\n@lossproof.op\ndef ${op}():\n    raise lossproof.Reject("no")\nlossproof.serve(name="a")\n`;
  for (const [op, said] of [
    ['clip_advantages', 'The op has no capability that would narrow what is sent.'],
    ['mask', '(of its capabilities: layout, after_stop, eos_token_ids, unfinished)'],
  ] as const) {
    const world = makeWorld(properties);
    world.write('adapter.py', refusing(op));
    expect(await world.run('doctor', '--', 'python3', 'adapter.py')).toBe(1);
    expect(world.out().replaceAll(/\s+/g, ' ')).toContain(said);
  }
});

const LOSS = `
import lossproof
@lossproof.op
def loss(logprobs, advantages):
    return {"loss": 0.0}
lossproof.serve(name="a")
`;

test('doctor of a program that is not there exits 2', async () => {
  const world = makeWorld(properties);
  expect(await world.run('doctor', '--', 'no-such-python', 'adapter.py')).toBe(2);
  expect(world.err()).toContain('no-such-python adapter.py did not start');
});

test('list shows every property, and with a trainer which it can be checked for', async () => {
  const world = makeWorld(properties);
  expect(await world.run('list')).toBe(0);
  for (const { id } of properties) expect(world.out()).toContain(id);
  world.write('adapter.py', pythonCollate());
  expect(await world.run('list', '--', 'python3', 'adapter.py')).toBe(0);
  expect(world.out()).toContain('✓ collate/rows-survive');
  expect(world.out()).toContain('unsupported: the adapter has no op `mask`');
  expect(world.out()).toMatch(/tiny can be checked for \d+ of \d+ properties/);
});

test('demo catches the trainer that it is named, tells its story, and says how to see it again', async () => {
  const world = makeWorld(properties);
  expect(await world.run('demo', 'count-as-position', '--seed', '5')).toBe(0);
  expect(world.out()).toContain('Three real tokens, so the completion starts at column three');
  expect(world.out()).toContain('Reproduce   npx lossproof demo count-as-position --seed 5');
  expect(world.out()).toContain('✓ caught by extract/');
  expect(world.out()).toContain('1 of 1 caught · seed 5');
});

test('demo exits 1 where nothing catches the trainer', async () => {
  const world = makeWorld(properties.filter(({ stage }) => stage === 'kl'));
  expect(await world.run('demo', 'count-as-position', '--cases', '5')).toBe(1);
  expect(world.out()).toContain('not caught');
});

test('demo of an unknown name, or by a Python that is none, is one line', async () => {
  const world = makeWorld(properties);
  expect(await world.run('demo', 'count-as-positon')).toBe(2);
  expect(await world.run('demo', '--python', 'no-such-python')).toBe(2);
  expect(world.err().trimEnd().split('\n')).toEqual([
    'lossproof: no bundled trainer is called "count-as-positon", did you mean "count-as-position"?',
    'lossproof: no-such-python cannot list the bundled trainers (ENOENT); --python names another',
  ]);
});
