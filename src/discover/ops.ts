// The ops whose answer can be a function of its arguments alone, and the property of each without which nothing is proved. What
// needs a model, a tokenizer, a sampler or a loop is never proposed.
import type { Op } from '../protocol/message.ts';
import type { ItemName, Layout, Semantics } from '../vocabulary.ts';

export interface Proof {
  readonly op: Op;
  /** Must have been judged, and hold. */
  readonly property: string;
  /** Where tracks live; each is tried in turn. Null: the op has none among its arguments. */
  readonly layouts: readonly (Layout | null)[];
  /** What of the variant must have been told: what fits each case in another way is none that is known. */
  readonly told?: readonly ItemName[];
  /** Declared while cases are drawn. */
  readonly capability?: Readonly<Record<string, unknown>>;
}

const ROW: Layout = { alignment: 'token', span: 'row' };
const COMPLETION: Layout = { alignment: 'token', span: 'completion' };
const TRACKS: readonly Layout[] = [ROW, COMPLETION];
const NONE: readonly null[] = [null];

export const PROOFS: readonly Proof[] = [
  { op: 'logprobs', property: 'logprobs/equal-the-reference', layouts: NONE },
  { op: 'entropy', property: 'entropy/equals-the-definition', layouts: NONE },
  { op: 'full_kl', property: 'kl/over-the-vocabulary-equals-the-definition', layouts: NONE },
  { op: 'kl', property: 'kl/equals-the-estimator', layouts: TRACKS, told: ['kl_estimator'] },
  { op: 'gae', property: 'gae/equals-the-sum-of-deltas', layouts: TRACKS },
  { op: 'whiten', property: 'advantages/whitening-gives-deviation-1', layouts: TRACKS },
  { op: 'token_rewards', property: 'token_rewards/add-up-to-the-score-less-the-kl', layouts: TRACKS },
  {
    op: 'advantages',
    property: 'advantages/equal-the-declared-formula',
    layouts: NONE,
    told: ['advantage_baseline', 'advantage_scaling'],
    capability: { group_size: 4 },
  },
  { op: 'clip_advantages', property: 'advantages/clipping-bounds-what-is-outside', layouts: NONE },
  { op: 'loss', property: 'loss/equals-the-declared-formula', layouts: TRACKS },
  { op: 'value_loss', property: 'value-loss/equals-the-reference', layouts: TRACKS },
  { op: 'sft_loss', property: 'sft-loss/equals-the-reference', layouts: NONE },
  { op: 'preference_loss', property: 'preference_loss/equals-the-objective', layouts: NONE },
  { op: 'mask', property: 'mask/every-completion-token-is-trained', layouts: NONE },
  { op: 'collate', property: 'collate/rows-survive', layouts: NONE },
  { op: 'truncate', property: 'truncate/no-row-above-the-limit', layouts: NONE },
  {
    op: 'penalties',
    property: 'penalties/equal-the-definition',
    layouts: NONE,
    capability: { kinds: ['presence', 'frequency', 'repetition'] },
  },
  {
    op: 'sampling',
    property: 'sampling/equals-the-definition',
    layouts: NONE,
    capability: { processors: ['temperature', 'top_k', 'top_p'] },
  },
  { op: 'pack', property: 'pack/rows-are-made-of-the-examples', layouts: NONE },
  { op: 'overlong_penalty', property: 'reward/overlong-costs-more-with-length', layouts: NONE },
];

/**
 * Who breaks one of these rules alone is the op all the same, with a bug or a question. It is bound, and the flaw is shown: a batch
 * without a trained token, of which no formula speaks, and masks with gaps, which only conversations with tools have.
 */
export const isEdge = (broken: EdgeCase): boolean => isOfNothing(broken) || isOfGaps(broken);

interface EdgeCase {
  readonly property: string;
  readonly answers?: readonly string[];
}

export const isOfNothing = ({ property }: EdgeCase): boolean =>
  property.endsWith('/zero-without-trained-tokens');

const isOfGaps = ({ answers = [] }: EdgeCase): boolean =>
  answers.some((answer) => answer.startsWith('"single_turn": true'));

/**
 * Of level should in `check`, for the sake of trainers that mean something else; of a function that has the op's name, with a
 * formula that is published: DAPO's soft punishment, the reward of a token less its own KL, positions of packed examples as
 * attention kernels read them. Who breaks one of these is not bound.
 */
export const isPublished = ({ id }: { readonly id: string }): boolean => PUBLISHED.has(id);

const PUBLISHED = new Set([
  'pack/positions-restart',
  'reward/overlong-grows-evenly-over-the-buffer',
  'token_rewards/kl-stays-at-its-token',
]);

const ALWAYS_PLAIN = new Set<Op>([
  'clip_advantages',
  'overlong_penalty',
  'penalties',
  'sampling',
  'token_rewards',
  'truncate',
  'whiten',
]);

/**
 * Formulas so plain that much else is the same: a difference is a k1, a normalisation is an advantage over the batch. They
 * prove nothing that a name does not say.
 */
export function isPlain(op: Op, semantics: Semantics): boolean {
  const { kl_estimator, advantage_scaling, advantage_baseline, preference_objective, value_clip } = semantics;
  if (op === 'kl') return kl_estimator !== 'k3';
  if (op === 'advantages') return advantage_scaling !== 'group' && advantage_baseline !== 'leave-one-out';
  // Unclipped it is the mean of squares.
  if (op === 'value_loss') return value_clip === undefined || value_clip === null;
  if (op === 'preference_loss') return preference_objective === 'simpo' || preference_objective === 'hinge';
  return ALWAYS_PLAIN.has(op);
}
