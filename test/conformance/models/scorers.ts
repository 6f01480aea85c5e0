// Legal ways to run a model: padded on either side, in a block, wider than needed; rounded; with any KL, declared or not.
import type { Capability } from '../../../src/index.ts';
import { type Legal, legal } from '../legal.ts';
import { scoring, type Ways } from './forward-trainer.ts';

const TOKENS = { vocab_size: 40, pad_token_id: 0, eos_token_ids: [2] };
const ALL: Capability = { temperature: true, packed: true, reference: true, padding_side: ['left', 'right'] };

const model = (
  name: string,
  ways: Ways,
  can: Capability = ALL,
  dtype: 'float64' | 'float32' = 'float64',
): Legal => legal(name, { model_score: scoring(ways) }, { dtype, tokens: TOKENS, can: { model_score: can } });

export const scorers: readonly Legal[] = [
  model('a model in a block, with all there is to ask', { layout: 'block' }),
  model('a model padded on the left, wider than the longest row', { layout: 'left-padded', extra: 3 }),
  model(
    'a model padded on the right, whose positions are columns',
    { layout: 'right-padded', positions: 'columns' },
    {
      temperature: true,
      reference: true,
    },
  ),
  model(
    'a model padded on the right that sees the padding behind it',
    { layout: 'right-padded', pads: 'seen' },
    {},
  ),
  model(
    'a rotary model whose positions count the padding',
    { positions: 'columns' },
    { families: ['llama'], reference: true },
  ),
  model('a model in float32', { layout: 'left-padded', round: Math.fround }, ALL, 'float32'),
  ...(['k1', 'k2', 'k3', 'abs'] as const).flatMap((kl) => [
    model(`a model with a KL of ${kl}, declared`, { kl }, { reference: true, kl }),
    model(`a model with a KL of ${kl}, undeclared`, { kl }, { reference: true }),
  ]),
  model(
    'a model that answers log-probabilities only',
    { answer: ({ logprobs }) => ({ logprobs }) },
    { temperature: true },
  ),
  model(
    'a model that answers the log-probabilities of its reference, and no KL',
    {
      answer: ({ logprobs, ref_logprobs: reference }) => ({
        logprobs,
        ...(reference === undefined ? {} : { ref_logprobs: reference }),
      }),
    },
    { reference: true },
  ),
];
