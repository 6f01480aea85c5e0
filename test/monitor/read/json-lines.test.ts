// JSON lines of metrics as trainers and loggers write them, with what else stands in such files.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonLinesReader } from '../../../src/monitor/read/json/json-lines.ts';
import { parseNumber } from '../../../src/monitor/read/numbers.ts';
import { LARGEST_RECORD } from '../../../src/monitor/read/reader.ts';
import { text } from './bytes.ts';
import { feed, type Memory, memory } from './memory.ts';

function read(content: string, size?: number): Memory {
  const into = memory();
  feed(jsonLinesReader({ path: 'm.jsonl', run: '' }, into, into.complain), text(content), size);
  return into;
}

describe('a line of metrics', () => {
  test.each([
    'step',
    'global_step',
    '_step',
    'iteration',
    'train/global_step',
    'training/global_step',
    'epoch',
    'Step',
  ])('tells its step under %s', (name) => {
    const { points, complaints } = read(`{"loss": 0.5, "${name}": 3}\n{"${name}":4.0,"loss":1e-3}\n`);
    expect(points).toEqual({
      loss: [
        [3, 0.5, Number.NaN],
        [4, 0.001, Number.NaN],
      ],
    });
    expect(complaints).toEqual([]);
  });

  test('has its passes over the data as a series, where something else is the step', () => {
    // All numbers, which is the fast way, and with a text beside them.
    for (const more of ['', ', "note": "a"'])
      expect(read(`{"loss": 0.5, "epoch": 1.5, "step": 3${more}}\n`).points).toEqual({
        loss: [[3, 0.5, Number.NaN]],
        epoch: [[3, 1.5, Number.NaN]],
      });
  });

  test("of W&B has the trainer's own step, not the count of rows", () => {
    expect(
      read('{"_step": 9, "train/global_step": 90, "loss": 1, "_runtime": 5, "_timestamp": 1.7e9}\n').points,
    ).toEqual({
      loss: [[90, 1, 1.7e9]],
    });
  });

  test('has NaN and infinities, as Python writes them, as others do, and as strings', () => {
    const { values } = read(
      '{"step": 1, "a": NaN, "b": Infinity, "c": -Infinity}\n{"step": 2, "a": "NaN", "b": "inf", "c": "-Infinity", "d": "high"}\n',
    );
    expect(values('a')).toEqual([
      [1, Number.NaN],
      [2, Number.NaN],
    ]);
    expect(values('b')).toEqual([
      [1, Number.POSITIVE_INFINITY],
      [2, Number.POSITIVE_INFINITY],
    ]);
    expect(values('c')).toEqual([
      [1, Number.NEGATIVE_INFINITY],
      [2, Number.NEGATIVE_INFINITY],
    ]);
    expect(values('d')).toEqual([]);
  });

  test('has nested objects flattened, wrappers taken off, and nulls, lists and flags left out', () => {
    const { points } = read(
      '{"step": 1, "train": {"loss": 2, "deep": {"kl": 3}}, "n": null, "ok": true, "hist": [1, 2]}\n{"step": 2, "data": {"actor/loss": 4}}\n',
    );
    expect(points).toEqual({
      'train/loss': [[1, 2, Number.NaN]],
      'train/deep/kl': [[1, 3, Number.NaN]],
      'actor/loss': [[2, 4, Number.NaN]],
    });
  });

  test('may hold one named value, and a time in milliseconds or as a date', () => {
    const { points } = read(
      '{"tag": "loss", "value": 0.5, "step": 1, "timestamp": 1700000000000}\n{"name": "loss", "value": 0.4, "step": 2, "timestamp": "2026-03-01T00:00:00Z"}\n',
    );
    expect(points).toEqual({
      loss: [
        [1, 0.5, 1.7e9],
        [2, 0.4, Date.parse('2026-03-01') / 1000],
      ],
    });
  });

  test('has a time that is no time of day as a series: seconds of a step', () => {
    expect(read('{"step": 1, "time": 0.4}\n{"step": 2, "time": 0.5, "note": "x"}\n').values('time')).toEqual([
      [1, 0.4],
      [2, 0.5],
    ]);
  });

  test('without a step has the number of its line, which is said once', () => {
    const { complaints, ...into } = read('{"loss": 1}\n\n{"loss": 2}\n');
    expect(into.values('loss')).toEqual([
      [1, 1],
      [3, 2],
    ]);
    expect(complaints).toEqual([expect.stringMatching(/^Line 1 names no step/)]);
  });

  test('of settings is declared', () => {
    expect(read('{"config": {"lr": 0.1, "nest": {"a": "b"}}}\n').declared).toEqual({
      lr: 0.1,
      'nest/a': 'b',
    });
  });

  test('of a rollout is a sample that names file and line', () => {
    const { samples, points } = read(
      '{"step": 1, "loss": 1}\n{"prompt": "2+2=", "completion": "4", "reward": 1.0, "step": 1}\n',
    );
    expect(samples).toEqual([
      expect.objectContaining({ where: 'm.jsonl line 2', prompt: '2+2=', completion: '4' }),
    ]);
    expect(Object.keys(points)).toEqual(['loss']);
  });
});

