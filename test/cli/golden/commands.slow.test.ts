// `golden` as it is typed: what it prints and exits with, what it writes and what it leaves alone.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readEvents } from '../../../src/report/machine/ndjson.ts';
import { makeWorld, pythonCollate, type World } from '../world.ts';

const COLLATE = ['--', 'python3', 'collate.py'];

function collating(expression?: string, before?: string): World {
  const world = makeWorld();
  write(world, expression, before);
  return world;
}

function write(world: World, expression?: string, before?: string): void {
  world.write('collate.py', pythonCollate(expression, before));
}

/** What `golden record` writes for it: recorded once for all tests, which is two processes. */
let files: Readonly<Record<string, string>> | undefined;

/** A world whose trainer is recorded. */
async function recordedWorld(): Promise<World> {
  const world = collating();
  const folder = join(world.folder, 'golden');
  if (files === undefined) {
    await world.run('golden', 'record', ...COLLATE);
    files = bytes(folder);
  } else {
    mkdirSync(folder);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  }
  return world;
}

/** Every file of a folder by name. */
function bytes(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
}

const onOneLine = (text: string): string => text.replace(/\s+/g, ' ');

/** Every id is another one. */
const OTHER = '[[id + 1 for id in row] for row in rows]';

describe('record', () => {
  test('writes one file per stage, and says what and where', async () => {
    const world = collating();
    expect(await world.run('golden', 'record', ...COLLATE)).toBe(0);
    expect(readdirSync(join(world.folder, 'golden'))).toEqual(['collate.json', 'declared.json']);
    expect(world.out()).toContain('recorded: declared 6, collate 4');
    expect(world.out()).toContain('written: 10 entries in golden.');
    expect(world.out()).toContain('npx lossproof golden check -- python3 collate.py');
  });

  test('refuses to write over a recorded folder, and with --force says what changed', async () => {
    const world = await recordedWorld();
    const before = bytes(join(world.folder, 'golden'));
    write(world, OTHER);
    expect(await world.run('golden', 'record', ...COLLATE)).toBe(2);
    expect(world.err()).toContain('`golden record --force` records all of them anew');
    expect(bytes(join(world.folder, 'golden'))).toEqual(before);
    expect(await world.run('golden', 'record', '--force', ...COLLATE)).toBe(0);
    expect(world.out()).toContain('accepted collate/one-row: The ids changed (input_ids)');
    expect(bytes(join(world.folder, 'golden'))).not.toEqual(before);
  });

  test('does not record what differs from process to process, and exits with 1', async () => {
    const world = collating('[[os.getpid()] * len(row) for row in rows]', 'import os');
    expect(await world.run('golden', 'record', ...COLLATE)).toBe(1);
    expect(world.out()).toContain(
      '! not recorded: collate/one-row: the answer differs between two fresh processes',
    );
    expect(readdirSync(join(world.folder, 'golden'))).toEqual(['declared.json']);
  });

  test('writes nothing where the trainer does not start', async () => {
    const world = makeWorld();
    expect(await world.run('golden', 'record', '--', 'python3', 'nowhere.py')).toBe(2);
    expect(existsSync(join(world.folder, 'golden'))).toBe(false);
  });

  test('writes nothing at Ctrl-C', async () => {
    // It says that it was asked, and takes its time over the answer.
    const world = collating("(open('asked', 'w').close(), time.sleep(1), rows)[2]", 'import time');
    const asked = setInterval(() => {
      if (!existsSync(join(world.folder, 'asked'))) return;
      clearInterval(asked);
      world.interrupt();
    }, POLL_MILLISECONDS);
    expect(await world.run('golden', 'record', ...COLLATE)).toBe(130);
    expect(world.out()).toContain('interrupted: nothing was written');
    expect(existsSync(join(world.folder, 'golden'))).toBe(false);
  });
});

const POLL_MILLISECONDS = 20;

