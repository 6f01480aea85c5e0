// Rows of nothing but padding, which make the number of packed rows divisible: no rule takes one for a row of data, and none of them
// hides what is wrong with a row of data.
import { expect, test } from 'vitest';
import type { Args, Ok, PropertyResult } from '../../../src/index.ts';
import { legal } from '../../conformance/legal.ts';
import { filled } from '../../conformance/rows/filler-rows.ts';
import { type Pack, packing } from '../../conformance/rows/truncation.ts';
import { judgedBy } from './judged.ts';

const LONG = 'pack/long-examples-are-whole';
const RULES = [
  LONG,
  'pack/positions-restart',
  'pack/segments-are-the-examples',
  'pack/labels-stay-with-their-tokens',
  'pack/examples-are-whole',
];

const judged = (pack: Pack): Promise<readonly PropertyResult[]> =>
  judgedBy(RULES, legal('fills', { pack }).trainer, { coverage: {} });

const wrong = (results: readonly PropertyResult[]): string[] =>
  results.flatMap(({ id, verdict }) => (['pass', 'skipped'].includes(verdict) ? [] : [`${id}: ${verdict}`]));

const withAll = packing({
  counting: true,
  shown: ({ positions, segments, lengths }) => ({
    position_ids: positions,
    segment_ids: segments,
    segment_lengths: lengths,
  }),
});
const withPositions = packing({ counting: true, shown: ({ positions }) => ({ position_ids: positions }) });

test.each<[string, Pack]>([
  ['one behind the rows', filled(packing())],
  ['some up to a multiple of 8, with positions of 0', filled(withPositions, { multiple: 8 })],
  ['some before and behind the rows', filled(withAll, { multiple: 3, place: 'both' })],
  [
    'one that is a segment of its own',
    filled(withAll, { place: 'before', segment: 1, lengths: (width) => [width], position: (t) => t }),
  ],
])('a packer may add rows of padding: %s', async (_, pack) => {
  expect(wrong(await judged(pack))).toEqual([]);
});

/** Each example is handed on without what stands behind token `most`. */
const cutting =
  (most: number): Pack =>
  (args: Args<'pack'>): Ok<'pack'> =>
    packing()({
      ...args,
      input_ids: args.input_ids.map((ids) => ids.slice(0, most)),
      labels: args.labels.map((row) => row.slice(0, most)),
    });
/** Padding behind an example is at position 0 throughout, and nothing else tells where it begins. */
const zeros = packing({ shown: ({ positions }) => ({ position_ids: positions }) });
const shifted = packing({
  shown: ({ segments }) => ({ segment_ids: segments.map((row) => row.map((_, at) => row[at - 1] ?? 0)) }),
});

test.each<[string, Pack, string]>([
  ['cuts long examples', filled(cutting(1024)), `${LONG}: ask`],
  ['cuts long examples, with filler before them,', filled(cutting(700), { place: 'before' }), `${LONG}: ask`],
  ['has positions of 0 behind its examples', filled(zeros), 'pack/positions-restart: fail'],
  ['has segments that are one column late', filled(shifted), 'pack/segments-are-the-examples: fail'],
  ['trains its filler', filled(packing(), { label: 0 }), 'pack/labels-stay-with-their-tokens: fail'],
])('a packer with a row of padding that %s is found', async (_, pack, expected) => {
  expect(wrong(await judged(pack))).toContain(expected);
});

test('what is asked of a packer that cuts is true of the row that holds the example', async () => {
  const [result] = (await judged(filled(cutting(900), { multiple: 4 }))).filter(({ id }) => id === LONG);
  expect(result?.failure?.finding).toMatchObject({
    sentence:
      'An example of 4,200 tokens and one of 4,900 are both rows of 900 tokens: the end of what is longer is cut off.',
    answers: ['"cut_at": [900]  (it is meant)'],
  });
});
