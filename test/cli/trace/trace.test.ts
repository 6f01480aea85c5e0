// `trace` as it is typed: whole screens, exit codes, what is left behind. The script needs no torch: it writes the records
// that the tracer would write. That the tracer does is tested on real trainers, in test/torch/trace.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { readEvents } from '../../../src/report/machine/ndjson.ts';
import { widthOf } from '../../../src/report/text/visible.ts';
import { normal, remaining, shownCodes } from '../check/screen.ts';
import { makeWorld, type World, type WorldOptions } from '../world.ts';
import { writeScript } from './traced-script.ts';

function tracedWorld(options: WorldOptions = {}): World {
  const world = makeWorld(properties, options);
  writeScript(world);
  return world;
}

const SCRIPT = ['--', 'python3', 'train.py'];

/** `lossproof trace ...words -- python3 train.py MODE` and what stands on the screen then. */
async function shown(
  mode: string,
  words: readonly string[] = [],
  options: WorldOptions = {},
): Promise<string> {
  const world = tracedWorld(options);
  const argv = ['trace', ...words, ...SCRIPT, mode];
  const code = await world.run(...argv);
  const columns = options.isTty ? (options.columns ?? 100) : Number.POSITIVE_INFINITY;
  const text = remaining(undated(normal(world.both(), world.folder)), columns);
  return shownCodes(`$ npx lossproof ${argv.join(' ')}\n${text}exit code ${code}\n`);
}

/** Folders are named by their time, and the property's own time stands in the final line. */
const undated = (text: string): string => text.replaceAll(/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d/g, 'WHEN');

function eventsIn(file: string): ReturnType<typeof readEvents>['events'] {
  return readEvents(readFileSync(file, 'utf8')).events;
}

/** The screens stay as they are where a property is added. */
const THREE = [
  '--only',
  'mask/padding-is-never-trained,tokenize/stop-token-is-trained,trace/target-is-the-next-token',
];

describe('the screen', () => {
  test.each([
    ['all hold', 'right', 'all-hold'],
    ['a stop token is not trained', 'stop', 'fails'],
    ['there is no torch', 'no-torch', 'nothing-seen'],
    ['the model cannot be seen', 'compiled', 'compiled'],
    ['the script fails before its first step', 'early', 'script-failed'],
    ['the script fails behind its first step', 'late', 'script-failed-late'],
  ])('where %s', async (_, mode, name) => {
    await expect(await shown(mode, THREE)).toMatchFileSnapshot(`screens/${name}.txt`);
  });

  test('is as narrow as a narrow terminal', async () => {
    const text = await shown('stop', [], { isTty: true, columns: 44, env: { NO_COLOR: '1' } });
    for (const line of text.split('\n').slice(1)) expect(widthOf(line)).toBeLessThanOrEqual(44);
  });

  test('has failures, notices and the final line only, where --quiet is typed', async () => {
    expect(await shown('right', ['--quiet'])).toMatch(
      /^\$ .*\n\nOrdinary, and worth knowing:\n {2}Steps 0 and 1 train the same 2 rows\.[^✓]*\n\d+ properties: [^\n]*\nexit code 0\n$/,
    );
    expect(await shown('no-torch', ['--quiet'])).toContain('! No process of the command imported torch');
  });

  test('leaves the script its stdout', async () => {
    const world = tracedWorld();
    await world.run('trace', ...SCRIPT, 'stop');
    expect(world.out()).toBe('');
    expect(world.err()).toContain('✗ tokenize/stop-token-is-trained');
  });
});

describe('what is left behind', () => {
  test('is a trace that git does not see, and that is judged again with the same verdicts', async () => {
    const world = tracedWorld();
    expect(await world.run('trace', ...SCRIPT, 'stop')).toBe(1);
    const folder = join(world.folder, '.lossproof', 'trace');
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('*\n');
    const last = join(world.folder, '.lossproof', 'last-run.ndjson');
    const before = eventsIn(last).flatMap((event) =>
      event.type === 'property-end' ? [event.result.verdict] : [],
    );
    const [name = ''] = readdirSync(folder).filter((each) => each !== '.gitignore');
    rmSync(last);
    // A folder of traces stands for its last one.
    expect(await world.run('trace', '--from', '.lossproof/trace')).toBe(1);
    const after = eventsIn(last).flatMap((event) =>
      event.type === 'property-end' ? [event.result.verdict] : [],
    );
    expect(after).toEqual(before);
    expect(world.out()).toContain(`--from .lossproof/trace/${name}`);
  });

  test('are the outputs that were asked for, and they draw no seed', async () => {
    const world = tracedWorld();
    const words = [
      '--html',
      'page.html',
      '--junit',
      'junit.xml',
      '--events',
      'run.ndjson',
      '--markdown',
      'it.md',
    ];
    expect(await world.run('trace', ...words, ...SCRIPT, 'stop')).toBe(1);
    const read = (name: string): string => readFileSync(join(world.folder, name), 'utf8');
    expect(read('page.html')).toContain('What was trained');
    expect(read('page.html')).not.toContain('by seed');
    expect(read('junit.xml')).toContain('tokenize/stop-token-is-trained');
    expect(read('junit.xml')).not.toContain('name="seed"');
    expect(read('it.md')).toContain('lossproof trace --from');
    const [start] = eventsIn(join(world.folder, 'run.ndjson'));
    expect(start).toMatchObject({
      type: 'run-start',
      command: 'python3 train.py stop',
      replay: { traced: true },
    });
  });

  test('is where --out names it, and never in a folder that holds something', async () => {
    const world = tracedWorld();
    expect(await world.run('trace', '--out', 'here', ...SCRIPT, 'right')).toBe(0);
    expect(readdirSync(join(world.folder, 'here'))).toContain('0-4711.ndjson');
    expect(await world.run('trace', '--out', 'here', ...SCRIPT, 'right')).toBe(2);
    expect(world.err()).toContain('here is there already; name a folder that is new or empty');
  });
});

