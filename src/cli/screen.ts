// How wide the lines of a screen are made.
import type { Context } from './context.ts';

/** Narrower than this nothing can be aligned; wider, lines are hard to follow. */
const LEAST_WIDTH = 40;
const MOST_WIDTH = 160;

export function widthOfScreen(context: Context): number {
  return Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, context.out.columns));
}
