// Ways of writing decoded text down that are in use and lose nothing but spaces.

/** Pairs of a spelling and what it becomes, in the order in which they are replaced. */
const CLEAN_UPS: readonly (readonly [string, string])[] = [
  [' .', '.'],
  [' ?', '?'],
  [' !', '!'],
  [' ,', ','],
  [" ' ", "'"],
  [" n't", "n't"],
  [" 'm", "'m"],
  [" 's", "'s"],
  [" 've", "'ve"],
  [" 're", "'re"],
];

/**
 * The text as transformers' decode writes it under clean_up_tokenization_spaces: no space before punctuation and
 * English contractions. Some released configurations switch it on.
 */
export function cleanedUp(text: string): string {
  return CLEAN_UPS.reduce((cleaned, [spelling, becomes]) => cleaned.replaceAll(spelling, becomes), text);
}
