// What the arguments of the script's trainer, or the user, say about weights. What is not said here is not held against
// anybody.
import type { LossAggregation, Settings } from '../../../src/index.ts';

/** How per-token losses become one number, as somebody declared it. */
export interface DeclaredAggregation {
  readonly aggregation: LossAggregation;
  /** Each micro-batch has its own denominator, and that is meant. */
  readonly local: boolean;
  /** Who says so, for people. */
  readonly from: string;
  /** The user said it in so many words; a trainer's class says it only as long as nobody hands it a loss of their own. */
  readonly explicit: boolean;
}

/** Trainers whose rows are a group of completions a prompt, with one advantage each, less the group's baseline. */
const GROUP_RELATIVE = new Set(['GRPOTrainer', 'RLOOTrainer']);

/** How supervised rows are aggregated, as declared. With DFT tokens have weights of their own, which add up to no known number. */
export function supervisedAggregation(settings: Settings): DeclaredAggregation | undefined {
  const { sft_aggregation: aggregation, sft_objective, loss_normalization } = settings.semantics;
  if (aggregation === undefined || sft_objective === 'dft') return undefined;
  return {
    aggregation,
    local: loss_normalization === 'local',
    from: fromOf(settings),
    explicit: settings.from.some((each) => /^--semantics.*\bsft_aggregation/.test(each)),
  };
}

/** How the rows of a policy gradient are aggregated, as declared. */
export function policyAggregation(settings: Settings): DeclaredAggregation | undefined {
  const { loss_aggregation: aggregation, loss_normalization } = settings.semantics;
  if (aggregation === undefined) return undefined;
  return { aggregation, local: loss_normalization === 'local', from: fromOf(settings), explicit: true };
}

/** Each process divides by its own tokens, and that is meant. */
export function ranksOnTheirOwn({ semantics, values }: Settings): boolean {
  return semantics.loss_normalization === 'local' || values.average_tokens_across_devices === false;
}

/** Who says that every completion has one advantage; undefined: nobody. */
export function groupRelative(settings: Settings): string | undefined {
  const { trainer, semantics } = settings;
  if (trainer !== undefined && GROUP_RELATIVE.has(trainer)) return trainer;
  const baseline = semantics.advantage_baseline;
  return baseline === 'group-mean' || baseline === 'leave-one-out' ? fromOf(settings) : undefined;
}

/** The trainer is a known one that takes no policy gradient: what it scores need not be what was sampled from. */
export function otherTrainer({ trainer }: Settings): boolean {
  return trainer !== undefined && !GROUP_RELATIVE.has(trainer);
}

/** Why tokens of one completion may weigh differently all the same; undefined: they may not. */
export function perTokenTerm({ values, semantics }: Settings): string | undefined {
  const quantile = values.top_entropy_quantile;
  if (typeof quantile === 'number' && quantile < 1)
    return 'top_entropy_quantile leaves tokens of low entropy out';
  if (isSet(values.entropy_coef) || isSet(values.use_adaptive_entropy) || isSet(semantics.entropy_coef))
    return 'an entropy bonus is added';
  if (isSet(values.use_vllm)) return 'each token is corrected by its ratio to the inference engine';
  return undefined;
}

/** The coefficient of the KL term in the loss; undefined: nobody says. */
export function betaOf({ semantics }: Settings): number | undefined {
  return semantics.kl_placement === 'reward' ? 0 : semantics.kl_coef;
}

/** Where declarations are known from, for people. */
export function fromOf({ from }: Settings): string {
  return from.length === 0 ? 'the settings' : from.join(', ');
}

/** Given, and not off. */
const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== false && value !== 0;