describe('a file', () => {
  const LINES =
    '{"step": 1, "loss": 0.5}\n{"step": 2, "loss": 0.25, "é\\u0041": 3}\n{"step": 3, "loss": NaN}';
  const ALL = read(LINES).points;

  test('cut at any byte gives the points of its whole lines, and the others when the rest has come', () => {
    const bytes = text(`${LINES}\n`);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const into = memory();
      const reader = jsonLinesReader({ path: 'm.jsonl', run: '' }, into, into.complain);
      const at = feed(reader, bytes.subarray(0, cut));
      expect(ALL.loss?.slice(0, into.points.loss?.length ?? 0)).toEqual(into.points.loss ?? []);
      feed(reader, bytes, 5, at);
      expect(into.points).toEqual(ALL);
      expect(into.complaints).toEqual([]);
    }
  });

  test('with other lines between has them counted and said once', () => {
    const { complaints, ...into } = read(
      'hello\n{"step": 1, "loss": 1}\nINFO {x}\n{"step": broken}\n{"step": 2, "loss": 2}\n',
    );
    expect(into.values('loss')).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(complaints).toEqual([
      '3 lines are no JSON objects and no lines of metrics; they are passed over. The first is line 1.',
    ]);
  });

  test('with a line above the bound has that one passed over', () => {
    const long = `{"step": 1, "text": "${'x'.repeat(LARGEST_RECORD + 2 ** 21)}"}`;
    const { complaints, ...into } = read(
      `{"step": 1, "loss": 1}\n${long}\n{"step": 2, "loss": 2}\n`,
      2 ** 20,
    );
    expect(into.values('loss')).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(complaints).toEqual(['Line 2 is longer than 8 MiB; it is passed over.']);
  });

  test('of any bytes throws nothing', () => {
    const reading = (bytes: Uint8Array, size = 7): void => {
      const into = memory();
      feed(jsonLinesReader({ path: 'm.jsonl', run: '' }, into, into.complain), bytes, size);
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => reading(bytes)));
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'{}[]":,0.-eNaN \\\n'), maxLength: 60 }).map(text),
        (bytes) => reading(bytes),
      ),
      {
        numRuns: 1000,
      },
    );
    reading(text(`${'{"a":'.repeat(100_000)}\n`), 1e6);
    reading(text(`{"a":${'['.repeat(100_000)}\n`), 1e6);
  });

  test('of any metrics gives what a parser of JSON gives', () => {
    const value = fc.oneof(fc.double(), fc.integer(), fc.constant(null), fc.float());
    const object = fc.dictionary(
      fc.string({ minLength: 1, maxLength: 6 }).filter((key) => key !== '__proto__'),
      value,
      { maxKeys: 6 },
    );
    fc.assert(
      fc.property(object, fc.boolean(), (metrics, spaced) => {
        const pairs = Object.entries(metrics).map(
          ([key, each]) => `${JSON.stringify(`m ${key}`)}${spaced ? ': ' : ':'}${each}`,
        );
        const { points } = read(`{${['"step":5', ...pairs].join(spaced ? ', ' : ',')}}\n`);
        const expected = Object.entries(metrics).filter(([, each]) => each !== null);
        expect(points).toEqual(
          Object.fromEntries(
            expected.map(([key, each]) => [`m ${key}`, [[5, Number(`${each}`), Number.NaN]]]),
          ),
        );
      }),
    );
  });
});

