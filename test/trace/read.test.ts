// A trace file that is whole, cut off, damaged, hostile, or of another version.
import { expect, test } from 'vitest';
import { readTrace } from '../../src/trace/records/read.ts';
import {
  endOf,
  forwardOf,
  linesOf,
  modelOf,
  processOf,
  settingsRecord,
  stepOf,
  trainedOf,
} from './recorded.ts';

const ROWS = [
  [5, 6, 2],
  [7, 2, 0],
];
const RECORDS = [
  processOf(),
  modelOf(),
  forwardOf(ROWS, {
    attention_mask: [
      [1, 1, 1],
      [1, 1, 0],
    ],
  }),
  trainedOf([{ column: 0, target: 6, weight: 0.25 }]),
  stepOf(),
  endOf(),
];
const TEXT = linesOf(RECORDS);
const file = (...records: readonly object[]): string =>
  [processOf(), ...records].map((record) => `${JSON.stringify(record)}\n`).join('');

test('tensors come as rows of numbers, and NaN as what was not measured', () => {
  const { records, complaints, torn } = readTrace(TEXT, 'a');
  expect({ complaints, torn }).toEqual({ complaints: [], torn: false });
  expect(records.map(({ kind }) => kind)).toEqual(RECORDS.map(({ kind }) => kind));
  const forward = records.find((record) => record.kind === 'forward');
  expect(forward?.input_ids).toEqual(ROWS);
  expect(forward?.attention_mask).toEqual([
    [1, 1, 1],
    [1, 1, 0],
  ]);
  const trained = records.find((record) => record.kind === 'trained');
  expect(trained?.weights).toEqual([0.25]);
  expect(trained?.residuals).toEqual([Number.NaN]);
});

test('bytes are read as their text', () => {
  expect(readTrace(new TextEncoder().encode(TEXT), 'a')).toEqual(readTrace(TEXT, 'a'));
});

test('wherever a file is cut off, the records before the cut are read and nothing is complained of', () => {
  const ends = [...TEXT].flatMap((letter, at) => (letter === '\n' ? [at] : []));
  for (let cut = 0; cut < TEXT.length; cut++) {
    const { records, complaints, torn } = readTrace(TEXT.slice(0, cut), 'a');
    const whole = ends.filter((end) => end <= cut).length;
    const atEnd = cut === 0 || ends.includes(cut) || ends.includes(cut - 1);
    expect({ cut, read: records.length, complaints, torn }).toEqual({
      cut,
      read: whole,
      complaints: [],
      torn: !atEnd,
    });
  }
});

test('a file of a process that wrote nothing is empty, and no complaint', () => {
  expect(readTrace('', 'a')).toEqual({ records: [], complaints: [], torn: false });
});

test('a newer version is refused in words, whatever its fields are', () => {
  const { records, complaints } = readTrace(
    '{"kind":"process","trace":2,"ranks":[0]}\n{"kind":"end"}\n',
    '0-1.ndjson',
  );
  expect(records).toEqual([]);
  expect(complaints).toEqual([
    '0-1.ndjson, line 1: The trace is of version 2; this lossproof reads version 1. Use the lossproof that wrote it, or a newer one.',
  ]);
});

test('a file that does not begin with its process is not read', () => {
  const { records, complaints } = readTrace(linesOf([endOf()]), 'a');
  expect(records).toEqual([]);
  expect(complaints[0]).toContain('begins with a "process" record, this one with "end"');
});

test('kinds that are not known are named, and the others are read', () => {
  const { records, complaints } = readTrace(file({ kind: 'router', experts: 8 }, endOf()), 'a');
  expect(records.map(({ kind }) => kind)).toEqual(['process', 'end']);
  expect(complaints).toEqual([
    'a, line 2: It is a record of kind "router", which this lossproof does not know; it is passed over.',
  ]);
});

test('fields that are not known are let pass', () => {
  expect(readTrace(file({ ...endOf(), mood: 'good' }), 'a').complaints).toEqual([]);
});

