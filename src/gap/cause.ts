// A cause of the gap as a small model of it: fitted on one half of the rows, judged on the other.
import type { Tokens } from './tokens.ts';

export interface Cause {
  /** A permanent name. */
  readonly id: string;
  /** Undefined: these tokens cannot show it, or the fit says that it is not there. */
  readonly fitTo: (tokens: Tokens, sample: Sample) => Fit | undefined;
}

/** Tokens of one half of the rows, drawn evenly; and what of the gap is noise there. */
export interface Sample {
  readonly places: Uint32Array;
}

export interface Fit {
  /** What was fitted, in the unit that the sentence has it in. */
  readonly parameters: Readonly<Record<string, number>>;
  /** What would be left of the gap at a token without the cause. Default: all of it. */
  readonly left?: (at: number) => number;
  /** How many times as wide the gap is at a token as without the cause. Default: 1. */
  readonly width?: (at: number) => number;
  /** It depends on tokens that were not sampled as well, so that two recorded sides show a part of it. */
  readonly isPartial?: true;
  readonly sentence: string;
  /** One line that decides whether it is this. */
  readonly experiment: string;
}
