// Tokens that are added to a tokenizer: whether their rows are trained.
import { PAIRS } from '../data.ts';
import type { Cases } from '../kinds.ts';

const added = (way: string, options = ''): { words: string; data: typeof PAIRS; options: string } => ({
  words: `places/added_tokens.py --data {data} --way ${way}`,
  data: PAIRS,
  options,
});

export const addedTokens: Cases = {
  clean: {
    ...Object.fromEntries(
      ['saved', 'indices', 'written', 'padding', 'whole'].map((way) => [
        `tokens that are added: ${way}`,
        added(way, '--strict'),
      ]),
    ),
    'tokens that are added: spare': {
      ...added('spare', '--strict'),
      says: /stay as they are in the checkpoint\. Right where that was trained with these tokens/,
    },
  },
  faulty: Object.fromEntries(
    (
      [
        [
          'adapters',
          /2 tokens were added at \S+: '<tool>' .* the embedding \(model\.embed_tokens\.weight\) is not trained/,
        ],
        ['saved-embedding', /'<end>' \(id \d+\).* the head \(lm_head\.weight\) is not trained/],
        [
          'frozen',
          /the embedding \(model\.embed_tokens\.weight\) is not trained: their rows stay as the resizing made them/,
        ],
        ['left-out', /the embedding \(model\.embed_tokens\.weight\) is not trained/],
      ] as const
    ).map(([way, says]) => [
      `tokens that are added: ${way}`,
      { ...added(way), found: 'update/added-tokens-are-trained', says },
    ]),
  ),
};