test.each([
  [{ ...stepOf(), changed: 'yes' }, 'field "changed" is "yes", expected true or false'],
  [{ ...stepOf(), models: [0.5] }, 'field "models" has 0.5, expected whole numbers'],
  [{ ...endOf(), reason: 'bored' }, 'field "reason" is "bored", expected steps, finished, exception'],
  [{ kind: 'blind', what: 'compiled' }, 'field "sentence" is missing'],
  [
    forwardOf(ROWS, {
      attention_mask: [
        [1, 1],
        [1, 1],
      ],
    }),
    'field "attention_mask" has shape [2, 2], the input ids have [2, 3]',
  ],
  [
    { ...trainedOf([{ column: 0 }]), columns: { dtype: 'int32', shape: [0], data: '' } },
    'field "columns" has 0 positions, "rows" has 1',
  ],
  [
    { ...forwardOf(ROWS), input_ids: { dtype: 'int32', shape: [2, 3], data: 'AAAA' } },
    'field "input_ids" shape [2, 3] of int32 is 24 bytes, its data has 3',
  ],
  [{ ...forwardOf(ROWS), input_ids: [5, 6] }, 'field "input_ids" is [5,6], expected rows of numbers'],
])('%# a bad record is left out, and its line and field are named', (record, complaint) => {
  const { records, complaints } = readTrace(file(record, endOf()), 'a');
  expect(records.map(({ kind }) => kind)).toEqual(['process', 'end']);
  expect(complaints).toHaveLength(1);
  expect(complaints[0]).toContain(`a, line 2: The ${record.kind} record is left out: ${complaint}`);
});

test.each([
  ['no JSON', '{"kind": oops}\n'],
  ['no object', '[1, 2]\n'],
  ['no kind', '{}\n'],
  ['a kind of every object', '{"kind":"toString"}\n'],
  ['nested without end', `${'['.repeat(100_000)}\n`],
  ['zeros', `${'\0'.repeat(4096)}\n`],
  [
    'a shape of more than its data',
    '{"kind":"trained","forward":0,"route":"logits","dtype":"","rows":{"dtype":"int32","shape":[9007199254740991],"data":""}}\n',
  ],
  [
    'rows without columns',
    `${JSON.stringify({ ...forwardOf(ROWS), input_ids: { dtype: 'int32', shape: [16_000_000, 0], data: '' } })}\n`,
  ],
  [
    'a negative shape',
    '{"kind":"forward","forward":0,"model":0,"step":0,"grad":true,"training":true,"input_ids":{"dtype":"int32","shape":[-1,-1],"data":""}}\n',
  ],
])('a line with %s neither throws nor stops the reading', (_, line) => {
  const { records } = readTrace(`${linesOf([processOf()])}${line}${linesOf([endOf()])}`, 'a');
  expect(records.at(-1)?.kind).toBe('end');
});

test('a damaged file is complained of in a few lines', () => {
  const { complaints } = readTrace(linesOf([processOf()]) + 'oops\n'.repeat(500), 'a');
  expect(complaints).toHaveLength(11);
  expect(complaints.at(-1)).toBe('a: 490 more lines could not be read.');
});

test('the words NaN and Infinity of Python, and null, stand for numbers that JSON does not have', () => {
  const line = JSON.stringify(stepOf())
    .replace('"gradient_norm":1', '"gradient_norm":NaN')
    .replace('0.001', 'null');
  const step = readTrace(file() + line, 'a').records.at(-1);
  expect(step).toMatchObject({ gradient_norm: Number.NaN, learning_rates: [Number.NaN] });
});

test('settings keep what they are given, and say which library the trainer is of', () => {
  const record = settingsRecord('SFTTrainer', { packing: false, output_dir: 'out' });
  expect(readTrace(file(record), 'a').records[1]).toEqual(record);
});

test('a version that is null is one that nothing is known of, and one that is a list leaves the record out', () => {
  const versions = (torch: unknown): object => ({
    kind: 'versions',
    versions: { torch, trl: '1.0' },
    device: 'cpu',
  });
  expect(readTrace(file(versions(null)), 'a').records[1]).toEqual({
    kind: 'versions',
    versions: { trl: '1.0' },
    device: 'cpu',
  });
  expect(readTrace(file(versions(['2'])), 'a').complaints).toEqual([
    'a, line 2: The versions record is left out: field "versions" is {"torch":["2"],"trl":"1.0"}, expected names with texts.',
  ]);
});
