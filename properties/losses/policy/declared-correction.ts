// The correction for what an inference engine sampled, against the one that the trainer declares. One that was only measured may
// be something else that looks like it: GSPO of OpenRLHF clips the ratio to the engine. What holds of every correction is in
// corrections.ts.
import {
  type Args,
  bandOf,
  correctionFactors,
  correctionOf,
  decisive,
  denominatorsOfKept,
  discard,
  ESTIMATED_NOTE,
  type Property,
  show,
  type Tracks,
  tracks,
} from '../../../src/index.ts';
import { advantagePart, base, coverage, whole } from './loss.ts';
import { engineOffered } from './sampling-gap.ts';

/** In nats: this near to a cap rounding decides whether a token is left out. */
const NEAR = 1 / 256;

const ITEMS = [
  'sampling_correction',
  'sampling_correction_level',
  'sampling_correction_low',
  'sampling_correction_high',
] as const;

const asDeclared: Property<Tracks> = {
  ...base,
  id: 'loss/corrects-for-the-engine-as-declared',
  title: 'A token weighs what the declared correction for the inference engine makes of it',
  why: 'A cap in nats, a ratio per row that was meant per token, or a correction that is switched off trains another objective under the same name.',
  catches: ['LP-22'],
  needs: [
    ...engineOffered,
    ({ hello: { semantics = {} } }) =>
      correctionOf(semantics) === undefined
        ? `semantics.${ITEMS.filter((item) => semantics[item] === undefined).join(', semantics.')} not declared`
        : undefined,
  ],
  given: () => tracks({ noEmptyRows: true, someAdvantage: true }),
  coverage,
  async check(subject, drawn) {
    const correction = correctionOf(subject.hello.semantics ?? {}) ?? discard('no correction is declared');
    const args = whole(drawn);
    // On policy and at the reference, so that nothing but the gap moves a weight; the case's behaviour policy is the engine.
    const onPolicy: Args<'loss'> = { ...args, old_logprobs: args.logprobs, ref_logprobs: args.logprobs };
    const columns = args.completion_mask.map((mask) => mask.flatMap((on, t) => (on === 1 ? [t] : [])));
    const gaps = columns.map((of, b) =>
      of.map((t) => (args.logprobs[b]?.[t] ?? 0) - (args.old_logprobs[b]?.[t] ?? 0)),
    );
    const { kind, level, low, high } = correction;
    const near = (gap: number): boolean => [low, high].some((cap) => Math.abs(gap - Math.log(cap)) < NEAR);
    if ((kind === 'masked' || kind === 'filtered') && gaps.some((row) => decisive(row, level).some(near)))
      return discard('a ratio stands at a cap');
    const plain = await advantagePart(subject, { ...onPolicy, sampling_logprobs: args.logprobs });
    const beside = await advantagePart(subject, { ...onPolicy, sampling_logprobs: args.old_logprobs });
    const factors = gaps.map((row) => correctionFactors(row, correction));
    const band = bandOf(subject, args.completion_mask.flat().length);
    const zero = Math.max(plain.zero, beside.zero);
    const offUnder = (share: (row: number) => number) => {
      for (const [row, of] of columns.entries()) {
        for (const [at, column] of of.entries()) {
          const expected = plain.part(row, column) * (factors[row]?.[at] ?? 0) * share(row);
          const observed = beside.part(row, column);
          if (!(Math.abs(observed - expected) <= Math.max(zero, band.allowed(expected))))
            return { row, column, expected, observed, gap: gaps[row]?.[at] ?? 0 };
        }
      }
      return undefined;
    };
    const offs = denominatorsOfKept(factors).map(offUnder);
    const [off] = offs;
    if (off === undefined || offs.includes(undefined)) return undefined;
    return {
      kind: 'correction',
      sentence: `The trainer gives token ${off.column} of row ${off.row} a log-probability ${show(Math.abs(off.gap))} ${off.gap < 0 ? 'below' : 'above'} the engine's; its gradient is ${show(off.observed)}, and the declared correction makes it ${show(off.expected)}.`,
      note: `${ITEMS.map((item) => `${item} ${subject.hello.semantics?.[item] ?? 'none'}`).join(', ')}. ${beside.ahead.estimated ? ESTIMATED_NOTE : band.reason}`,
    };
  },
};

export const declaredCorrection: readonly Property<Tracks>[] = [asDeclared];
