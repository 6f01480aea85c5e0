// What a run trains, told by all that it logs: a KL, a share of clipping and a loss of 0 mean other things where no policy
// samples.
import type { RuleWorld, SeriesRole } from '../../src/index.ts';
import { hasRollouts, OF_ROLLOUTS, someSeries } from './world.ts';

/** What a policy has beside its KL and its clipping, which other objectives have as well. */
const OF_POLICY = new Set<SeriesRole>(
  [...OF_ROLLOUTS].filter((role) => role !== 'kl' && role !== 'clip_fraction' && role !== 'value_loss'),
);
const POLICY_WORDS =
  /reward|return|score|advantage|policy|actor|completion|response|rollout|episod|(?:^|[/_])(?:ref|pg|adv|ep)(?:$|[/_])/i;
const PREFERENCES = /(?:^|\/)(?:rewards\/(?:chosen|rejected|margins|accuracies)|logps\/\w+)$/i;
const NO_POLICY = /recon|elbo|(?:^|[/_])vae|distil|teacher|student/i;

const MARGINS = /margin|hinge|triplet|(?:^|\/)rewards\/(?:chosen|accuracies)$/i;
const OF_PAIRS = /(?:^|[/_])rewards\/(?:chosen|margins)$/i;

const hasPolicyRoles = someSeries(({ role }) => role !== undefined && OF_POLICY.has(role));
const namesPolicy = someSeries(({ name }) => POLICY_WORDS.test(name) && !PREFERENCES.test(name));
const namesOther = someSeries(({ name }) => NO_POLICY.test(name) || PREFERENCES.test(name));
const hasLoss = someSeries(({ role, evaluation }) => !evaluation && (role === 'loss' || role === 'sft_loss'));
const comparesPairs = someSeries(({ name }) => OF_PAIRS.test(name));

/** False where a run trains a loss and nothing says that it samples from a policy. */
export function isPolicyRun(world: RuleWorld): boolean {
  return hasPolicyRoles(world) || namesPolicy(world) || !hasLoss(world);
}

/**
 * That of a latent code or of a student has another scale, and may be a sum; that of preferences is of whole
 * completions.
 */
export function isPolicyKl(world: RuleWorld): boolean {
  return hasPolicyRoles(world) || (isPolicyRun(world) && !namesOther(world));
}

/** Losses with a margin are exactly 0, and so is their gradient, once each pair is apart. */
export const hasMargins = someSeries(({ name }) => MARGINS.test(name));

/** Its loss is one of a policy, whose size means nothing; a distillation logs a KL as well, and is supervised. */
export function isReinforced(world: RuleWorld): boolean {
  return hasRollouts(world) && isPolicyRun(world);
}

export type RunKind = 'supervised training' | 'training on preferences' | 'reinforcement learning';

/** Undefined: nothing that it logs tells. */
export function kindOfRun(world: RuleWorld): RunKind | undefined {
  if (comparesPairs(world)) return 'training on preferences';
  if (isReinforced(world)) return 'reinforcement learning';
  return hasLoss(world) ? 'supervised training' : undefined;
}