describe('the verdict', () => {
  test('is of the properties that are named', async () => {
    const world = tracedWorld();
    expect(await world.run('trace', '--only', 'collate', ...SCRIPT, 'stop')).toBe(0);
    expect(await world.run('trace', '--only', 'rollout', '--from', '.lossproof/trace')).toBe(2);
    expect(world.out()).toContain('No verdict: no property could judge what was seen.');
  });

  test('knows the failures that are lived with, and those that are gone', async () => {
    const world = tracedWorld();
    world.write('known.json', '{"tokenize/stop-token-is-trained": {"reason": "ticket 4"}}');
    expect(await world.run('trace', '--known', 'known.json', ...SCRIPT, 'stop')).toBe(0);
    expect(world.err()).toContain('1 known');
    expect(await world.run('trace', '--known', 'known.json', ...SCRIPT, 'right')).toBe(1);
    expect(world.err()).toContain('1 stale');
  });

  test('is of a trace whose process was killed while it wrote', async () => {
    const world = tracedWorld();
    expect(await world.run('trace', '--out', 'here', ...SCRIPT, 'killed')).toBe(2);
    expect(world.err()).toContain('is cut off in its last line');
    expect(world.err()).toContain('The script failed by itself after 1 step (killed by SIGKILL)');
  });
});

describe('a word that cannot be meant', () => {
  test.each<[readonly string[], string]>([
    [['trace'], 'write the command after --, as in `lossproof trace -- python train.py`'],
    [['trace', 'python train.py'], "write the script's command after --, word by word"],
    [['trace', '--', 'no-such-command'], 'there is no command "no-such-command"; is the environment active'],
    [
      ['trace', '--', 'python train.py'],
      'write it after --, without quotes: `lossproof trace -- python train.py`',
    ],
    [['trace', '--', 'train.py'], 'a Python script is run by `lossproof trace -- python train.py`'],
    [['trace', '--from', 'nowhere'], 'there is no folder nowhere'],
    [['trace', '--from', 'empty'], 'empty holds no trace: there is no file RANK-PID.ndjson in it'],
    [['trace', '--from', 'empty', '--', 'python3'], '--from judges empty and runs nothing'],
    [['trace', '--semantics', '{"kl_estimator": "k9"}', ...SCRIPT, 'right'], '--semantics: '],
    [['trace', '--semantics', '{kl', ...SCRIPT, 'right'], '--semantics is not JSON'],
    [['trace', '--semantics', 'none.json', ...SCRIPT, 'right'], 'there is no file none.json'],
    [['trace', '--dataset', 'none.jsonl', ...SCRIPT, 'right'], '--dataset: there is no file none.jsonl'],
    [['trace', '--dataset', 'broken.jsonl', ...SCRIPT, 'right'], 'broken.jsonl, row 2'],
    [['trace', '--tokenizer', 'empty', ...SCRIPT, 'right'], 'empty'],
    [['trace', '--mode', 'fast', ...SCRIPT, 'right'], 'exact'],
    [['trace', '--steps', '0', ...SCRIPT, 'right'], '--steps'],
    [['trace', '--only', 'maks', ...SCRIPT, 'right'], 'did you mean "mask"?'],
    [
      ['trace', '--html', 'no/such/page.html', ...SCRIPT, 'right'],
      '--html: no/such/page.html cannot be written',
    ],
    [['trace', '--', 'true'], 'no Python process of it was seen'],
  ])('%j is one sentence, and no verdict', async (argv, sentence) => {
    const world = tracedWorld();
    mkdirSync(join(world.folder, 'empty'));
    world.write('broken.jsonl', '{"text": "a"}\n{"text"\n');
    expect(await world.run(...argv)).toBe(2);
    expect(world.err()).toContain(sentence);
    expect(world.err().trim().split('\n').length).toBeLessThanOrEqual(2);
    // Nothing is kept of what never was.
    const traces = join(world.folder, '.lossproof', 'trace');
    expect(existsSync(traces) ? readdirSync(traces) : []).toEqual(existsSync(traces) ? ['.gitignore'] : []);
  });
});

test("Ctrl-C is the script's own: what it had trained is judged, and the code says that it was interrupted", async () => {
  const world = tracedWorld();
  const interrupting = setInterval(() => {
    if (existsSync(join(world.folder, 'stepped'))) world.interrupt();
  }, 50);
  const code = await world.run('trace', ...SCRIPT, 'waits');
  clearInterval(interrupting);
  expect(code).toBe(130);
  expect(readFileSync(join(world.folder, 'ended'), 'utf8')).toBe('by itself');
  expect(world.err()).toMatch(/interrupted · \d+ properties: \d+ hold/);
});

test('`explain` knows the rules that only a traced script is held to', async () => {
  const world = makeWorld(properties);
  expect(await world.run('explain', 'trace/target-is-the-next-token')).toBe(0);
  expect(world.out()).toContain(
    'npx lossproof trace --only trace/target-is-the-next-token -- python train.py',
  );
});
