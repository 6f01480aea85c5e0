// Causes that move the logits of some tokens: a penalty on tokens that came before, or a bias on a few ids.
import type { Cause } from '../cause.ts';
import { SEEN_IN_COMPLETION } from '../tokens.ts';
import { biasedIds } from './biased-ids.ts';
import { bestOf, rounded } from './curves.ts';
import { fitBias } from './fit-bias.ts';

export const penalty: Cause = {
  id: 'penalty',
  fitTo: (tokens, { places }) => {
    const inCompletion = fitBias(tokens, places, (at) => ((tokens.seen[at] ?? 0) & SEEN_IN_COMPLETION) !== 0);
    const anywhere = fitBias(tokens, places, (at) => tokens.seen[at] !== 0);
    const best = bestOf(
      [inCompletion, anywhere].filter((fit) => fit !== undefined),
      ({ cost }) => cost,
    )?.value;
    if (best === undefined) return undefined;
    const what = best.bias < 0 ? 'less likely' : 'likelier';
    return {
      ...best,
      isPartial: true,
      sentence: `Tokens that came before${best === anywhere ? ', in the prompt too,' : ''} are ${what} in the engine, by ${rounded(Math.abs(best.bias))} in the logit: a presence, frequency or repetition penalty is in its log-probabilities and not in the trainer's.`,
      experiment:
        'sample 50 completions with presence_penalty=0, frequency_penalty=0 and repetition_penalty=1: the gap goes',
    };
  },
};

export const tokenBias: Cause = {
  id: 'token-bias',
  fitTo: (tokens, { places }) => {
    const ids = biasedIds(tokens, places);
    if (ids.size === 0) return undefined;
    const fit = fitBias(tokens, places, (at) => ids.has(tokens.id[at] ?? -1));
    if (fit === undefined || Math.abs(fit.bias) < LEAST_BIAS) return undefined;
    const shown = [...ids].slice(0, SHOWN_IDS).join(', ');
    return {
      ...fit,
      isPartial: true,
      sentence: `${ids.size === 1 ? 'One token' : `${ids.size} tokens`} (${ids.size === 1 ? 'id' : 'ids'} ${shown}${ids.size > SHOWN_IDS ? '...' : ''}) ${ids.size === 1 ? 'has' : 'have'} ${rounded(fit.bias)} added to the logit in the engine: a logit bias, banned words, or min_tokens.`,
      experiment: 'sample 50 completions without logit_bias, bad_words and min_tokens: the gap goes',
    };
  },
};

/** Nobody sets a smaller one. */
const LEAST_BIAS = 0.3;
const SHOWN_IDS = 5;
