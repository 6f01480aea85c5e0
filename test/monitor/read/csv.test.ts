// Tables of metrics: headers, quotes, empty cells, and what is cut off.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvReader } from '../../../src/monitor/read/csv.ts';
import { LARGEST_RECORD } from '../../../src/monitor/read/reader.ts';
import { text } from './bytes.ts';
import { feed, type Memory, memory } from './memory.ts';

function read(
  content: string,
  { size, delimiter = ',' }: { size?: number; delimiter?: string } = {},
): Memory {
  const into = memory();
  feed(csvReader({ run: '', delimiter, finished: true }, into, into.complain), text(content), size);
  return into;
}

describe('a table', () => {
  test('has a series a column, its step in another, and no points where cells are empty or text', () => {
    const { points, complaints } = read(
      'step,"train, ""loss""",kl,note\r\n1,0.5,,warm\r\n2,nan,inf,1e-3\r\n3,"0.25",-inf,\r\n',
    );
    expect(points).toEqual({
      'train, "loss"': [
        [1, 0.5, Number.NaN],
        [2, Number.NaN, Number.NaN],
        [3, 0.25, Number.NaN],
      ],
      kl: [
        [2, Number.POSITIVE_INFINITY, Number.NaN],
        [3, Number.NEGATIVE_INFINITY, Number.NaN],
      ],
      note: [[2, 0.001, Number.NaN]],
    });
    expect(complaints).toEqual([]);
  });

  test("has a step under several names, the trainer's own first, and a wall time", () => {
    expect(read('Wall time,epoch,global_step,loss\n1700000000,0.1,7,3\n').points).toEqual({
      loss: [[7, 3, 1.7e9]],
      // Passes over the data are a series beside a step that is better.
      epoch: [[7, 0.1, 1.7e9]],
    });
    expect(read('epoch,loss\n2,3\n').points).toEqual({ loss: [[2, 3, Number.NaN]] });
  });

  test('with tabs or semicolons is read, too, and line breaks within quotes are no end of a row', () => {
    expect(read('step\tloss\n1\t2\n', { delimiter: '\t' }).values('loss')).toEqual([[1, 2]]);
    expect(read('step;note;loss\n1;"a\nb;";2\n2;"";3\n', { delimiter: ';' }).values('loss')).toEqual([
      [1, 2],
      [2, 3],
    ]);
  });

  test('without a step has its rows counted, and says so', () => {
    const { complaints, ...into } = read('loss,kl\n5,6\n7,8\n');
    expect(into.values('loss')).toEqual([
      [1, 5],
      [2, 7],
    ]);
    expect(complaints).toEqual([expect.stringMatching(/^No column is the step/)]);
  });

  test('with a second header, as a resumed job writes it, goes on with the new columns', () => {
    const { complaints, ...into } = read('step,loss\n1,5\nstep,loss\n2,6\nstep,kl,loss\n3,7,8\n');
    expect(into.values('loss')).toEqual([
      [1, 5],
      [2, 6],
      [3, 8],
    ]);
    expect(into.values('kl')).toEqual([[3, 7]]);
    expect(complaints).toEqual([]);
  });

  test('with rows of another width has them passed over and said once', () => {
    const { complaints, ...into } = read('step,loss\n1,5\n2\n3,4,5\n4,6\n');
    expect(into.values('loss')).toEqual([
      [1, 5],
      [4, 6],
    ]);
    expect(complaints).toEqual(['Row 2 has 1 cells, the header 2; such rows are passed over.']);
  });

  test('cut at any byte never gives a number that is cut off', () => {
    const whole = 'step,loss,kl\n1,0.51,12\n22,0.25,345\n';
    const all = read(whole).points;
    for (let cut = 0; cut <= whole.length; cut++) {
      const into = memory();
      const reader = csvReader({ run: '', delimiter: ',', finished: false }, into, into.complain);
      const at = feed(reader, text(whole.slice(0, cut)));
      for (const name of ['loss', 'kl'])
        expect(all[name]?.slice(0, into.points[name]?.length ?? 0)).toEqual(into.points[name] ?? []);
      feed(reader, text(whole), 3, at);
      expect(into.points).toEqual(all);
      expect(into.complaints).toEqual([]);
    }
    expect(read('step,loss\n1,0.5').complaints).toEqual([expect.stringMatching(/last row has no line end/)]);
  });

  test('of 10,000 columns is read, and a quote that is never closed costs its row', () => {
    const columns = Array.from({ length: 10_000 }, (_, at) => `c${at}`);
    const wide = read(`step,${columns.join(',')}\n1,${columns.map((_, at) => at).join(',')}\n`, {
      size: 4096,
    });
    expect(Object.keys(wide.points)).toHaveLength(10_000);
    expect(wide.values('c9999')).toEqual([[1, 9999]]);
    const { complaints, ...into } = read(
      `step,loss\n1,"\n2,5\n${`3,${'x'.repeat(1000)}\n`.repeat(LARGEST_RECORD / 1000)}`,
      { size: 2 ** 20 },
    );
    expect(into.values('loss')).toEqual([[2, 5]]);
    expect(complaints).toEqual([expect.stringMatching(/^Row 1 is longer than 8 MiB, or a quote/)]);
  });

  test('of any text throws nothing', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'step,"\n1.5x\r;'), maxLength: 80 }),
        fc.nat(9),
        (content, size) => {
          read(content, { size: size + 1 });
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('a chart that was exported from W&B', () => {
  const of = (...metrics: readonly string[]): string =>
    metrics.map((name) => `"${name}","${name}__MIN","${name}__MAX"`).join(',');
  const three = (value: number): string => `"${value}","${value - 1}","${value + 1}"`;

  test.each([
    ['of one run', 'Step', of('qwen-grpo - train/loss', 'qwen-grpo - train/kl'), ['train/loss', 'train/kl']],
    ['of a run with a dash', 'train/global_step', of('a - b - loss', 'a - b - kl'), ['loss', 'kl']],
    [
      'of a group',
      'Step',
      of('Group: lr 1e-6 - actor/entropy', 'Group: lr 1e-6 - reward'),
      ['actor/entropy', 'reward'],
    ],
  ])(
    '%s has the names that the trainer logged, and no smallest and largest values',
    (_, step, header, names) => {
      const { points } = read(
        `"${step}",${header}\n"1",${three(5)},${three(2)}\n"2",${three(4)},${three(3)}\n`,
      );
      expect(Object.keys(points)).toEqual(names);
      expect(Object.values(points).map((each) => each.map(([, value]) => value))).toEqual([
        [5, 4],
        [2, 3],
      ]);
    },
  );

  test('of several runs has each under its own name', () => {
    const into = memory();
    const runs: string[] = [];
    const sink = {
      ...into,
      series: (run: string, name: string) => {
        runs.push(`${run}: ${name}`);
        return into.series(run, name);
      },
    };
    const table = `"Step",${of('first - loss', 'second - loss')}\n"1",${three(5)},${three(2)}\n`;
    feed(csvReader({ run: 'w.csv', delimiter: ',', finished: true }, sink, into.complain), text(table));
    expect(runs).toEqual(['first: loss', 'second: loss']);
  });

  test.each([
    ['a dash alone', 'step,my - loss\n1,2\n', ['my - loss']],
    ['bounds without a run', 'step,loss,loss__MIN,loss__MAX\n1,2,1,3\n', ['loss', 'loss__MIN', 'loss__MAX']],
    ['one bound', 'step,a - loss,a - loss__MIN\n1,2,1\n', ['a - loss', 'a - loss__MIN']],
  ])('%s is no such table', (_, table, names) => {
    expect(Object.keys(read(table).points)).toEqual(names);
  });
});
