// Event files of TensorBoard, put together by hand: what is read of them, torn, damaged and hostile ones included.
// What TensorBoard's own writer makes is read in test/torch/monitor/.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LARGEST_RECORD } from '../../../src/monitor/read/reader.ts';
import { crc32c } from '../../../src/monitor/read/tensorboard/crc32c.ts';
import { eventReader } from '../../../src/monitor/read/tensorboard/event.ts';
import {
  double,
  event,
  eventFile,
  field,
  float,
  joined,
  number,
  record,
  simple,
  tensor,
  text,
} from './bytes.ts';
import { feed, type Memory, memory } from './memory.ts';

function read(bytes: Uint8Array, size?: number): Memory {
  const into = memory();
  feed(eventReader('', into, into.complain), bytes, size);
  return into;
}

const shape = (...sizes: readonly number[]): Uint8Array =>
  field(2, joined(...sizes.map((size) => field(2, number(1, size)))));
const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

describe('checksums', () => {
  // RFC 3720, appendix B.4.
  test.each([
    ['32 bytes of zeros', new Uint8Array(32), 0x8a9136aa],
    ['32 bytes of ones', new Uint8Array(32).fill(0xff), 0x62a8ab43],
    ['0 to 31', Uint8Array.from({ length: 32 }, (_, at) => at), 0x46dd794e],
    ['31 to 0', Uint8Array.from({ length: 32 }, (_, at) => 31 - at), 0x113fdb5c],
    ['123456789', text('123456789'), 0xe3069283],
    ['nothing', new Uint8Array(0), 0],
  ])('of %s are as in the standard', (_, bytes, sum) => {
    expect(crc32c(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length)).toBe(sum);
  });
});

describe('points', () => {
  test('have the step, the value as a float32, and the wall time, whatever the pieces that the file comes in', () => {
    const file = eventFile(
      event(1, simple('train/loss', 0.5), simple('train/kl', Number.NaN)),
      event(2, simple('train/loss', 0.25), simple('train/kl', Number.NEGATIVE_INFINITY)),
    );
    for (const size of [file.length, 1, 2, 7, 50]) {
      const { points, complaints } = read(file, size);
      expect(points).toEqual({
        'train/loss': [
          [1, 0.5, 1001],
          [2, 0.25, 1002],
        ],
        'train/kl': [
          [1, Number.NaN, 1001],
          [2, Number.NEGATIVE_INFINITY, 1002],
        ],
      });
      expect(complaints).toEqual([]);
    }
  });

  test('have negative and very large steps', () => {
    const steps = [-1, -2, -1e12, 0, 2 ** 40, 127, 128, -128];
    const { points } = read(eventFile(...steps.map((step) => event(step, simple('x', 1)))));
    expect(points.x?.map(([step]) => step)).toEqual(steps);
  });

  test('of an event whose step stands behind its summary have that step', () => {
    const data = joined(field(5, field(1, simple('x', 1))), number(2, 7));
    expect(read(eventFile(data)).values('x')).toEqual([[7, 1]]);
  });

  test('have names in any script, and are told apart where they differ in one letter', () => {
    const names = [
      '奖励',
      'a',
      'b',
      'aaaaa',
      'aaaab',
      'baaaa',
      '',
      'train/损失',
      ...Array.from({ length: 3000 }, (_, i) => `s/${i}`),
    ];
    const file = eventFile(...[1, 2].map((step) => event(step, ...names.map((name) => simple(name, 1)))));
    const { points } = read(file);
    expect(Object.keys(points)).toHaveLength(names.length);
    expect(names.every((name) => points[name]?.length === 2)).toBe(true);
  });
});