describe('check', () => {
  test('is green twice, says which versions answered, and leaves the files alone', async () => {
    const world = await recordedWorld();
    const before = bytes(join(world.folder, 'golden'));
    expect(await world.run('golden', 'check', ...COLLATE)).toBe(0);
    expect(await world.run('golden', 'check', ...COLLATE)).toBe(0);
    expect(world.out()).toMatch(/entries: 10 hold, \d+ unsupported/);
    expect(bytes(join(world.folder, 'golden'))).toEqual(before);
  });

  test('fails with the token, and with how the change is taken', async () => {
    const world = await recordedWorld();
    write(world, OTHER);
    expect(await world.run('golden', 'check', ...COLLATE)).toBe(1);
    expect(world.out()).toContain('✗ collate/one-row  recorded answer');
    expect(world.out()).toContain('token 0');
    expect(onOneLine(world.out())).toContain(
      'npx lossproof golden accept collate/one-row -- python3 collate.py',
    );
    expect(world.out()).not.toContain('npx lossproof explain');
    expect(world.out()).not.toContain('seed');
  });

  test('writes every output', async () => {
    const world = await recordedWorld();
    write(world, OTHER);
    const names = ['html', 'junit', 'events', 'sarif', 'badge', 'markdown'];
    const outputs = names.flatMap((name) => [`--${name}`, `out.${name}`]);
    expect(await world.run('golden', 'check', ...outputs, ...COLLATE)).toBe(1);
    const text = (name: string): string => readFileSync(join(world.folder, `out.${name}`), 'utf8');
    for (const name of names.filter((each) => each !== 'badge'))
      expect(text(name)).toContain('collate/one-row');
    expect(text('html')).toContain('Request');
    expect(text('html')).toMatch(/entries: \d+ hold/);
    expect(readEvents(text('events')).problems).toEqual([]);
    expect(await world.run('report')).toBe(0);
  });

  test('compares only what --only names, and knows the names', async () => {
    const world = await recordedWorld();
    write(world, OTHER);
    expect(await world.run('golden', 'check', '--only', 'declared/*', ...COLLATE)).toBe(0);
    expect(await world.run('golden', 'check', '--only', 'collate/one-rwo', ...COLLATE)).toBe(2);
    expect(world.err()).toContain(
      'no golden entry is called "collate/one-rwo", did you mean "collate/one-row"?',
    );
    expect(await world.run('golden', 'check', '--only', 'render', ...COLLATE)).toBe(2);
    expect(world.err()).toContain('nothing was compared');
  });

  test('tells other versions, and does not fail for them', async () => {
    const world = await recordedWorld();
    const file = join(world.folder, 'golden', 'collate.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"tiny"', '"tiny", "version": "0.9"'));
    expect(await world.run('golden', 'check', ...COLLATE)).toBe(0);
    expect(world.out()).toContain('Recorded with tiny 0.9; it is tiny now.');
  });

  test('has no verdict where nothing is recorded, or a file cannot be read', async () => {
    const world = collating();
    expect(await world.run('golden', 'check', ...COLLATE)).toBe(2);
    expect(world.err()).toContain(
      'golden holds no golden files; `npx lossproof golden record -- python3 collate.py` writes them',
    );
    await world.run('golden', 'record', ...COLLATE);
    world.write('golden/kl.json', '<<<<<<< HEAD\n');
    expect(await world.run('golden', 'check', ...COLLATE)).toBe(2);
    expect(world.err()).toContain('kl.json has the markers of a merge conflict, in line 1');
  });

  test('says that it was interrupted', async () => {
    const world = makeWorld(undefined, {
      onWrite: (both, { interrupt }) => {
        if (both.endsWith(`golden set 1 · golden\n\n`)) interrupt();
      },
    });
    write(world);
    await world.run('golden', 'record', ...COLLATE);
    expect(await world.run('golden', 'check', ...COLLATE)).toBe(130);
    expect(world.out()).toContain('interrupted · ');
  });
});

