// Legal penalties.
import type { Args, Ok } from '../../../src/index.ts';
import { type Legal, legal } from '../legal.ts';

/** Presence and frequency first, repetition behind them. */
const repetitionLast = (args: Args<'penalties'>): Ok<'penalties'> => ({
  logits: args.logits.map((row, b) => {
    const prompt = args.prompt_ids[b] ?? [];
    const generated = args.completion_ids[b] ?? [];
    return row.map((logit, id) => {
      const count = generated.filter((other) => other === id).length;
      const lowered = logit - args.frequency_penalty * count - (count > 0 ? args.presence_penalty : 0);
      if (count === 0 && !prompt.includes(id)) return lowered;
      return lowered > 0 ? lowered / args.repetition_penalty : lowered * args.repetition_penalty;
    });
  }),
});

export const penalties: readonly Legal[] = [
  legal(
    'repetition behind presence and frequency',
    { penalties: repetitionLast },
    { can: { penalties: { kinds: ['presence', 'frequency', 'repetition'] } } },
  ),
];
