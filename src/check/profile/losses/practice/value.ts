// What practice does with the loss of a critic.
import { above, between, isNumber, type Practice } from '../../practice-row.ts';

export const CRITIC_PRACTICE: readonly Practice[] = [
  {
    item: 'value_loss_factor',
    weight: 'ask',
    beyond: 'above 1',
    isBeyond: above(1),
    why: "The critic's squared errors count more than once: often a half is lost, or the weight of the critic is applied twice.",
    source: 'https://github.com/openai/baselines/blob/master/baselines/ppo2/model.py',
  },
  {
    item: 'value_clip',
    weight: 'ask',
    beyond: 'below 0.01',
    isBeyond: between(0, 0.01),
    why: 'A value may hardly move before it is clipped: the critic follows its returns by that much an epoch. 0.2 and 0.5 are usual.',
    source: 'https://arxiv.org/abs/2005.12729',
  },
  {
    item: 'value_loss_factor',
    weight: 'note',
    beyond: 'not 0.5, and at most 1',
    isBeyond: (value) => isNumber(value) && value <= 1 && value !== 0.5,
    why: 'Squared errors are not halved, or the weight that the critic has beside the policy (vf_coef) is in its loss: a half or a weight may be lost, or taken twice.',
    source: 'https://github.com/openai/baselines/blob/master/baselines/ppo2/model.py',
  },
  {
    item: 'value_clip',
    weight: 'note',
    beyond: 'null: not clipped',
    isBeyond: (value) => value === null,
    why: 'Values are not clipped, and those at sampling are not read. Many critics do so. In PPO2 and its successors, a clip may be lost on the way, or old values computed again.',
    source: 'https://github.com/tensorflow/agents/issues/352',
  },
  {
    item: 'value_aggregation',
    weight: 'note',
    beyond: 'seq-mean-token-mean',
    why: 'Each answer weighs the same, so that a state of a long answer is learnt less than one of a short answer.',
    source: 'https://github.com/verl-project/verl/blob/main/verl/trainer/ppo/core_algos.py',
  },
  {
    item: 'value_aggregation',
    weight: 'note',
    beyond: 'seq-mean-token-sum',
    why: 'The errors of an answer are added up, so that the step of the critic grows with the length of the answers.',
    source: 'https://github.com/verl-project/verl/blob/main/verl/trainer/ppo/core_algos.py',
  },
];
