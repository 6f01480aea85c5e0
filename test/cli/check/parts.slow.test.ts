// A run in parts, merged into one verdict; a run that goes on after it was cut off; one that has little time. What is not
// all there, or does not belong together, is no verdict.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { readEvents } from '../../../src/report/machine/ndjson.ts';
import { runsOf } from '../../../src/report/runs.ts';
import { DROPS_NOTHING, makeWorld, pythonCollate, type World, WRONG } from '../world.ts';
import { FOUR, SEED, shard, TRAINER, worldWith } from './shared/in-parts.ts';

describe('merge', () => {
  test('the merged run is not written over one of its parts', async () => {
    const world = worldWith();
    await shard(world, '1/1');
    expect(await world.run('merge', '--events', '.lossproof/shards/1-of-1.ndjson')).toBe(2);
    expect(world.err()).toContain('is one of the parts; name another file');
    expect(await world.run('merge', '--events', 'whole.ndjson')).toBe(0);
  });

  test('no part is written over another one', async () => {
    const world = worldWith();
    await shard(world, '1/2');
    const part = '.lossproof/shards/1-of-2.ndjson';
    const before = readFileSync(join(world.folder, part), 'utf8');
    expect(await shard(world, '2/2', '--events', part)).toBe(2);
    expect(world.err()).toBe(
      `lossproof: --events: in .lossproof/shards, ${part} would be taken for a part of a run; name another folder\n`,
    );
    expect(readFileSync(join(world.folder, part), 'utf8')).toBe(before);
    expect(await shard(world, '1/2', '--events', part)).toBe(0);
  });

  test('nor over another one that was written elsewhere; the same part again takes its place', async () => {
    const world = worldWith();
    await shard(world, '1/2', '--events', 'part.ndjson');
    const before = readFileSync(join(world.folder, 'part.ndjson'), 'utf8');
    expect(await shard(world, '2/2', '--events', 'part.ndjson')).toBe(2);
    expect(world.err()).toBe(
      'lossproof: --events: part.ndjson holds part 1 of 2; name another file for part 2 of 2, or delete it\n',
    );
    expect(readFileSync(join(world.folder, 'part.ndjson'), 'utf8')).toBe(before);
    expect(await shard(world, '1/2', '--events', 'part.ndjson')).toBe(0);
    expect(await shard(world, '2/2', '--events', 'second.ndjson')).toBe(0);
    expect(await world.run('merge', 'part.ndjson', 'second.ndjson')).toBe(0);
  });

  test('a part with nothing in it is no failure, and the whole says how many there were', async () => {
    const world = worldWith(pythonCollate(), [DROPS_NOTHING]);
    expect(await shard(world, '1/2')).toBe(0);
    expect(await shard(world, '2/2')).toBe(0);
    expect(await world.run('merge')).toBe(0);
    expect(world.out()).toContain('1 property: 1 holds');
  });

  test.each<[string, (world: World) => Promise<unknown>, RegExp]>([
    [
      'is missing',
      (world) => shard(world, '1/2'),
      /no verdict\n {2}part 2 of 2 is missing: run it with --shard 2\/2\n$/,
    ],
    [
      'are missing',
      (world) => shard(world, '2/3'),
      /parts 1, 3 of 3 are missing: run each with --shard i\/3/,
    ],
    [
      'is there twice',
      async (world) => {
        await shard(world, '1/2');
        await shard(world, '2/2', '--events', 'again.ndjson');
        writeFileSync(
          join(world.folder, '.lossproof/shards/x.ndjson'),
          readFileSync(join(world.folder, 'again.ndjson')),
        );
      },
      /part 2 of 2 is there twice, in \.lossproof\/shards\/2-of-2\.ndjson and \.lossproof\/shards\/x\.ndjson: name one/,
    ],
    [
      'is of another seed',
      async (world) => {
        await shard(world, '1/2');
        await world.run('check', '--seed', '8', '--shard', '2/2', ...TRAINER);
      },
      /2-of-2\.ndjson is of another seed than \S+1-of-2\.ndjson: they are parts of different runs/,
    ],
    [
      'is of another trainer',
      async (world) => {
        await shard(world, '1/2');
        world.write('adapter.py', pythonCollate().replace('tiny', 'other'));
        await shard(world, '2/2');
      },
      /2-of-2\.ndjson is of another trainer than/,
    ],
    [
      'is of another dealing',
      async (world) => {
        await shard(world, '1/2');
        await shard(world, '2/3');
      },
      /is one of 3 parts, and \S+ one of 2: they are parts of different runs/,
    ],
    [
      'is of other properties',
      async (world) => {
        await shard(world, '1/2');
        await shard(world, '2/2', '--only', 'collate');
      },
      /is of other properties than/,
    ],
    [
      'is of other properties, as many',
      async (world) => {
        await shard(world, '1/2', '--only', 'collate');
        await shard(world, '2/2', '--only', 'mask');
      },
      /2-of-2\.ndjson is of other properties than/,
    ],
    [
      'knows other failures',
      async (world) => {
        world.write('known.json', '{"collate/again": {"reason": "a test"}}');
        await shard(world, '1/2');
        await shard(world, '2/2', '--known', 'known.json');
      },
      /2-of-2\.ndjson is of other known failures than/,
    ],
    [
      'is strict alone',
      async (world) => {
        await shard(world, '1/2');
        await shard(world, '2/2', '--strict');
      },
      /2-of-2\.ndjson is of another --strict than/,
    ],
    ...[
      ['says another place', '"places":[', '"places":[9,'],
      ['is one of a billion', '"of":2', '"of":1000000000'],
      ['is the 0th', '"index":2', '"index":0'],
      ['has lost a property', '"total":4', '"total":5'],
    ].map(([what = '', from = '', to = '']): [string, (world: World) => Promise<unknown>, RegExp] => [
      what,
      async (world) => {
        await shard(world, '1/2');
        await shard(world, '2/2');
        for (const part of ['1-of-2', '2-of-2']) {
          const file = join(world.folder, `.lossproof/shards/${part}.ndjson`);
          writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
        }
      },
      /(is damaged: it does not say which part of which run it is|do not hold each property of the run once)/,
    ]),
    [
      'is cut off',
      async (world) => {
        await shard(world, '1/2');
        await shard(world, '2/2');
        const file = join(world.folder, '.lossproof/shards/2-of-2.ndjson');
        writeFileSync(file, readFileSync(file, 'utf8').split('\n').slice(0, -2).join('\n'));
      },
      /part 2 of 2, \S+, is not finished\. The events end before the run does, after \d of \d properties/,
    ],
    [
      'is a whole run',
      async (world) => {
        await shard(world, '1/1');
        await world.run('check', ...SEED, '--events', 'whole.ndjson', ...TRAINER);
        renameSync(join(world.folder, 'whole.ndjson'), join(world.folder, '.lossproof/shards/whole.ndjson'));
      },
      /whole\.ndjson is a whole run and no part of one; `lossproof report` shows several runs/,
    ],
  ])('a part that %s is no verdict', async (_, prepare, sentence) => {
    const world = worldWith();
    await prepare(world);
    const before = world.err();
    expect(await world.run('merge')).toBe(2);
    expect(world.err().slice(before.length)).toMatch(sentence);
  });
});

