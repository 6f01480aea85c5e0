// Logs on disk: which files are found and whose run they are, what is said of what cannot be read, and how a reading goes
// on when files grow, are cut, or come new.
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { csvReader } from '../../../src/monitor/read/csv.ts';
import { openWindow } from '../../../src/monitor/read/files/window.ts';
import { documentReader, nothingPushed } from '../../../src/monitor/read/json/document.ts';
import { jsonLinesReader } from '../../../src/monitor/read/json/json-lines.ts';
import { LARGEST_RECORD, type Reader } from '../../../src/monitor/read/reader.ts';
import { eventReader } from '../../../src/monitor/read/tensorboard/event.ts';
import { event, eventFile, field, joined, number, record, simple, text, varint, wandbFile } from './bytes.ts';
import { folderOf, memory, opened, problemOf, readAll } from './memory.ts';

const events = (...steps: readonly number[]): Uint8Array =>
  eventFile(...steps.map((step) => event(step, simple('loss', step))));
const state = (...steps: readonly number[]): string =>
  JSON.stringify(
    { epoch: 1, max_steps: 9, log_history: steps.map((step) => ({ step, loss: step, epoch: step / 9 })) },
    undefined,
    2,
  );
const runs = (source: { files: readonly { path: string; run: string; kind: string }[] }): string[] =>
  source.files.map(({ path, run, kind }) => `${path} -> ${run} (${kind})`);

describe('runs', () => {
  test('are folders of event files, each folder below its own, in order of their names', () => {
    const cwd = folderOf({
      'out/b/events.out.tfevents.10.h': events(1),
      'out/b/events.out.tfevents.9.h': events(1),
      'out/b/loss_a/events.out.tfevents.9.h': events(1),
      'out/notes.md': 'text',
      'out/node_modules/x/events.out.tfevents.1': events(1),
    });
    expect(runs(opened(['out'], { cwd }))).toEqual([
      'out/b/events.out.tfevents.9.h -> out/b (TensorBoard)',
      'out/b/events.out.tfevents.10.h -> out/b (TensorBoard)',
      'out/b/loss_a/events.out.tfevents.9.h -> out/b/loss_a (TensorBoard)',
    ]);
  });

  test('of tables and JSON lines are the files, whatever they are called', () => {
    const cwd = folderOf({
      'a/m.csv': 'step,loss\n1,2\n',
      'a/train.log': 'hi\n{"step": 1, "loss": 2}\n',
      'b.dat': 'step\tx\n1\t2\n',
    });
    expect(runs(opened(['a', './b.dat'], { cwd }))).toEqual([
      'a/m.csv -> a/m.csv (CSV)',
      'a/train.log -> a/train.log (JSON lines)',
      'b.dat -> b.dat (CSV)',
    ]);
  });

  test('take in the rollouts that lie beside their only metrics; where there are several, nobody knows', () => {
    const line = '{"prompt": "p", "completion": "c", "reward": 1}\n';
    const one = folderOf({
      'out/runs/x/events.out.tfevents.1': events(1),
      'out/completions/2.jsonl': line,
      'out/completions/10.jsonl': line,
    });
    expect(runs(opened(['out'], { cwd: one }))).toEqual([
      'out/runs/x/events.out.tfevents.1 -> out/runs/x (TensorBoard)',
      'out/completions/2.jsonl -> out/runs/x (JSON lines)',
      'out/completions/10.jsonl -> out/runs/x (JSON lines)',
    ]);
    const two = folderOf({
      'out/x/events.out.tfevents.1': events(1),
      'out/y/events.out.tfevents.1': events(1),
      'out/r/2.jsonl': line,
    });
    expect(runs(opened(['out'], { cwd: two })).at(-1)).toBe('out/r/2.jsonl -> out/r (JSON lines)');
  });

  test('are each read once, also where they are named twice or linked', () => {
    const cwd = folderOf({ 'out/a/events.out.tfevents.1': events(1) });
    symlinkSync(join(cwd, 'out/a'), join(cwd, 'out/link'));
    symlinkSync(join(cwd, 'out'), join(cwd, 'out/a/round'));
    expect(opened(['out', 'out/a/events.out.tfevents.1', 'out/*/*'], { cwd }).files).toHaveLength(1);
  });

  test('of what was printed are files that are named, however much stands before their first step', async () => {
    const printed = `${'settings: 1\n'.repeat(10_000)}step 1 loss: 2\n`;
    const cwd = folderOf({ 'out/train.log': printed, 'out/m.jsonl': '{"step":1,"l":1}\n' });
    expect(runs(opened(['out'], { cwd }))).toEqual(['out/m.jsonl -> out/m.jsonl (JSON lines)']);
    const into = memory();
    await opened(['out/train.log'], { cwd }).readAll(into);
    expect(into.values('out/train.log loss')).toEqual([[1, 2]]);
  });

  test('may be named by globs', () => {
    const cwd = folderOf({
      'a/x1.txt': '{"step":1,"l":1}\n',
      'a/b/x2.txt': '{"step":1,"l":1}\n',
      'a/b/y.txt': '{"step":1,"l":1}\n',
    });
    const found = (glob: string): string[] => opened([glob], { cwd }).files.map(({ path }) => path);
    expect(found('a/x?.txt')).toEqual(['a/x1.txt']);
    expect(found('a/**/x*.txt')).toEqual(['a/b/x2.txt', 'a/x1.txt']);
    expect(found('a/b/{x2,y}.txt')).toEqual(['a/b/x2.txt', 'a/b/y.txt']);
    expect(found('*/b')).toHaveLength(2);
  });
});

