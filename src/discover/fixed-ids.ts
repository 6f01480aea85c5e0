// Special ids that a function has as constants: what judges it must send those, or the right mask is called wrong.
import type { Tokens } from '../vocabulary.ts';
import type { Way } from './dialogue.ts';

/** As small as the one that is made up where nothing is fixed. */
const VOCABULARY = 32;

/** Undefined: it is handed all special ids. */
export function fixedTokens({ fixed }: Pick<Way, 'fixed'>): Tokens | undefined {
  const stops = idsOf(fixed, 'eos');
  const [pad] = idsOf(fixed, 'pad');
  if (stops.length === 0 && pad === undefined) return undefined;
  const other = pad === 2 ? 1 : 2;
  const tokens = {
    pad_token_id: pad ?? otherThan(stops),
    eos_token_ids: stops.length === 0 ? [other] : stops,
  };
  const largest = Math.max(tokens.pad_token_id, ...tokens.eos_token_ids);
  return { vocab_size: Math.max(VOCABULARY, largest + 1), ...tokens };
}

/** `EOS = 1, PAD = 0` */
export const fixedWords = ({ fixed }: Pick<Way, 'fixed'>): string =>
  Object.entries(fixed)
    .map(([name, [, ids]]) => `${name} = ${ids.join(' ')}`)
    .join(', ');

const idsOf = (fixed: Way['fixed'], part: 'eos' | 'pad'): number[] => [
  ...new Set(Object.values(fixed).flatMap(([of, ids]) => (of === part ? ids : []))),
];

/** The smallest id that is none of them. */
function otherThan(ids: readonly number[]): number {
  let id = 0;
  while (ids.includes(id)) id++;
  return id;
}