describe('accept', () => {
  test('writes what is named and nothing else, and says what it was and is', async () => {
    const world = await recordedWorld();
    const before = bytes(join(world.folder, 'golden'));
    write(world, OTHER);
    expect(await world.run('golden', 'accept', 'collate/one-row', ...COLLATE)).toBe(0);
    expect(onOneLine(world.out())).toMatch(
      /accepted collate\/one-row: The ids changed \(input_ids\).*First: token 0 \(id 6\) of row 0 was \(id 5\)/s,
    );
    const after = bytes(join(world.folder, 'golden'));
    expect(after['declared.json']).toBe(before['declared.json']);
    expect(await world.run('golden', 'check', ...COLLATE)).toBe(1);
    expect(world.out()).toContain('✗ collate/unequal-rows  recorded');
    expect(world.out()).not.toContain('✗ collate/one-row  recorded');
    expect(await world.run('golden', 'accept', '--all', ...COLLATE)).toBe(0);
    expect(await world.run('golden', 'check', ...COLLATE)).toBe(0);
  });

  test('keeps what another one wrote while the trainer answered', async () => {
    const world = await recordedWorld();
    const file = join(world.folder, 'golden', 'collate.json');
    const recorded = readFileSync(file, 'utf8');
    const second = recorded.replace('"collate/unequal-rows"', '"collate/of-another-branch"');
    expect(second).not.toBe(recorded);
    // The trainer itself is what takes its time: it writes the file when it is started.
    write(
      world,
      OTHER,
      `open(${JSON.stringify(file)}, "w", encoding="utf-8").write(${JSON.stringify(second)})`,
    );
    expect(await world.run('golden', 'accept', 'collate/one-row', ...COLLATE)).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('"collate/of-another-branch"');
  });

  test('leaves a file as it is where nothing changed', async () => {
    const world = await recordedWorld();
    const before = bytes(join(world.folder, 'golden'));
    expect(await world.run('golden', 'accept', 'collate', ...COLLATE)).toBe(0);
    expect(world.out()).toContain('nothing to accept: 4 entries are as recorded');
    expect(bytes(join(world.folder, 'golden'))).toEqual(before);
  });

  test('takes new entries in, and such as are missing or stale out', async () => {
    const world = await recordedWorld();
    const file = join(world.folder, 'golden', 'collate.json');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('"collate/one-row"', '"collate/of-an-older-set"'));
    expect(await world.run('golden', 'check', ...COLLATE)).toBe(1);
    expect(world.out()).toContain(
      '"collate/of-an-older-set" is recorded, and golden set 1 has no such case.',
    );
    expect(world.out()).toContain('Nothing is recorded for this case, and the trainer answers it.');
    expect(await world.run('golden', 'accept', 'collate/*', ...COLLATE)).toBe(0);
    expect(world.out()).toContain('accepted collate/one-row: new');
    expect(world.out()).toContain('accepted collate/of-an-older-set: taken out');
    expect(readFileSync(file, 'utf8')).toBe(text);
    rmSync(join(world.folder, 'golden', 'collate.json'));
    expect(await world.run('golden', 'check', ...COLLATE)).toBe(1);
  });

  test('never takes all without the word', async () => {
    const world = await recordedWorld();
    expect(await world.run('golden', 'accept', ...COLLATE)).toBe(2);
    expect(world.err()).toContain('say which entries');
    expect(await world.run('golden', 'accept', '*', ...COLLATE)).toBe(2);
    expect(world.err()).toContain('"*" means everything; say --all');
    expect(await world.run('golden', 'accept', 'collate', '--all', ...COLLATE)).toBe(2);
    expect(await world.run('golden', 'accept', 'colate', ...COLLATE)).toBe(2);
    expect(world.err()).toContain('did you mean "collate"?');
  });

  test('keeps the recorded answer of a trainer that crashes', async () => {
    const world = await recordedWorld();
    const before = bytes(join(world.folder, 'golden'));
    write(world, '1 / 0');
    expect(await world.run('golden', 'accept', 'collate/*', ...COLLATE)).toBe(1);
    expect(world.out()).toContain('! not recorded: collate/one-row:');
    expect(bytes(join(world.folder, 'golden'))).toEqual(before);
    expect(await world.run('golden', 'record', '--force', ...COLLATE)).toBe(1);
    expect(world.out()).not.toContain('taken out');
    expect(bytes(join(world.folder, 'golden'))).toEqual(before);
    expect(await world.run('golden', 'check', ...COLLATE)).toBe(1);
  });
});

describe('the command line', () => {
  test('explains itself, and knows its words', async () => {
    const world = makeWorld();
    expect(await world.run('golden')).toBe(2);
    expect(world.out()).toContain('npx lossproof golden record -- python adapter.py');
    expect(await world.run('golden', 'chek')).toBe(2);
    expect(world.err()).toContain('did you mean "check"?');
    expect(await world.run('golden', 'check', '--onyl', 'x')).toBe(2);
    expect(world.err()).toContain('did you mean "--only"?');
    expect(await world.run('golden', 'accept', '--help')).toBe(0);
  });
});