describe('tensors', () => {
  test.each<[string, Uint8Array, number]>([
    [
      'float in tensor_content',
      joined(number(1, 1), field(2, new Uint8Array(0)), field(4, bytesOf(Float32Array.of(0.5)))),
      0.5,
    ],
    ['double in tensor_content', joined(number(1, 2), field(4, bytesOf(Float64Array.of(0.1)))), 0.1],
    ['int32 in tensor_content', joined(number(1, 3), field(4, bytesOf(Int32Array.of(-3)))), -3],
    ['int64 in tensor_content', joined(number(1, 9), field(4, bytesOf(BigInt64Array.of(-9n)))), -9],
    ['half in tensor_content', joined(number(1, 19), field(4, Uint8Array.of(0x00, 0x3e))), 1.5],
    ['bfloat16 in tensor_content', joined(number(1, 14), field(4, Uint8Array.of(0xc0, 0x3f))), 1.5],
    ['float_val, packed', joined(number(1, 1), field(5, bytesOf(Float32Array.of(2)))), 2],
    ['float_val, not packed', joined(number(1, 1), float(5, 3)), 3],
    ['double_val, packed', joined(number(1, 2), field(6, bytesOf(Float64Array.of(0.3)))), 0.3],
    ['double_val, not packed', joined(number(1, 2), double(6, 0.7)), 0.7],
    ['int_val, negative', joined(number(1, 3), number(7, -5)), -5],
    ['int64_val, packed', joined(number(1, 9), field(10, Uint8Array.of(7))), 7],
    ['half_val, infinite', joined(number(1, 19), number(13, 0xfc00)), Number.NEGATIVE_INFINITY],
    ['half_val, subnormal', joined(number(1, 19), number(13, 1)), 2 ** -24],
    ['of shape (1,)', joined(number(1, 1), shape(1), float(5, 4)), 4],
  ])('of one element are points: %s', (_, content, value) => {
    expect(read(eventFile(event(3, tensor('t', content)))).values('t')).toEqual([[3, value]]);
  });

  test.each<[string, Uint8Array]>([
    ['of many elements', joined(number(1, 1), shape(2), field(4, bytesOf(Float32Array.of(1, 2))))],
    ['of a type that is no number', joined(number(1, 8), float(5, 1))],
    ['whose content has another size than its type', joined(number(1, 1), field(4, Uint8Array.of(1, 2)))],
    ['of nothing', joined(number(1, 1), shape(0))],
  ])('that are no scalar are no points: %s', (_, content) => {
    expect(read(eventFile(event(3, tensor('t', content)))).points).toEqual({});
  });

  test('histograms, images and audio are passed over', () => {
    const other = [3, 4, 5, 6].map((id) =>
      joined(
        field(1, 'h'),
        field(
          id,
          Uint8Array.from({ length: 300 }, (_, at) => at),
        ),
      ),
    );
    const { points, complaints } = read(eventFile(event(1, ...other, simple('x', 1))));
    expect(Object.keys(points)).toEqual(['x']);
    expect(complaints).toEqual([]);
  });
});

describe('settings', () => {
  test('of a text summary that holds JSON are declared: arguments by their names, others below their tag', () => {
    const of = (tag: string, content: string): Uint8Array =>
      tensor(tag, joined(number(1, 7), shape(1), field(8, content)));
    const { declared, points } = read(
      eventFile(
        event(
          0,
          of('args/text_summary', '{"beta": 0.0, "max_steps": -1, "nest": {"a": [1], "b": null}, "x": NaN}'),
        ),
        event(0, of('model_config/text_summary', '<pre>\n{"vocab_size": 7}\n</pre>')),
        event(0, of('note/text_summary', 'the set {a, b} is not JSON')),
      ),
    );
    expect(declared).toEqual({
      beta: 0,
      max_steps: -1,
      'nest/b': null,
      x: Number.NaN,
      'model_config/vocab_size': 7,
    });
    expect(points).toEqual({});
  });

  test('of the hparams plugin are declared', () => {
    const entry = (name: string, value: Uint8Array): Uint8Array =>
      field(1, joined(field(1, name), field(2, value)));
    const start = joined(
      entry('lr', double(2, 0.1)),
      entry('kind', field(3, 'adam')),
      entry('on', number(4, 1)),
      entry('none', number(1, 0)),
    );
    const metadata = field(1, joined(field(1, 'hparams'), field(2, field(3, start))));
    const value = joined(field(1, '_hparams_/session_start_info'), field(9, metadata));
    expect(read(eventFile(event(0, value))).declared).toEqual({
      lr: 0.1,
      kind: 'adam',
      on: true,
      none: null,
    });
  });
});

