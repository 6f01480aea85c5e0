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

/** What explains an answer to the last digit. */
export interface Cause {
  /** "its sign is turned (KL-01)"; where small numbers coincide, two of them: "..., or if ...". */
  readonly words: string;
  /** None of what fits is anybody's choice. */
  readonly proven: boolean;
}

/**
 * The mistakes that fit an answer rich enough to tell them apart. Where what is `right` fits it, too, the trainer is wrong elsewhere
 * only, and by none of them.
 */
export function causeOf<Answer>(
  mistakes: readonly Mistake<Answer>[],
  fits: (answer: Answer) => boolean,
  right: readonly Answer[],
): Cause | undefined {
  if (right.some(fits)) return undefined;
  const fitting = mistakes.filter(({ answer }) => fits(answer));
  const words = new Set(
    fitting.map((mistake) => mistake.words + (mistake.bug === undefined ? '' : ` (${mistake.bug})`)),
  );
  if (words.size === 0) return undefined;
  return {
    words: [...words].slice(0, MOST_NAMED).join(', or if '),
    proven: fitting.every(({ legal }) => legal !== true),
  };
}

/** " It fits exactly if its sign is turned (KL-01)."; nothing where nothing is named. */
export function causeWords(cause: Cause | undefined): string {
  return cause === undefined ? '' : ` It fits exactly if ${cause.words}.`;
}

const MOST_NAMED = 2;
