// Samplers that go on behind the stop: where the rows of the script show where it cut, the generations are cut there.
import { expect, test } from 'vitest';
import type { Generation } from '../../src/trace/ledger.ts';
import { cutAtStops } from '../../src/trace/stops.ts';

const [PAD, EOS] = [0, 1];
const PROMPT = [7, 8];

const sampled = (row: number, ...completionIds: number[]): Generation => ({
  rank: 0,
  step: 0,
  model: 0,
  source: 'loop',
  call: 0,
  row,
  promptIds: PROMPT,
  completionIds,
  stopped: false,
  eosTokenIds: [],
  temperature: 1,
});
const row = (...ids: number[]) => ({ rank: 0, ids: [...PROMPT, ...ids] });
const told = (generations: readonly Generation[]) =>
  generations.map(({ completionIds, stopped }) => [completionIds, stopped]);

const THREE = [sampled(0, 5, EOS, 9, 4, 3), sampled(1, 6, 5, 4, EOS, 6), sampled(2, 5, 6, 4, 6, 9)];
const CUT = [
  [[5, EOS], true],
  [[6, 5, 4, EOS], true],
  [[5, 6, 4, 6, 9], false],
];

test.each<[how: string, pad: number, strip: boolean]>([
  ['padded with an id of its own', PAD, false],
  ['padded with the stop', EOS, false],
  ['without their stop, which is then known to be lost', PAD, true],
])('rows %s show where they were cut', (_, pad, strip) => {
  const kept = (...ids: number[]) => (strip ? ids.slice(0, -1) : ids);
  const rows = [
    row(...[...kept(5, EOS), pad, pad, pad, pad].slice(0, 5)),
    row(...[...kept(6, 5, 4, EOS), pad, pad].slice(0, 5)),
    row(5, 6, 4, 6, 9),
  ];
  expect(told(cutAtStops(THREE, rows))).toEqual(CUT);
});

test('rows that were cut at a length, and rows of another text, are no evidence', () => {
  const short = [row(5, EOS, 9), row(6, 5, 4), row(5, 6, 4)];
  expect(cutAtStops(THREE, short)).toEqual(THREE);
  const other = [row(5, EOS, 8, 8, 2), row(6, 5, 2, 2, 3), row(5, 6, 4, 6, 9)];
  expect(cutAtStops(THREE, other)).toEqual(THREE);
});

test('an id that another row trains past is no stop', () => {
  const rows = [row(5, EOS, PAD, PAD, PAD), row(6, 5, 4, EOS, 6), row(5, 6, PAD, PAD, PAD)];
  expect(cutAtStops(THREE, rows)).toEqual(THREE);
});

test('a sampler whose stops are known is left as it is', () => {
  const known = THREE.map((each) => ({ ...each, eosTokenIds: [2] }));
  expect(cutAtStops(known, [row(5, EOS, PAD, PAD, PAD), row(6, 5, 4, EOS, PAD)])).toEqual(known);
});