const WHOLE = eventFile(
  ...[1, 2, 3, 4, 5].map((step) => event(step, simple('loss', step / 8), simple('kl', -step))),
);
const ALL = read(WHOLE).points;

describe('a file that is being written', () => {
  test('cut at any byte it gives the points of its whole records, and the others when the rest has come', () => {
    for (let cut = 0; cut <= WHOLE.length; cut++) {
      const into = memory();
      const reader = eventReader('', into, into.complain);
      const at = feed(reader, WHOLE.subarray(0, cut));
      for (const name of ['loss', 'kl'])
        expect(ALL[name]?.slice(0, into.points[name]?.length ?? 0)).toEqual(into.points[name] ?? []);
      expect(into.complaints).toEqual([]);
      feed(reader, WHOLE, 11, at);
      expect(into.points).toEqual(ALL);
      expect(into.complaints).toEqual([]);
    }
  });
});

describe('a damaged file', () => {
  test('has every flipped bit noticed with the byte of its record, and gives no wrong point', () => {
    for (let bit = 0; bit < 8 * WHOLE.length; bit++) {
      const bytes = WHOLE.slice();
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const { points, complaints } = read(bytes);
      expect(complaints[0], `bit ${bit}`).toMatch(/At byte \d+ /);
      for (const name of ['loss', 'kl'])
        for (const point of points[name] ?? []) expect(ALL[name]).toContainEqual(point);
      // The damage costs one record, and one more where a checksum is lost together with the place of the next record.
      expect((points.loss ?? []).length).toBeGreaterThanOrEqual(4);
    }
  });

  test('is read on behind a hole, and the sentences say where', () => {
    const records = [1, 2, 3].map((step) => record(event(step, simple('x', step))));
    const [one = text(''), two = text(''), three = text('')] = records;
    const bytes = joined(one, new Uint8Array(100), two.subarray(5), three);
    const { complaints, ...into } = read(bytes, 64);
    expect(into.values('x')).toEqual([
      [1, 1],
      [3, 3],
    ]);
    expect(complaints).toEqual([
      `At byte ${one.length} a record's length does not match its checksum. Reading continues at the next whole record.`,
      `Reading goes on at byte ${one.length + 100 + two.length - 5}: ${100 + two.length - 5} bytes are lost.`,
    ]);
  });

  test('with a record above the bound has it passed over without it being held', () => {
    const length = LARGEST_RECORD + 1000;
    const head = record(new Uint8Array(0)).slice(0, 12);
    new DataView(head.buffer).setUint32(0, length, true);
    const whole = record(new Uint8Array(length));
    head.set(whole.subarray(0, 12));
    const file = joined(record(event(1, simple('x', 1))), whole, record(event(2, simple('x', 2))));
    const into = memory();
    const reader = eventReader('', into, into.complain);
    feed(reader, file, 2 ** 20);
    expect(into.values('x')).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(into.complaints).toEqual([expect.stringContaining(`a record of ${length} bytes is passed over`)]);
  });

  test('with whole records that are no events has them left out and said', () => {
    const wrong = [
      Uint8Array.of(0x09, 1, 2),
      Uint8Array.of(0x2a, 200),
      Uint8Array.of(0x07),
      joined(number(2, 1), field(5, Uint8Array.of(0x0a, 99))),
      field(5, field(1, Uint8Array.of(0x15, 0))),
    ];
    const { complaints, ...into } = read(eventFile(...wrong, event(1, simple('x', 1))));
    expect(into.values('x')).toEqual([[1, 1]]);
    expect(complaints).toHaveLength(wrong.length);
    expect(complaints[0]).toMatch(/is no event of TensorBoard; it is left out/);
  });

  test('of any bytes, and of any bytes in whole records, throws nothing', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 5 }),
        fc.nat(40),
        (parts, size) => {
          read(joined(...parts), size + 1);
          read(eventFile(...parts), size + 1);
          read(eventFile(...parts.map((part) => event(1, part))), size + 1);
          read(eventFile(...parts.map((part) => event(1, tensor('t', part)))), size + 1);
        },
      ),
      { numRuns: 300 },
    );
  });
});