describe('--resume', () => {
  /** Cut off behind so many results, in the middle of a line. */
  function cutBehind(world: World, results: number, file = '.lossproof/last-run.ndjson'): void {
    const path = join(world.folder, file);
    const lines = readFileSync(path, 'utf8').split('\n');
    let left = results;
    const at = lines.findIndex((line) => line.includes('"property-end"') && left-- === 0);
    writeFileSync(path, `${lines.slice(0, at).join('\n')}\n${(lines[at] ?? '').slice(0, 20)}`);
  }

  test('a failure that was found before stands, too', async () => {
    const world = worldWith(pythonCollate(WRONG));
    await world.run('check', ...SEED, ...TRAINER);
    cutBehind(world, 3);
    world.write('adapter.py', pythonCollate());
    expect(await world.run('check', '--resume', '--html', 'r.html', ...TRAINER)).toBe(1);
    expect(world.out().split('In row 0 the ids are others.')).toHaveLength(5);
  });

  test('a run that was interrupted judges again what it was in the middle of, into other files, too', async () => {
    const slow = pythonCollate('rows', 'import time').replace('rows = ', 'time.sleep(0.02); rows = ');
    const world = makeWorld(FOUR, {
      onWrite: (both, { interrupt }) => {
        if (both.includes('collate/drops-nothing') && !both.includes('interrupted')) interrupt();
      },
    });
    world.write('adapter.py', slow);
    expect(await world.run('check', ...SEED, '--cases', '5', '--rows', ...TRAINER)).toBe(130);
    const again = makeWorld(FOUR);
    again.write('adapter.py', slow);
    mkdirSync(join(again.folder, '.lossproof'));
    writeFileSync(
      join(again.folder, 'first.ndjson'),
      readFileSync(join(world.folder, '.lossproof/last-run.ndjson')),
    );
    const words = ['--resume', 'first.ndjson', '--cases', '5', '--events', 'copy.ndjson'];
    expect(await again.run('check', ...words, ...TRAINER)).toBe(0);
    for (const name of ['.lossproof/last-run.ndjson', 'copy.ndjson']) {
      const lines = readFileSync(join(again.folder, name), 'utf8').split('\n');
      expect(lines.filter((line) => line.includes('"property-end"'))).toHaveLength(4);
    }
  });

  test.each<[string, readonly string[], (world: World) => void, RegExp]>([
    [
      'another seed',
      ['--seed', '8'],
      () => {},
      /was of another seed; nothing of it stands\. Leave --resume out/,
    ],
    ['another number of cases', ['--cases', '5'], () => {}, /was of another number of cases/],
    ['other properties', ['--only', 'mask'], () => {}, /was of other properties/],
    [
      'another trainer',
      [],
      (world) => void world.write('adapter.py', pythonCollate().replace('tiny', 'other')),
      /was of another trainer/,
    ],
    [
      'another version',
      [],
      (world) => {
        const file = join(world.folder, '.lossproof/last-run.ndjson');
        writeFileSync(
          file,
          readFileSync(file, 'utf8').replace(/"version":"[^"]*","started"/, '"version":"0.0.1","started"'),
        );
      },
      /was of another version of lossproof/,
    ],
  ])('a run of %s does not go on', async (_, words, change, sentence) => {
    const world = worldWith();
    await world.run('check', ...SEED, ...TRAINER);
    cutBehind(world, 2);
    change(world);
    const before = readFileSync(join(world.folder, '.lossproof/last-run.ndjson'), 'utf8');
    expect(await world.run('check', '--resume', ...words, ...TRAINER)).toBe(2);
    expect(world.err()).toMatch(sentence);
    expect(readFileSync(join(world.folder, '.lossproof/last-run.ndjson'), 'utf8')).toBe(before);
  });

  test('what failed before does not end it again; other known failures are another run', async () => {
    const world = worldWith(pythonCollate(WRONG));
    expect(await world.run('check', ...SEED, '--bail', ...TRAINER)).toBe(1);
    world.write('known.json', '{"collate/drops-nothing": {"reason": "a test"}}');
    expect(await world.run('check', '--resume', '--known', 'known.json', ...TRAINER)).toBe(2);
    expect(world.err()).toContain('was of other known failures; nothing of it stands');
    world.write('adapter.py', pythonCollate());
    expect(await world.run('check', '--resume', '--bail', ...TRAINER)).toBe(1);
    expect(world.out()).toMatch(/4 properties: 3 hold, 1 fails/);
  });

  test('a part of a run goes on in its own file', async () => {
    const world = worldWith();
    await shard(world, '1/2');
    await shard(world, '2/2');
    cutBehind(world, 1, '.lossproof/shards/2-of-2.ndjson');
    expect(await world.run('merge')).toBe(2);
    expect(await world.run('check', '--shard', '2/2', '--resume', ...TRAINER)).toBe(0);
    expect(await world.run('merge')).toBe(0);
    expect(world.out()).toMatch(
      /4 properties: 4 hold · seed 7 · [^·]* · of 2 parts begun \S+Z( to \S+Z)?\n$/,
    );
  });
});

