// KL to the reference policy, token by token or as a mean over completion tokens. Which estimator, clamp and ratio
// correction is the trainer's choice: declared ones are held to, undeclared ones may be any that fits every number.
import {
  type Args,
  answersOf,
  bandOf,
  causeIn,
  causeOf,
  causeWords,
  describeKl,
  discard,
  type Finding,
  type KlEstimator,
  type KlVariant,
  klMistakes,
  klPerToken,
  type LaidTracks,
  type LayOptions,
  layTracks,
  type Matrix,
  maskedMean,
  numberFinding,
  type Ok,
  type Property,
  type Role,
  richest,
  type Subject,
  show,
  stripOf,
  type Tracks,
  trackLabels,
  tracks,
  type World,
  type WrongKl,
} from '../../src/index.ts';
import { variantsOf } from './kl-variants.ts';

export interface Asked {
  readonly laid: LaidTracks;
  readonly answer: Ok<'kl'>;
}

export async function ask(
  subject: Subject,
  drawn: Tracks,
  estimator: KlEstimator | undefined,
  options: LayOptions = {},
): Promise<Asked> {
  const laid = layTracks(drawn, options);
  const { logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width } = laid;
  const args: Args<'kl'> = {
    logprobs,
    old_logprobs,
    ref_logprobs,
    completion_mask,
    prompt_width,
    ...(estimator === undefined ? {} : { kl_estimator: estimator }),
  };
  return { laid, answer: await subject.ask('kl', args) };
}

/** The estimators to ask for by name, or one request without a name. */
export const estimators = (world: World): readonly (KlEstimator | undefined)[] =>
  world.hello.ops.kl?.kl_estimator ?? [undefined];

export const isCompletion = (laid: LaidTracks, row: number, column: number): boolean =>
  laid.roles[row]?.[column] === 'completion';

/** Observed numbers against one variant: where they differ. */
function differences(
  subject: Subject,
  { laid, answer }: Asked,
  expected: Matrix,
  mean?: number,
): { row: number; column: number; expected: number; observed: number }[] {
  const inMean = differentMean(subject, { laid, answer }, expected, mean);
  if (answer.kl === undefined) return inMean;
  const band = bandOf(subject);
  const inTokens = laid.roles.flatMap((roles, row) =>
    roles.flatMap((_, column) => {
      const [want, observed] = [
        expected[row]?.[column] ?? Number.NaN,
        answer.kl?.[row]?.[column] ?? Number.NaN,
      ];
      return isCompletion(laid, row, column) && !band.close(observed, want)
        ? [{ row, column, expected: want, observed }]
        : [];
    }),
  );
  return [...inTokens, ...(answer.mean_kl === undefined ? [] : inMean)];
}

/** The mean, in any of the ways in use, as a difference at column -1. */
function differentMean(subject: Subject, { laid, answer }: Asked, expected: Matrix, only?: number) {
  const observed = answer.mean_kl ?? Number.NaN;
  const band = bandOf(subject, laid.tokens);
  const [want = Number.NaN, ...others] =
    only === undefined ? meansOf(expected, laid.completion_mask) : [only];
  const fits = [want, ...others].some((mean) => band.close(observed, mean));
  return fits ? [] : [{ row: 0, column: -1, expected: want, observed }];
}

/** Over tokens, or over rows of each row's mean, where a row without tokens counts 0 or is left out: all are in use. */
function meansOf(values: Matrix, mask: Matrix): number[] {
  const rows = values.map((row, at) => maskedMean([row], [mask[at] ?? []]));
  const filled = rows.filter((mean) => !Number.isNaN(mean));
  const sum = filled.reduce((total, mean) => total + mean, 0);
  return [maskedMean(values, mask), sum / rows.length, sum / filled.length];
}

const perToken = ({ laid }: Asked, variant: KlVariant): Matrix =>
  klPerToken(laid.logprobs, laid.ref_logprobs, laid.old_logprobs, variant, laid.completion_mask);

const fitOf = (subject: Subject, asked: Asked, variant: KlVariant) =>
  differences(subject, asked, perToken(asked, variant));

export const base = { stage: 'kl', level: 'must', ops: ['kl'], labels: trackLabels } as const;

const equals: Property<Tracks> = {
  ...base,
  id: 'kl/equals-the-estimator',
  title: 'KL on completion tokens is the declared estimator (or, undeclared, one of the known ones)',
  why: 'A reversed sign or direction pushes the policy away from the reference while the log shows a KL.',
  catches: ['KL-01', 'KL-03', 'KL-06', 'KL-08', 'KL-13'],
  settles: ['kl_estimator', 'kl_clamp', 'kl_ratio_correction'],
  // How far a KL is clamped is asked where it is declared. Half precision ends before the exponential of that.
  given: ({ hello, semantics }) =>
    tracks({
      farReference:
        semantics.kl_clamp !== undefined && hello.dtype !== 'float16' && hello.dtype !== 'bfloat16',
    }),
  coverage: { 'several rows': 0.3, 'unequal completions': 0.3 },
  async check(subject, drawn) {
    for (const estimator of estimators(subject)) {
      const asked = await ask(subject, drawn, estimator);
      const variants = variantsOf(subject, estimator);
      const fits = variants.map((variant) => ({ variant, wrong: fitOf(subject, asked, variant) }));
      if (fits.some(({ wrong }) => wrong.length === 0)) continue;
      const closest = fits.sort(
        (a, b) => a.wrong.length - b.wrong.length || distance(a.wrong) - distance(b.wrong),
      )[0];
      if (closest === undefined)
        return discard('no KL variant is compatible with what is declared', 'trainer');
      const { variant, wrong } = closest;
      const [first] = wrong;
      if (first === undefined) continue;
      const cause = await explained(subject, estimator, variants);
      const where =
        first.column < 0 ? 'the mean over completion tokens' : `token ${first.column} of row ${first.row}`;
      return numberFinding({
        kind: 'value',
        sentence: `KL of ${where} is ${show(first.observed)}; ${describeKl(variant)} gives ${show(first.expected)}.${causeWords(cause)}`,
        band: bandOf(subject),
        pairs: wrong.map(({ row, column, expected, observed }) => ({
          where: column < 0 ? 'mean' : `row ${row}, token ${column}`,
          expected,
          observed,
        })),
        strips:
          first.column < 0
            ? []
            : [
                klStrip(
                  subject,
                  asked,
                  variant,
                  first.row,
                  wrong
                    .filter(({ row, column }) => row === first.row && column >= 0)
                    .map(({ column }) => column),
                ),
              ],
        ...(estimator === undefined && cause?.proven !== true
          ? answersOf(subject, 'kl', ['kl_estimator'], { kl_estimator: variant.estimator })
          : {}),
        ...(await answersOfRows(subject, estimator)),
        note:
          variants.length > 1
            ? `None of the ${variants.length} variants that the declared semantics allow fits; this one is closest.`
            : 'This is what the trainer declares.',
      });
    }
    return undefined;
  },
};

