// What public trainers and papers do on purpose, and what a measured value outside of it usually is: a mistake under a
// legal name. It judges nothing that is declared, and docs/practice.md prints it, a line per row.
import { CHOICES, type ItemName, type Semantics } from '../../vocabulary.ts';
import type { World } from '../property.ts';
import { type Doubt, declaration } from './doubt.ts';
import { BALANCE_PRACTICE } from './losses/practice/balance.ts';
import { CORRECTION_PRACTICE } from './losses/practice/correction.ts';
import { NORMALIZATION_PRACTICE } from './losses/practice/normalization.ts';
import { PREFERENCE_PRACTICE } from './losses/practice/preferences.ts';
import { CRITIC_PRACTICE } from './losses/practice/value.ts';
import { above, between, isNumber, type Practice } from './practice-row.ts';
import { type ItemValue, wordsOf } from './probe.ts';

/** What of `asked` was measured and is not what practice does; `measured` tells what else it does. */
export function doubtsOf(measured: Semantics, asked: ReadonlySet<ItemName>, world: World): Doubt[] {
  const found = { ...measured, ...world.semantics };
  return PRACTICE.flatMap((practice): Doubt[] => {
    const { item, weight, beyond, isBeyond = (value) => String(value) === beyond, why } = practice;
    const value = measured[item];
    if (value === undefined || !asked.has(item) || !isBeyond(value, found, world)) return [];
    const meant = `${declaration(item, value)}  (it is meant)`;
    const { usual } = CHOICES[item];
    const instead = usual === undefined ? [] : [`${declaration(item, usual)}  (it should be this)`];
    const sentence = `Measured, not declared: ${item} is ${wordsOf(value)}. ${why}`;
    return [{ item, weight, sentence, answers: [meant, ...instead] }];
  });
}

/** The numbers of a clamp, however it is said. */
const boundsIn = (value: ItemValue): readonly unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(boundsIn) : [value];

const clipped = ({ policy_objective }: Semantics): boolean => policy_objective !== 'cispo';