/** Also answers `kl`, a second a time: nothing of it is declared, and no property here asks for it. */
const SLOWLY_MEASURED = pythonCollate('rows', 'import math, time')
  .replace('"ops": {"collate": {}}', '"ops": {"collate": {}, "kl": {}}')
  .replace(
    '    else:\n',
    `    elif request["op"] == "kl":
        time.sleep(1)
        args = request["args"]
        rows = zip(args["logprobs"], args["ref_logprobs"], args["completion_mask"])
        k3 = lambda d: math.exp(d) - d - 1
        ok = {"kl": [[k3(r - p) if m else 0 for p, r, m in zip(*row)] for row in rows]}
    else:
`,
  );

describe('little time', () => {
  const SLOW = pythonCollate('rows', 'import time').replace('rows = ', 'time.sleep(0.05); rows = ');

  test('--max-time leaves out what does not fit, by name, and is not green', async () => {
    const world = worldWith(SLOW);
    expect(await world.run('check', ...SEED, '--max-time', '1.5', '--rows', ...TRAINER)).toBe(2);
    expect(world.out()).toMatch(/out of time · 4 properties: /);
    expect(world.out()).toContain('not run: the time of --max-time was over');
    expect(await world.run('report', '--html', 'r.html')).toBe(0);
    expect(world.out()).toContain('out of time');
    expect(readFileSync(join(world.folder, 'r.html'), 'utf8')).toContain('The time of --max-time was over');
    const roomy = worldWith();
    expect(await roomy.run('check', ...SEED, '--max-time', '600', ...TRAINER)).toBe(0);
    expect(roomy.out()).not.toContain('out of time');
  });

  const NOTHING = /out of time · 4 properties: 4 interrupted/;

  test('starting the trainer is of --max-time: where it takes all of it, everything is named as not run', async () => {
    const world = worldWith(pythonCollate('rows', 'import time; time.sleep(2)'));
    expect(await world.run('check', ...SEED, '--max-time', '1', '--rows', ...TRAINER)).toBe(2);
    expect(world.out()).toMatch(NOTHING);
    expect(world.out().replaceAll(/\s+/g, ' ')).toContain('not run: the time of --max-time was over');
  });

  test('and so is what somebody waited for before the command ran', async () => {
    const world = worldWith();
    const context = { ...world.context, begun: performance.now() - 600_000 };
    expect(await runProgram(['check', ...SEED, '--max-time', '500', ...TRAINER], context)).toBe(2);
    expect(world.out()).toMatch(NOTHING);
  });

  test('measuring it, too: it is cut off, nothing is made of half of it, and --resume begins as if nothing was', async () => {
    const world = worldWith(SLOWLY_MEASURED);
    expect(await world.run('check', ...SEED, '--max-time', '2', ...TRAINER)).toBe(2);
    expect(world.out()).toMatch(NOTHING);
    const measured = (): unknown =>
      runsOf(readEvents(readFileSync(join(world.folder, '.lossproof/last-run.ndjson'), 'utf8')).events)[0]
        ?.start.measured;
    expect(measured()).toEqual({});
    world.write('adapter.py', SLOWLY_MEASURED.replace('time.sleep(1)', ''));
    expect(await world.run('check', '--resume', '--max-time', '600', ...TRAINER), world.both()).toBe(0);
    expect(measured()).toMatchObject({ kl_estimator: 'k3' });
    expect(world.out()).toMatch(/0 verdicts of 4 stand/);
    expect(world.out()).toMatch(/4 properties: 4 hold · seed 7/);
  });

  test('each part has a --max-time of its own, and the whole is no verdict where one had too little', async () => {
    const world = worldWith(pythonCollate('rows', 'import time; time.sleep(2)'));
    expect(await shard(world, '1/2', '--max-time', '1')).toBe(2);
    expect(await shard(world, '2/2', '--max-time', '600')).toBe(0);
    expect(await world.run('merge')).toBe(2);
    expect(world.err()).toMatch(/part 1 of 2, \S+, is not finished\. The time of --max-time was over/);
  });

  test('--bail begins nothing more once one fails, and what it left out is named', async () => {
    const world = worldWith(pythonCollate(WRONG));
    expect(await world.run('check', ...SEED, '--bail', '--rows', ...TRAINER)).toBe(1);
    expect(world.out()).toMatch(/stopped by --bail · 4 properties: 1 fails, 3 interrupted/);
    expect(await world.run('check', ...SEED, '--bail', '2', ...TRAINER)).toBe(1);
    expect(world.out()).toMatch(/4 properties: 2 fail, 2 interrupted/);
  });
});

