// What a run trains, told by all that it logs: a KL, a share of clipping and a loss of 0 mean other things where no policy
// samples.
import type { RuleWorld, Series, SeriesRole } from '../../src/index.ts';
import { hasRollouts, OF_ROLLOUTS, ofAllSeries, someSeries } from './world.ts';

/** What a policy has beside its KL and its clipping, which other objectives have as well. */
const OF_POLICY = new Set<SeriesRole>(
  [...OF_ROLLOUTS].filter((role) => role !== 'kl' && role !== 'clip_fraction' && role !== 'value_loss'),
);
const POLICY_WORDS =
  /reward|return|score|advantage|policy|actor|completion|response|rollout|episod|(?:^|[/_])(?:ref|pg|adv|ep)(?:$|[/_])/i;
const PREFERENCES = /(?:^|\/)(?:rewards\/(?:chosen|rejected|margins|accuracies)|logps\/\w+)$/i;
const NO_POLICY = /recon|elbo|(?:^|[/_])vae|distil|teacher|student/i;

/** False where a run trains a loss and nothing says that it samples from a policy. */
export const isPolicyRun = ofAllSeries(
  (world) =>
    hasPolicyRoles(world) ||
    someSeries(world, ({ name }) => POLICY_WORDS.test(name) && !PREFERENCES.test(name)) ||
    !someSeries(world, ({ role, evaluation }) => !evaluation && (role === 'loss' || role === 'sft_loss')),
);

/**
 * That of a latent code or of a student has another scale, and may be a sum; that of preferences is of whole
 * completions.
 */
export const isPolicyKl = ofAllSeries(
  (world) =>
    hasPolicyRoles(world) ||
    (isPolicyRun(world) && !someSeries(world, ({ name }) => NO_POLICY.test(name) || PREFERENCES.test(name))),
);

/** Losses with a margin are exactly 0, and so is their gradient, once each pair is apart. */
export const hasMargins = ofAllSeries((world) => someSeries(world, ({ name }) => MARGINS.test(name)));

const MARGINS = /margin|hinge|triplet|(?:^|\/)rewards\/(?:chosen|accuracies)$/i;

/** Its loss is one of a policy, whose size means nothing; a distillation logs a KL as well, and is supervised. */
export function isReinforced(world: RuleWorld): boolean {
  return hasRollouts(world) && isPolicyRun(world);
}

function hasPolicyRoles(world: RuleWorld): boolean {
  return someSeries(world, ({ role }) => role !== undefined && OF_POLICY.has(role));
}

export type RunKind = 'supervised training' | 'training on preferences' | 'reinforcement learning';

/** Undefined: nothing that it logs tells. */
export function kindOfRun(world: RuleWorld): RunKind | undefined {
  if (someSeries(world, ({ name }) => OF_PAIRS.test(name))) return 'training on preferences';
  if (isReinforced(world)) return 'reinforcement learning';
  const losses = ({ role, evaluation }: Series): boolean =>
    !evaluation && (role === 'loss' || role === 'sft_loss');
  return someSeries(world, losses) ? 'supervised training' : undefined;
}

const OF_PAIRS = /(?:^|[/_])rewards\/(?:chosen|margins)$/i;