/** The most said first; of two rows about one value the first counts in the table, both are told. */
export const PRACTICE: readonly Practice[] = [
  {
    item: 'stop_token_in_mask',
    weight: 'ask',
    beyond: 'false',
    why: 'The stop token is never trained, so the model does not learn to end; where padding has its id, masking the padding masks it too.',
    source: 'https://github.com/huggingface/transformers/issues/23530',
  },
  {
    item: 'resumed_prefix_trained',
    weight: 'ask',
    beyond: 'false',
    why: 'Ids that were sampled before an interruption are not trained, so that the beginning of each long answer is left out of the loss.',
    source: 'https://github.com/THUDM/slime',
  },
  {
    item: 'clip_low',
    weight: 'ask',
    beyond: 'above 0.5, and clipped at all',
    isBeyond: (value, found) => clipped(found) && isNumber(value) && value > 0.5 && value < 1,
    why: 'The ratio may fall below half before it is clipped: often the bound itself (0.2) stands where 1 minus the bound is meant.',
    source: 'https://arxiv.org/abs/1707.06347',
  },
  {
    item: 'clip_high',
    weight: 'ask',
    beyond: 'above 1, and clipped at all',
    isBeyond: (value, found) => clipped(found) && above(1)(value),
    why: 'The ratio may more than double before it is clipped: often 1 plus the bound stands where the bound is meant.',
    source: 'https://arxiv.org/abs/2503.14476',
  },
  {
    item: 'clip_low',
    weight: 'ask',
    beyond: 'not clipped below, and clipped above',
    isBeyond: (value, found) =>
      clipped(found) &&
      value === Infinity &&
      isNumber(found.clip_high ?? null) &&
      found.clip_high !== Infinity,
    why: 'The ratio is bounded above and not below: a bad answer that has become unlikely is pushed down without end.',
    source: 'https://arxiv.org/abs/1707.06347',
  },
  {
    item: 'clip_high',
    weight: 'ask',
    beyond: 'not clipped above, and clipped below',
    isBeyond: (value, found) =>
      clipped(found) && value === Infinity && isNumber(found.clip_low ?? null) && found.clip_low !== Infinity,
    why: 'The ratio is bounded below and not above: a good answer is pushed up without end.',
    source: 'https://arxiv.org/abs/1707.06347',
  },
  {
    item: 'dual_clip',
    weight: 'ask',
    beyond: 'below 1.5',
    isBeyond: (value) => isNumber(value) && value < 1.5,
    why: 'The bound on the ratio of a bad answer stands within the clip range, or next to it: often one clip is applied to answers of both signs.',
    source: 'https://arxiv.org/abs/1912.09729',
  },
  {
    item: 'log_ratio_clamp',
    weight: 'ask',
    beyond: 'below 2',
    isBeyond: between(0, 2),
    why: 'The log-ratio is bounded within the range in which trainers act on it; 20 and 10 guard against overflow alone.',
    source: 'https://github.com/verl-project/verl/blob/main/verl/trainer/ppo/core_algos.py',
  },
  {
    item: 'entropy_coef',
    weight: 'ask',
    beyond: 'below 0',
    isBeyond: (value) => isNumber(value) && value < 0,
    why: 'The loss rises with the entropy: what should keep the policy from collapsing makes it collapse.',
    source: 'https://arxiv.org/abs/1707.06347',
  },
  {
    item: 'kl_clamp',
    weight: 'ask',
    beyond: 'below 5',
    isBeyond: (value) =>
      boundsIn(value).some((end) => typeof end === 'number' && end !== 0 && Math.abs(end) < 5),
    why: 'A KL that is bounded so low is the same for a policy that has drifted and for one that has collapsed; 10 and 20 guard against overflow alone.',
    source: 'https://github.com/verl-project/verl/blob/main/verl/trainer/ppo/core_algos.py',
  },
  {
    item: 'kl_estimator',
    weight: 'ask',
    beyond: 'k1 as a term of the loss',
    // Descended straight through, it has the gradient of k2.
    isBeyond: (value, { kl_coef = 0, kl_placement, loss_is_descended }) =>
      value === 'k1' && kl_coef > 0 && kl_placement === 'loss' && loss_is_descended !== false,
    why: 'As a term of the loss k1 has the same gradient wherever the reference is: it does not hold the policy near it. It belongs in the reward; in a loss stand k2 or k3.',
    source: 'https://github.com/verl-project/verl/issues/6058',
  },
  {
    item: 'kl_coef',
    weight: 'ask',
    beyond: 'above 5',
    isBeyond: above(5),
    why: 'The KL outweighs any advantage of usual size: often a factor is applied twice.',
    source: 'https://arxiv.org/abs/2402.03300',
  },
  {
    item: 'loss_norm',
    weight: 'ask',
    beyond: '1: a plain sum over tokens',
    isBeyond: (value, { loss_aggregation }) => value === 1 && loss_aggregation === 'token-sum-norm',
    why: 'The loss is a plain sum over all tokens, so that the step grows with the size of the batch: often a denominator is lost.',
    source: 'https://arxiv.org/abs/2503.20783',
  },
  {
    item: 'advantage_baseline',
    weight: 'ask',
    beyond: 'none',
    why: 'Rewards are compared with no others: an answer is reinforced for any reward above 0.',
    source: 'https://arxiv.org/abs/2402.14740',
  },
  {
    item: 'advantage_epsilon',
    weight: 'ask',
    beyond: 'at least 0.05',
    isBeyond: above(0.0499),
    why: 'It is no guard against a division by zero, but shrinks advantages of usual spread.',
    source: 'https://arxiv.org/abs/2402.03300',
  },
  {
    item: 'advantage_baseline',
    weight: 'note',
    beyond: 'batch-mean',
    why: 'Rewards are not compared within their group (REINFORCE++ does so; in GRPO an easy prompt is rewarded and a hard one punished).',
    source: 'https://arxiv.org/abs/2501.03262',
  },
  {
    item: 'advantage_baseline',
    weight: 'note',
    beyond: 'length-weighted',
    why: 'The baseline is a mean over tokens, not over answers (OPO does so; in GRPO the rewards were spread over tokens before their mean was taken).',
    source: 'https://arxiv.org/abs/2505.23585',
  },
  {
    item: 'advantage_baseline',
    weight: 'note',
    beyond: 'leave-one-out-max',
    why: 'Only the best answer of a group is reinforced, by its lead over the second (pass@k; where every answer is to count, the others train nothing).',
    source: 'https://arxiv.org/abs/2503.19595',
  },
  {
    item: 'advantage_scaling',
    weight: 'note',
    beyond: 'batch',
    isBeyond: (value, { advantage_baseline }) => value === 'batch' && advantage_baseline !== 'batch-mean',
    why: 'One deviation for the whole batch divides what is centred in each group: group and batch may be swapped.',
    source: 'https://arxiv.org/abs/2508.08221',
  },
  {
    item: 'advantage_scaling',
    weight: 'note',
    beyond: 'none',
    isBeyond: (value, { advantage_baseline }) => value === 'none' && advantage_baseline === 'group-mean',
    why: 'Advantages are not divided by a standard deviation (Dr. GRPO does so; in GRPO the setting may be lost on its way).',
    source: 'https://arxiv.org/abs/2503.20783',
  },
  ...NORMALIZATION_PRACTICE,
  {
    item: 'loss_aggregation',
    weight: 'note',
    beyond: 'seq-mean-token-mean',
    why: 'Each answer weighs the same whatever its length (GRPO as published), so that a token of a long wrong answer is punished less; DAPO and Dr. GRPO leave it for that.',
    source: 'https://arxiv.org/abs/2503.20783',
  },
  {
    item: 'clip_low',
    weight: 'note',
    beyond: 'not clipped at all, above 0.3 to 0.5',
    isBeyond: (value, found) =>
      clipped(found) && isNumber(value) && ((value > 0.3 && value <= 0.5) || value >= 1),
    why: 'The ratio is hardly bounded below, or not at all: a clip may be lost on its way.',
    source: 'https://arxiv.org/abs/1707.06347',
  },
  {
    item: 'clip_high',
    weight: 'note',
    beyond: 'not clipped at all, above 0.5 to 1',
    isBeyond: (value, found) =>
      clipped(found) && isNumber(value) && ((value > 0.5 && value <= 1) || value === Infinity),
    why: 'The ratio is hardly bounded above, or not at all: a clip may be lost on its way.',
    source: 'https://arxiv.org/abs/2503.14476',
  },
  {
    item: 'kl_estimator',
    weight: 'note',
    beyond: 'abs',
    why: 'The absolute difference estimates no KL.',
    source: 'http://joschu.net/blog/kl-approx.html',
  },
  {
    item: 'kl_coef',
    weight: 'note',
    beyond: '0 where op `kl` is offered',
    isBeyond: (value, { kl_placement }, { hello }) =>
      value === 0 && kl_placement !== 'reward' && hello.ops.kl !== undefined,
    why: 'There is a KL to the reference, and the loss has no term of it: where it is meant to be in the reward, say `"kl_placement": "reward"`.',
    source: 'https://arxiv.org/abs/2402.03300',
  },
  ...CORRECTION_PRACTICE,
  {
    item: 'reward_centering',
    weight: 'ask',
    beyond: 'below 0',
    isBeyond: (value) => isNumber(value) && value < 0,
    why: 'The further from 0 the scores of a pair are, the less it costs: they run off without end. A sign was lost.',
    source: 'https://arxiv.org/abs/2312.09244',
  },
  ...PREFERENCE_PRACTICE,
  {
    item: 'sft_objective',
    weight: 'note',
    beyond: 'dft',
    isBeyond: (value) => value === 'dft',
    why: 'Each token is weighted by its own probability (DFT does so), so that what the model does not know yet is hardly trained.',
    source: 'https://arxiv.org/abs/2508.05629',
  },
  {
    item: 'sft_aggregation',
    weight: 'note',
    beyond: 'seq-mean-token-mean',
    why: 'Each row weighs the same, so that a token of a short answer weighs more than one of a long answer.',
    source: 'https://huggingface.co/blog/gradient_accumulation',
  },
  {
    item: 'sft_target',
    weight: 'note',
    beyond: 'all',
    why: 'Questions and system messages are trained as if the model had to write them.',
    source: 'https://github.com/huggingface/trl/issues/3315',
  },
  ...CRITIC_PRACTICE,
  ...BALANCE_PRACTICE,
];
