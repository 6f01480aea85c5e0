// How per-token numbers are whitened: whether their mean is subtracted, and the degrees of freedom of the deviation.
// They lie so far apart that no epsilon in the divisor shows.
import fc from 'fast-check';
import { describeWhitening, type WhitenVariant, whitened, whitenVariants } from '../../../reference/index.ts';
import type { Matrix } from '../../../vocabulary.ts';
import { bandOf } from '../../numbers.ts';
import { draw, misfitOf, type Probe, type Variant } from '../probe.ts';

interface WhitenWay extends Variant {
  readonly way: WhitenVariant;
}

export const whitening: Probe<Matrix> = {
  id: 'whitening',
  items: ['whiten_mean', 'whiten_ddof'],
  ops: ['whiten'],
  variants: async () =>
    whitenVariants({}).map(
      (way): WhitenWay => ({
        name: describeWhitening(way),
        items: { whiten_mean: way.mean === 'zero', whiten_ddof: way.ddof },
        way,
      }),
    ),
  // Rows without padding, one after the other: what is masked is another rule's business.
  cases: (_, drawn) => [...SPREAD, ...draw(values(), drawn)],
  async fits(subject, given, variants) {
    const mask = given.map((row) => row.map((_, t) => (t < PROMPT ? 0 : 1)));
    const args = { values: given, completion_mask: mask, prompt_width: PROMPT };
    const { values: observed } = await subject.ask('whiten', args);
    const band = bandOf(subject, given.flat().length);
    return (variants as readonly WhitenWay[]).map(({ way }) => {
      const expected = whitened(given, mask, way);
      const pairs = given.flatMap((row, b) =>
        row.flatMap((value, t) => {
          const where = `the whitened value of ${value} in row ${b} of [${given.map((each) => each.slice(PROMPT).join(', ')).join('], [')}]`;
          return t < PROMPT ? [] : [{ where, expected: expected[b]?.[t], observed: observed[b]?.[t] }];
        }),
      );
      return misfitOf(pairs, (want) => Math.max(band.allowed(want), SHARE_UNSEEN * Math.abs(want)));
    });
  },
};

const PROMPT = 1;
/** An epsilon of 1e-3 moves a deviation of 16 by less than 1e-4 of itself. */
const SHARE_UNSEEN = 3e-4;
/** Two to four values, where one degree of freedom is most; means that are 0 nowhere. */
const SPREAD: readonly Matrix[] = [
  [[0, 64, -32]],
  [
    [0, 96, 32, 16],
    [0, -128, -64, 48],
  ],
  [
    [0, 16],
    [0, 80],
    [0, 144],
  ],
];

function values(): fc.Arbitrary<Matrix> {
  const value = fc.integer({ min: -16, max: 16 }).map((n) => 8 * n + 0);
  const row = (width: number): fc.Arbitrary<number[]> =>
    // A last value well off keeps every deviation large.
    fc.array(value, { minLength: width, maxLength: width }).map((drawn) => [0, ...drawn, 256]);
  return fc
    .integer({ min: 1, max: 2 })
    .chain((width) => fc.array(row(width), { minLength: 1, maxLength: 3 }));
}
