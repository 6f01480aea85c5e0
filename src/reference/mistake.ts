// Formulas that nobody means: what trainers were seen to compute by mistake. An answer that fits one of them to the last
// digit names its cause.

export interface Mistake<Answer> {
  /** Row of the catalogue of bugs; absent where no row tells it. */
  readonly bug?: string;
  /** Behind "It fits exactly if": "the bound itself stands below, 0.2 instead of 0.8". */
  readonly words: string;
  readonly answer: Answer;
  /** Elsewhere somebody means it: where nothing is declared it names the cause, and proves nothing. */
  readonly legal?: true;
}

/** " It fits exactly if ... (KL-01)."; nothing where none fits. */
export function mistakeWords(mistake: Pick<Mistake<unknown>, 'words' | 'bug'> | undefined): string {
  if (mistake === undefined) return '';
  const { words, bug } = mistake;
  return ` It fits exactly if ${words}${bug === undefined ? '' : ` (${bug})`}.`;
}