describe('several writers', () => {
  test('two runs into one event file: the second is refused before it begins', async () => {
    const world = worldWith(
      pythonCollate('rows', 'import time').replace('rows = ', 'time.sleep(0.01); rows = '),
    );
    const first = world.run('check', ...SEED, '--events', 'e.ndjson', ...TRAINER);
    while (!existsSync(join(world.folder, 'e.ndjson.lock'))) await sleep(5);
    // Another process holds it.
    writeFileSync(
      join(world.folder, 'f.ndjson.lock'),
      JSON.stringify({ pid: process.ppid, host: hostname() }),
    );
    expect(await world.run('check', ...SEED, '--events', 'e.ndjson', ...TRAINER)).toBe(2);
    expect(world.err()).toMatch(
      /--events: e\.ndjson is written by this run already; name another file, or wait for it/,
    );
    expect(await world.run('check', ...SEED, '--events', 'f.ndjson', ...TRAINER)).toBe(2);
    expect(world.err()).toMatch(
      /--events: f\.ndjson is being written by another run, process \d+; name another file/,
    );
    expect(await first).toBe(0);
    expect(existsSync(join(world.folder, 'e.ndjson.lock'))).toBe(false);
  });

  test('what a killed run left behind is taken over', async () => {
    const world = worldWith();
    writeFileSync(
      join(world.folder, 'e.ndjson.lock'),
      JSON.stringify({ pid: 2 ** 22 + 1, host: hostname() }),
    );
    expect(await world.run('check', ...SEED, '--events', 'e.ndjson', ...TRAINER)).toBe(0);
    writeFileSync(join(world.folder, 'e.ndjson.lock'), '{"pi');
    expect(await world.run('check', ...SEED, '--events', 'e.ndjson', ...TRAINER)).toBe(0);
    // A container that is started anew gives the same numbers to other processes.
    const other = { pid: process.pid, host: hostname(), began: '1' };
    writeFileSync(join(world.folder, 'e.ndjson.lock'), JSON.stringify(other));
    expect(await world.run('check', ...SEED, '--events', 'e.ndjson', ...TRAINER)).toBe(0);
  });
});