/** A known mistake that explains every number of a rich case, under any of the variants. */
const explained = (subject: Subject, estimator: KlEstimator | undefined, variants: readonly KlVariant[]) =>
  causeIn(async () => {
    const rich = richest(tracks({ minRows: 2 }));
    if (rich === undefined) return undefined;
    const asked = await ask(subject, rich, estimator);
    return causeOf(
      variants.flatMap((variant) => klMistakes(asked.laid, variant)),
      ({ kl, mean }: WrongKl) => differences(subject, asked, kl, mean).length === 0,
      variants.map((variant) => ({ kl: perToken(asked, variant) })),
    );
  });

/** An estimate of each row's log-ratios fits a rich case: legal where it is meant, and nobody has said so. */
const answersOfRows = (subject: Subject, estimator: KlEstimator | undefined) =>
  causeIn(async (): Promise<Pick<Finding, 'answers'> | undefined> => {
    const rich = subject.semantics.kl_level === undefined ? richest(tracks({ minRows: 2 })) : undefined;
    if (rich === undefined) return undefined;
    const asked = await ask(subject, rich, estimator);
    const semantics = { ...subject.semantics, kl_level: 'sequence' } as const;
    const fits = variantsOf({ ...subject, semantics }, estimator).some(
      (variant) => fitOf(subject, asked, variant).length === 0,
    );
    return fits ? { answers: ['"kl_level": "sequence"'] } : undefined;
  });

const distance = (wrong: readonly { expected: number; observed: number }[]): number =>
  wrong.reduce((sum, { expected, observed }) => sum + Math.abs(expected - observed), 0);

function klStrip(
  subject: Subject,
  { laid, answer }: Asked,
  variant: KlVariant,
  row: number,
  marks: readonly number[],
) {
  const expected = klPerToken(
    laid.logprobs,
    laid.ref_logprobs,
    laid.old_logprobs,
    variant,
    laid.completion_mask,
  )[row];
  const roles: readonly Role[] = laid.roles[row] ?? [];
  const only = (values: readonly number[] | undefined): (number | undefined)[] =>
    roles.map((role, column) => (role === 'completion' ? values?.[column] : undefined));
  return stripOf(subject, {
    row,
    ids: laid.ids[row] ?? [],
    roles,
    tracks: {
      logprob: only(laid.logprobs[row]),
      ref: only(laid.ref_logprobs[row]),
      expected: only(expected),
      observed: only(answer.kl?.[row]),
    },
    marks,
    shown: 'columns',
  });
}

const neverNegative: Property<Tracks> = {
  ...base,
  id: 'kl/k2-and-k3-are-never-negative',
  title: 'The k2, k3 and abs estimates are never negative, token by token and in the mean',
  why: 'A negative KL rewards the policy for leaving the reference.',
  catches: ['KL-13', 'KL-01', 'KL-08'],
  needs: [
    (world) => {
      const asked = estimators(world);
      const declared = world.semantics.kl_estimator;
      if (asked.some((name) => (name ?? declared ?? 'k1') !== 'k1')) return undefined;
      if (asked.includes('k1')) return 'op `kl` offers k1 alone, and k1 may be negative';
      return declared === undefined
        ? 'semantics.kl_estimator is not declared, and k1 may be negative'
        : 'semantics.kl_estimator is "k1", and k1 may be negative';
    },
  ],
  given: () => tracks(),
  async check(subject, drawn): Promise<Finding | undefined> {
    for (const estimator of estimators(subject)) {
      if ((estimator ?? subject.semantics.kl_estimator) === 'k1') continue;
      const { laid, answer } = await ask(subject, drawn, estimator);
      const least = -bandOf(subject).absolute;
      if (answer.mean_kl !== undefined && !(answer.mean_kl >= least))
        return {
          kind: 'negative',
          sentence: `The mean KL is ${answer.mean_kl}; ${estimator ?? subject.semantics.kl_estimator} is never negative.`,
        };
      for (const [row, values] of (answer.kl ?? []).entries()) {
        const column = values.findIndex((value, at) => isCompletion(laid, row, at) && !(value >= least));
        if (column >= 0)
          return {
            kind: 'negative',
            sentence: `KL of token ${column} of row ${row} is ${values[column]}; ${estimator ?? subject.semantics.kl_estimator} is never negative.`,
          };
      }
    }
    return undefined;
  },
};

export const klProperties: readonly Property<Tracks>[] = [equals, neverNegative];
