// What practice does about the gap between an inference engine and the trainer.
import { above, type Practice } from '../practice-row.ts';

export const CORRECTION_PRACTICE: readonly Practice[] = [
  {
    item: 'sampling_correction_high',
    weight: 'ask',
    beyond: 'above 20',
    isBeyond: above(20),
    why: 'A token that the engine made unlikely may weigh more than twenty times as much as any other: caps in use are 2 to 10.',
    source: 'https://fengyao.notion.site/off-policy-rl',
    usual: 2,
  },
  {
    item: 'sampling_correction',
    weight: 'note',
    beyond: 'none',
    isBeyond: (value) => value === 'none',
    why: 'The loss is sent what the inference engine says of its tokens, and weighs none of them by it: the switch of a correction may be lost on its way.',
    source: 'https://fengyao.notion.site/off-policy-rl',
  },
];