describe('--workers', () => {
  test('the same verdicts as with one', async () => {
    const world = worldWith(pythonCollate(WRONG));
    expect(await world.run('check', ...SEED, '--workers', '3', ...TRAINER)).toBe(1);
    expect(world.out()).toMatch(/4 properties: 2 hold, 2 fail/);
  });

  test('a worker that is killed for memory leaves its property to the others', async () => {
    const once = `
import os
def die():
    try:
        os.close(os.open("marker", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), 9)
`;
    const world = worldWith(pythonCollate('(die(), rows)[1]', once));
    expect(await world.run('check', ...SEED, '--workers', '2', ...TRAINER)).toBe(0);
    expect(world.out().replaceAll(/\s+/g, ' ')).toMatch(
      /! worker \d ran out of memory in \S+, which another runs again: one goes on/,
    );
    expect(world.out()).toContain('4 properties: 4 hold');
  });

  test('a trainer in this process has none', async () => {
    const world = makeWorld(FOUR);
    world.write(
      'lossproof.config.mjs',
      `export default { trainer: { hello: { protocol: 1, name: 'o', ops: { collate: {} } }, ops: { collate: () => ({}) } } };`,
    );
    expect(await world.run('check', '--workers', '2')).toBe(2);
    expect(world.err()).toMatch(
      /--workers starts processes, and the trainer of [^\n]+ is an object in this one/,
    );
  });
});
