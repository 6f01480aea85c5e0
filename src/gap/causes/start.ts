// Another prompt on one side: the gap is wide where completions begin, and fades.
import type { Cause } from '../cause.ts';
import { factors, pairs, rounded } from './curves.ts';
import { bestWidth } from './widths.ts';

export const start: Cause = {
  id: 'start',
  fitTo(tokens, { places }) {
    const widthAt =
      (most: number, reach: number) =>
      (at: number): number =>
        1 + most * Math.exp(-(tokens.position[at] ?? 0) / reach);
    const best = bestWidth(tokens, places, pairs(factors(1, 200, 24), REACHES), ([most, reach]) =>
      widthAt(most, reach),
    );
    if (best === undefined) return undefined;
    const [most, reach] = best;
    return {
      parameters: { times: 1 + most, reach },
      width: widthAt(most, reach),
      sentence: `The gap is ${rounded(1 + most)} times as wide at the start of completions and fades within some ${Math.round(2 * reach)} tokens: the prompts differ (chat template, system prompt, BOS missing or doubled).`,
      experiment:
        'compare the prompt ids that the engine was given with those that the trainer scores, for one row',
    };
  },
};

const REACHES = [1.5, 3, 6, 12, 25, 50];