describe('trainer_state.json', () => {
  test('is read when it stands on one line', async () => {
    const cwd = folderOf({ 'out/trainer_state.json': JSON.stringify(JSON.parse(state(1, 2))) });
    const into = memory();
    await opened(['out'], { cwd }).readAll(into);
    expect(into.values('out loss')).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  test('under other names, copied from several runs into one folder, is a run each', async () => {
    const cwd = folderOf({ 'logs/healthy-1.json': state(1, 2), 'logs/healthy-2.json': state(1, 2) });
    const source = opened(['logs'], { cwd });
    expect(runs(source)).toEqual([
      'logs/healthy-1.json -> logs/healthy-1.json (trainer_state.json)',
      'logs/healthy-2.json -> logs/healthy-2.json (trainer_state.json)',
    ]);
    const into = memory();
    await source.readAll(into);
    expect(into.values('logs/healthy-2.json loss')).toHaveLength(2);
  });

  test('is read once from the last checkpoint, under the run of its output folder, with its settings', async () => {
    const cwd = folderOf({
      'out/checkpoint-2/trainer_state.json': state(1, 2),
      'out/checkpoint-10/trainer_state.json': state(1, 2, 10),
    });
    const source = opened(['out'], { cwd });
    expect(runs(source)).toEqual(['out/checkpoint-10/trainer_state.json -> out (trainer_state.json)']);
    const into = memory();
    await source.readAll(into);
    expect(into.values('out loss')).toEqual([
      [1, 1],
      [2, 2],
      [10, 10],
    ]);
    expect(into.declared).toEqual({ epoch: 1, max_steps: 9 });
    // A later one goes on from there.
    mkdirSync(join(cwd, 'out/checkpoint-12'));
    writeFileSync(join(cwd, 'out/checkpoint-12/trainer_state.json'), state(1, 2, 10, 12, 12));
    expect(await source.poll(into)).toBe(true);
    expect(into.values('out loss').slice(3)).toEqual([
      [12, 12],
      [12, 12],
    ]);
    expect(into.complaints).toEqual([]);
  });

  test('is passed over beside event files of the same run, with a sentence, unless it is named', () => {
    const cwd = folderOf({
      'out/checkpoint-2/trainer_state.json': state(1),
      'out/runs/x/events.out.tfevents.1': events(1),
    });
    const source = opened(['out'], { cwd });
    expect(source.files).toHaveLength(1);
    expect(source.passedOver).toEqual([
      expect.objectContaining({
        path: 'out/checkpoint-2/trainer_state.json',
        why: expect.stringContaining('to read it, name it'),
      }),
    ]);
    expect(opened(['out', 'out/checkpoint-2/trainer_state.json'], { cwd }).files).toHaveLength(2);
  });

  test('cut at any byte, in pieces of any size, throws nothing and gives no wrong point', () => {
    const whole = text(state(1, 2, 3));
    for (let cut = 0; cut <= whole.length; cut += 1) {
      const into = memory();
      const reader = documentReader({ path: 's', run: '', pushed: nothingPushed() }, into, into.complain);
      for (let at = 0, end = 1; end <= cut; end += 3) at += reader.read(whole.slice(at, end), at);
      expect([1, 2, 3].map((step) => [step, step])).toEqual(expect.arrayContaining(into.values('loss')));
    }
  });

  test('as a list alone, as a user may dump it, is read, too', async () => {
    const cwd = folderOf({
      'h.json': JSON.stringify([
        { step: 1, loss: 2 },
        { step: 2, loss: 'NaN' },
      ]),
    });
    expect((await readAll(['h.json'], { cwd })).values('h.json loss')).toEqual([
      [1, 2],
      [2, Number.NaN],
    ]);
  });
});

describe('what cannot be read', () => {
  const cwd = folderOf({
    'logs/metrics.jsonl': '{"step":1,"l":1}\n',
    'empty.jsonl': '',
    'model.bin': new Uint8Array(100),
    'void/a.md': 'x',
    'prose.md': 'x',
    'config.json': '{\n"a": 1\n}',
  });
  test.each([
    ['prose.md', /^prose.md is no log that can be read/],
    ['logs/metric.jsonl', /^logs\/metric.jsonl does not exist; did you mean logs\/metrics.jsonl\?$/],
    ['log/metrics.jsonl', /^log does not exist; did you mean logs\?$/],
    ['empty.jsonl', /^empty.jsonl is empty\.$/],
    ['model.bin', /^model.bin is no log that can be read/],
    ['config.json', /^config.json is no log that can be read/],
    ['void', /^void holds no log; looked for TensorBoard event files/],
    ['logs/*.csv', /^logs\/\*.csv holds no log/],
    ['', /^A path of a log is empty/],
  ])('is said in a sentence: %s', (path, sentence) => {
    expect(problemOf([path], { cwd })).toMatch(sentence);
  });

  test('does not keep the rest from being read', () => {
    expect(opened(['logs', 'empty.jsonl'], { cwd }).passedOver).toEqual([
      { path: 'empty.jsonl', why: 'empty.jsonl is empty.' },
    ]);
  });
});

describe('following', () => {
  test('gives exactly what is new, in known files and in new ones', async () => {
    const cwd = folderOf({ 'out/m.jsonl': '{"step": 1, "loss": 1}\n{"step": 2, "lo' });
    const source = opened(['out'], { cwd, follow: true });
    const into = memory();
    await source.readAll(into);
    expect(await source.poll(into)).toBe(false);
    appendFileSync(join(cwd, 'out/m.jsonl'), 'ss": 2}\n');
    writeFileSync(join(cwd, 'out/events.out.tfevents.1'), events(5).subarray(0, 60));
    expect(await source.poll(into)).toBe(true);
    expect(into.points).toEqual({
      'out/m.jsonl loss': [
        [1, 1, Number.NaN],
        [2, 2, Number.NaN],
      ],
    });
    writeFileSync(join(cwd, 'out/events.out.tfevents.1'), events(5));
    writeFileSync(join(cwd, 'out/events.out.tfevents.2'), events(6));
    await source.poll(into);
    expect(into.values('out loss')).toEqual([
      [5, 5],
      [6, 6],
    ]);
    expect(await source.poll(into)).toBe(false);
    expect(into.complaints).toEqual([]);
    source.close();
    appendFileSync(join(cwd, 'out/m.jsonl'), '{"step": 3, "loss": 3}\n');
    expect(await source.poll(into)).toBe(false);
  });

  test('waits for the log of a job that has just begun', async () => {
    const cwd = folderOf({ 'out/a.jsonl': '' });
    const source = opened(['out', 'out/a.jsonl'], { cwd, follow: true });
    const into = memory();
    expect(source.files).toEqual([]);
    appendFileSync(join(cwd, 'out/a.jsonl'), '{"step": 1, "loss": 1}\n');
    expect(await source.poll(into)).toBe(true);
    expect(into.values('out/a.jsonl loss')).toEqual([[1, 1]]);
  });

  test('notices a file that is cut short, and one that another was put in the place of', async () => {
    const cwd = folderOf({ 'a.jsonl': '{"step": 1, "loss": 1}\n{"step": 2, "loss": 2}\n' });
    const file = join(cwd, 'a.jsonl');
    const source = opened(['a.jsonl'], { cwd, follow: true });
    const into = memory();
    await source.readAll(into);
    truncateSync(file);
    writeFileSync(file, '{"step": 7, "loss": 7}\n');
    await source.poll(into);
    renameSync(file, join(cwd, 'a.jsonl.1'));
    writeFileSync(file, '{"step": 8, "loss": 8}\n');
    await source.poll(into);
    expect(into.values('a.jsonl loss').slice(2)).toEqual([
      [7, 7],
      [8, 8],
    ]);
    expect(into.complaints).toEqual([
      expect.stringMatching(/^a.jsonl: It was cut from 46 to 23 bytes/),
      expect.stringMatching(/^a.jsonl: Another file was put in its place/),
    ]);
    rmSync(file);
    expect(await source.poll(into)).toBe(false);
    expect(into.complaints.at(-1)).toMatch(/^a.jsonl: It cannot be read/);
  });
});

describe('packed and other files', () => {
  test('gzip around lines is unpacked; a torn one gives what it holds and says so', async () => {
    const packed = gzipSync(
      Array.from({ length: 5000 }, (_, at) => `{"step": ${at}, "loss": ${Math.sin(at)}}\n`).join(''),
    );
    const cwd = folderOf({ 'm.jsonl.gz': packed, 'torn.jsonl.gz': packed.subarray(0, packed.length >> 1) });
    const whole = await readAll(['m.jsonl.gz'], { cwd });
    expect(whole.values('m.jsonl.gz loss')).toHaveLength(5000);
    expect(whole.complaints).toEqual([]);
    const torn = await readAll(['torn.jsonl.gz'], { cwd });
    expect(torn.values('torn.jsonl.gz loss').length).toBeGreaterThan(100);
    expect(torn.complaints).toEqual([expect.stringMatching(/^torn.jsonl.gz: It cannot be read/)]);
  });

  const history = (step: number, value: string): Uint8Array =>
    field(
      2,
      joined(
        field(1, joined(field(1, 'loss'), field(16, value))),
        field(1, joined(field(2, 'a'), field(2, 'b'), number(5, 9))),
        field(2, number(1, step)),
      ),
    );

  test('the log of W&B gives rows and settings, over the ends of its blocks', async () => {
    const config = field(17, field(4, field(1, joined(field(1, 'lr'), field(16, '0.1')))));
    const filler = field(7, new Uint8Array(40_000));
    const cwd = folderOf({
      'wandb/offline-run-1/run-x.wandb': wandbFile(config, history(3, '0.5'), filler, history(4, 'NaN')),
    });
    const into = await readAll(['wandb'], { cwd });
    expect(into.points).toEqual({
      'wandb/offline-run-1 loss': [
        [3, 0.5, Number.NaN],
        [4, Number.NaN, Number.NaN],
      ],
      'wandb/offline-run-1 a/b': [
        [3, -5, Number.NaN],
        [4, -5, Number.NaN],
      ],
    });
    expect(into.declared).toEqual({ lr: 0.1 });
    expect(into.complaints).toEqual([]);
  });

  test('of W&B, every flipped bit is noticed, and a torn tail is waited for', async () => {
    const whole = wandbFile(history(1, '1'), history(2, '2'), history(3, '3'));
    for (let cut = 7; cut <= whole.length; cut++) {
      const cwd = folderOf({ 'x.wandb': whole.subarray(0, cut) });
      const into = memory();
      const source = opened(['x.wandb'], { cwd, follow: true });
      await source.readAll(into);
      expect(into.complaints).toEqual([]);
      writeFileSync(join(cwd, 'x.wandb'), whole);
      await source.poll(into);
      expect(into.values('. loss')).toEqual([
        [1, 1],
        [2, 2],
        [3, 3],
      ]);
    }
    for (let bit = 7 * 8; bit < 8 * whole.length; bit += 3) {
      const bytes = whole.slice();
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const into = await readAll(['x.wandb'], { cwd: folderOf({ 'x.wandb': bytes }) });
      for (const [step, value] of into.values('. loss')) expect(value).toBe(step);
      // A length that grew past the end looks like a tail that is not there yet.
      if (into.values('. loss').length === 3) expect(into.complaints.length, `bit ${bit}`).toBeGreaterThan(0);
    }
  });

  test('Parquet that is not whole is waited for, and what is none is said', async () => {
    const cwd = folderOf({
      'a.parquet': 'PAR1 and nothing behind it',
      'b.parquet': 'PAR1xxxxxxxxxxxxxxxxPAR1',
    });
    const into = await readAll(['a.parquet', 'b.parquet'], { cwd });
    expect(into.complaints).toEqual([
      expect.stringMatching(/^a.parquet: Its end is missing/),
      expect.stringMatching(/^b.parquet: It cannot be read as Parquet/),
    ]);
  });
});

describe('memory', () => {
  const readers: readonly [string, (into: ReturnType<typeof memory>) => Reader, (at: number) => number][] = [
    [
      'one line of JSON',
      (into) => jsonLinesReader({ path: '', run: '' }, into, into.complain),
      (at) => (at === 0 ? 0x7b : 0x61),
    ],
    [
      'one row of a table',
      (into) => csvReader({ run: '', delimiter: ',', finished: true }, into, into.complain),
      () => 0x61,
    ],
    ['zeros instead of events', (into) => eventReader('', into, into.complain), () => 0],
    [
      'one entry of a document',
      (into) => documentReader({ path: '', run: '', pushed: nothingPushed() }, into, into.complain),
      (at) => (at === 0 ? 0x5b : 0x7b),
    ],
  ];
  test.each(readers)(
    'never holds more than the bound of a file of 40 MiB that is %s',
    async (_, make, byteAt) => {
      const size = 5 * LARGEST_RECORD;
      const into = memory();
      let most = 0;
      const fill = (buffer: Uint8Array, at: number): number => {
        most = Math.max(most, buffer.buffer.byteLength);
        const got = Math.max(0, Math.min(buffer.length, size - at));
        buffer.fill(byteAt(1), 0, got);
        if (at === 0) buffer[0] = byteAt(0);
        return got;
      };
      await openWindow().run(make(into), fill, 0, () => true);
      expect(most).toBeLessThanOrEqual(LARGEST_RECORD);
      expect(into.complaints.length).toBeGreaterThan(0);
      expect(into.points).toEqual({});
    },
  );

  test('a record of gigabytes is skipped by its length, without its bytes being read', async () => {
    const into = memory();
    const head = new Uint8Array(16);
    head.set(record(new Uint8Array(0)).subarray(0, 12));
    // The length of a record of 3 GiB with its checksum, as a writer makes it.
    const { maskedCrc32c } = await import('../../../src/monitor/read/tensorboard/crc32c.ts');
    const view = new DataView(head.buffer);
    view.setBigUint64(0, 3n * 2n ** 30n, true);
    view.setUint32(8, maskedCrc32c(view, 0, 8), true);
    const after = record(event(1, simple('x', 1)));
    const behind = 12 + 3 * 2 ** 30 + 4;
    let asked = 0;
    const fill = (buffer: Uint8Array, at: number): number => {
      asked += 1;
      const source = at >= behind ? after.subarray(at - behind) : head.subarray(at, 12);
      buffer.set(source.subarray(0, buffer.length));
      return source.length;
    };
    await openWindow().run(eventReader('', into, into.complain), fill, 0, () => true);
    expect(into.values('x')).toEqual([[1, 1]]);
    expect(asked).toBeLessThan(5);
    expect(varint(3n * 2n ** 30n)).toHaveLength(5);
  });
});