describe('numbers', () => {
  const parsed = (content: string): number | undefined => {
    const into = { value: 0 };
    const bytes = text(content);
    return parseNumber(bytes, 0, bytes.length, into) ? into.value : undefined;
  };

  test('are read as JavaScript itself reads them, to the last bit', () => {
    const same = (content: string): void => {
      if (!Object.is(parsed(content), Number(content)))
        expect(parsed(content), content).toBe(Number(content));
    };
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        for (const content of [
          `${value}`,
          value.toExponential(17),
          value.toPrecision(20),
          `${Math.fround(value)}`,
        ])
          if (Number.isFinite(Number(content))) same(content);
      }),
      { numRuns: 5000 },
    );
    // Half way between two doubles, and a hair beside it: where one rounding too many shows.
    fc.assert(
      fc.property(
        fc.bigInt(2n ** 52n, 2n ** 53n - 1n),
        fc.constantFrom('', '1', '001'),
        fc.nat(16),
        (bits, hair, power) => {
          const digits = `${2n * bits + 1n}${hair}`;
          same(`${digits.slice(0, -1 - power) || '0'}.${digits.slice(-1 - power)}`);
          same(`${digits}e-${power}`);
        },
      ),
      { numRuns: 5000 },
    );
    for (const content of ['0', '-0', '00.5', '.5', '5.', '1e400', '1e-400', '9007199254740993', '4.9e-324'])
      same(content);
  });

  test('are nothing else', () => {
    for (const content of [
      '',
      '-',
      '.',
      'e5',
      '1e',
      '1e+',
      '1.2.3',
      '--1',
      '1x',
      'infinit',
      '0x10',
      'n',
      'null',
      '1 2',
    ])
      expect(parsed(content), content).toBeUndefined();
  });
});

describe('a dict as Python prints it', () => {
  const LOG = [
    '  0%|          | 0/300 [00:00<?, ?it/s]\r                  \r' +
      "{'loss': 1.2574, 'grad_norm': 0.51, 'learning_rate': 2e-05, 'epoch': 0.01}",
    "{'loss': '0.9', 'grad_norm': nan, 'learning_rate': '1e-05', 'epoch': 0.01}",
    "{'eval_loss': 1.1, 'eval_note': None, 'epoch': 0.01}",
    "{'loss': -inf, 'grad_norm': 0.4, 'learning_rate': 0.0, 'epoch': 0.02}",
    '',
  ].join('\n');

  test('is a line of metrics, whose step is the number of those with a loss', () => {
    const { values, complaints } = read(LOG);
    expect(values('loss')).toEqual([
      [1, 1.2574],
      [2, 0.9],
      [3, Number.NEGATIVE_INFINITY],
    ]);
    expect(values('grad_norm')).toEqual([
      [1, 0.51],
      [2, Number.NaN],
      [3, 0.4],
    ]);
    expect(values('learning_rate')).toEqual([
      [1, 2e-5],
      [2, 1e-5],
      [3, 0],
    ]);
    expect(values('eval_loss')).toEqual([[2, 1.1]]);
    expect(values('epoch')).toHaveLength(4);
    expect(complaints).toEqual([
      'Printed lines name no step: they are counted instead. The log files of the trainer have the steps.',
    ]);
  });

  test('keeps the step that it names', () => {
    expect(read("{'step': 7, 'loss': 0.5}\n").values('loss')).toEqual([[7, 0.5]]);
  });

  test.each([
    "{'lr': tensor([0.1]), 'loss': 2}",
    "{'model': 'a', 'seed': 3}",
    "{'loss': 1.0, 'epoch': ",
    "{'loss': (1, 2)}",
    "{'loss': 1'}",
    "{'it''s': 1, 'loss': 2}",
  ])('%s is none', (line) => {
    expect(read(`${line}\n`).points).toEqual({});
  });

  test('whatever is between the quotes, nothing is thrown', () => {
    fc.assert(
      fc.property(fc.string(), (inner) => {
        expect(() => read(`{'loss': ${inner}}\n{'${inner}': 1, 'loss': 2}\n`)).not.toThrow();
      }),
    );
  });
});
