// What the properties of the loss of labelled completions share: their requests, when its formula is known, and what rounding
// makes of it.
import {
  type Args,
  type DType,
  formulaOf,
  knownFormula,
  type Labelled,
  type LabelledRow,
  labelledRowLabels,
  type Need,
  type UnpairedSettings,
  unpairedSettings,
  type World,
} from '../../../src/index.ts';

export type Request = Args<'unpaired_preference_loss'>;

export const base = {
  stage: 'unpaired_preference_loss',
  level: 'must',
  ops: ['unpaired_preference_loss'],
  labels: labelledRowLabels,
} as const;
export const coverage = {
  'several rows': 0.3,
  'both kinds of rows': 0.2,
  'one kind of rows': 0.2,
  'a KL above 0': 0.2,
  'a KL below 0': 0.2,
};

export const argsOf = ({ rows }: Labelled): Request => ({
  logprobs: rows.map(({ tokens }) => tokens.map(({ logprob }) => logprob)),
  ref_logprobs: rows.map(({ tokens }) => tokens.map(({ ref }) => ref)),
  desirable: rows.map(({ desirable }) => (desirable ? 1 : 0)),
  kl_logprobs: rows.map(({ kl }) => kl.map(({ logprob }) => logprob)),
  ref_kl_logprobs: rows.map(({ kl }) => kl.map(({ ref }) => ref)),
});

export const each = ({ rows }: Labelled, change: (row: LabelledRow) => Partial<LabelledRow>): Labelled => ({
  rows: rows.map((row) => ({ ...row, ...change(row) })),
});

/** Its formula is one of the protocol's, whatever its numbers. */
export const FORMULA: readonly Need[] = [formulaOf(['unpaired_preference_loss'])];
/** And its numbers are known. */
export const KNOWN: readonly Need[] = [...FORMULA, knownFormula('unpaired_preference_loss')];

/** A rounding of these formats; the bands of the others leave room for it. */
const ROUNDING: { readonly [K in DType]?: number } = { bfloat16: 2 ** -8, float16: 2 ** -11 };

/** How far off a log-ratio less the KL may be: a small difference of large sums, each rounded at its own size. */
export function blur({ hello }: World, args: Request): number {
  const all = [args.logprobs, args.ref_logprobs, args.kl_logprobs, args.ref_kl_logprobs].flat(2);
  return (ROUNDING[hello.dtype ?? 'float32'] ?? 0) * all.reduce((sum, value) => sum + Math.abs(value), 0);
}

/** What that makes of a row's loss: the sigmoid is nowhere steeper than 1/4. */
export function slackOf(world: World, args: Request, settings: UnpairedSettings): number {
  const { beta, desirableWeight, undesirableWeight } = settings;
  return (blur(world, args) * beta * Math.max(desirableWeight, undesirableWeight)) / 4;
}

/** Likewise where the numbers are those that are declared or measured; 0 where they are not known. */
export function slackIn(world: World, args: Request): number {
  const settings = unpairedSettings(world.semantics);
  return settings === undefined ? 0 : slackOf(world, args, settings);
}
