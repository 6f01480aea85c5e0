// Numbers at the tokens of a mask, as entropies and exact KLs are: which of them are wrong, and what is said of it.
import {
  type Band,
  type Finding,
  type Matrix,
  maskedMean,
  numberFinding,
  type Role,
  type Subject,
  show,
  stripOf,
} from '../../src/index.ts';

/** (B, T) each. */
export interface Masked {
  readonly input_ids: Matrix;
  readonly completion_mask: Matrix;
}

/** Whether the mask has the token. */
export const counts = ({ completion_mask }: Pick<Masked, 'completion_mask'>, row: number, t: number) =>
  completion_mask[row]?.[t] === 1;

/** The largest finite logit, whatever its sign; 0 of none. */
export function largestOf(logits: readonly Matrix[]): number {
  let largest = 0;
  for (const rows of logits)
    for (const row of rows)
      for (const z of row) if (Number.isFinite(z)) largest = Math.max(largest, Math.abs(z));
  return largest;
}

/** [row, column] of tokens in the mask whose numbers do not fit. */
export function wrongTokens(
  args: Pick<Masked, 'completion_mask'>,
  fits: (observed: number | undefined, expected: number | undefined) => boolean,
  observed: Matrix,
  expected: Matrix,
): [number, number][] {
  return args.completion_mask.flatMap((row, at) =>
    row.flatMap((_, t): [number, number][] =>
      counts(args, at, t) && !fits(observed[at]?.[t], expected[at]?.[t]) ? [[at, t]] : [],
    ),
  );
}

export interface WrongTokens {
  readonly roles: readonly (readonly Role[])[];
  /** At least one; the first one's row is shown. */
  readonly wrong: readonly (readonly [number, number])[];
  readonly observed: Matrix;
  readonly expected: Matrix;
  readonly band: Band;
  /** Of the first one. */
  readonly sentence: string;
  /** Default: "value". */
  readonly kind?: string | undefined;
}

export function wrongTokensFinding(subject: Subject, args: Masked, told: WrongTokens): Finding {
  const { roles, wrong, observed, expected, band, sentence, kind = 'value' } = told;
  const row = wrong[0]?.[0] ?? 0;
  const only = (values: Matrix): (number | undefined)[] =>
    (values[row] ?? []).map((value, t) => (counts(args, row, t) ? value : undefined));
  return numberFinding({
    kind,
    sentence,
    band,
    pairs: wrong.map(([at, t]) => ({
      where: `row ${at}, token ${t}`,
      expected: expected[at]?.[t],
      observed: observed[at]?.[t],
    })),
    strips: [
      stripOf(subject, {
        row,
        ids: args.input_ids[row] ?? [],
        roles: roles[row] ?? [],
        tracks: { expected: only(expected), observed: only(observed) },
        marks: wrong.flatMap(([at, t]) => (at === row ? [t] : [])),
        shown: 'ids',
      }),
    ],
  });
}

/** Over tokens, or over rows of each row's mean, where a row without tokens counts 0 or is left out: all are in use. */
export function meansOf(values: Matrix, mask: Matrix): number[] {
  const rows = values.map((row, at) => maskedMean([row], [mask[at] ?? []]));
  const filled = rows.filter((mean) => !Number.isNaN(mean));
  const sum = filled.reduce((total, mean) => total + mean, 0);
  return [maskedMean(values, mask), sum / rows.length, sum / filled.length];
}

/** `noun`: "entropy"; `when` ends the sentence. */
export function wrongMeanFinding(
  { completion_mask }: Pick<Masked, 'completion_mask'>,
  told: {
    readonly noun: string;
    readonly when?: string;
    readonly observed: number;
    readonly mean: number | undefined;
    readonly band: Band;
  },
): Finding {
  const { noun, when = '', observed, mean, band } = told;
  const tokens = completion_mask.flat().filter((on) => on === 1).length;
  return numberFinding({
    kind: 'mean',
    sentence: `The mean ${noun} is ${show(observed)}; over the ${tokens} tokens in the mask it is ${show(mean)}${when}.`,
    band,
    pairs: [{ where: 'mean', expected: mean, observed }],
    note: 'A mean over rows of the mean of each row is accepted, too.',
  });
}
