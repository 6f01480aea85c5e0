// What practice does about the gap between an inference engine and the trainer.
import { above, isNumber, type Practice } from '../../practice-row.ts';

/** Written with two digits. */
const isShort = (value: number): boolean => Number(value.toPrecision(2)) === value;
/** A logarithm of a measured number, as it was written. */
const logOf = (value: number): number => Number(Math.log(value).toPrecision(4));

export const CORRECTION_PRACTICE: readonly Practice[] = [
  {
    item: 'sampling_correction_high',
    weight: 'ask',
    beyond: 'above 20',
    isBeyond: above(20),
    why: 'A token that the engine made unlikely may weigh more than twenty times as much as any other: caps in use are 2 to 10.',
    source: 'https://fengyao.notion.site/off-policy-rl',
  },
  {
    item: 'sampling_correction_high',
    weight: 'note',
    beyond: 'exp of a round number, and no round number',
    isBeyond: (value) => isNumber(value) && value <= 20 && !isShort(value) && isShort(logOf(value)),
    why: 'The logarithm of the cap is a round number: often the cap itself is compared with the logarithm of the ratio.',
    source: 'https://fengyao.notion.site/off-policy-rl',
  },
  {
    item: 'sampling_correction_low',
    weight: 'ask',
    beyond: 'above 0.9, and truncated',
    isBeyond: (value, { sampling_correction }) => sampling_correction === 'truncated' && above(0.9)(value),
    why: 'A token that the engine made too likely weighs as much as any other: caps on that side are 0.5 and below, or none.',
    source: 'https://fengyao.notion.site/off-policy-rl',
  },
  {
    item: 'sampling_correction_low',
    weight: 'note',
    beyond: 'null beside a mask',
    isBeyond: (value, { sampling_correction }) => value === null && sampling_correction === 'masked',
    why: "Tokens above the cap are left out, and none below (TRL's mask modes do so; IcePop leaves out both, and truncated importance sampling holds what is above).",
    source: 'https://github.com/huggingface/trl/issues/4772',
  },
  {
    item: 'sampling_correction',
    weight: 'note',
    beyond: 'none',
    isBeyond: (value) => value === 'none',
    why: 'The loss gets the log-probabilities of the inference engine and weighs no token by them: the switch of a correction may be lost on its way.',
    source: 'https://fengyao.notion.site/off-policy-rl',
  },
];
