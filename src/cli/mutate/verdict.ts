// The exit code of `mutate`, once what was tried has been told.
import { type Mutation, scoreOf } from '../../mutate/events.ts';
import { shareFound } from '../../report/mutate/mutate.ts';
import { type Context, type Problem, refuse } from '../context.ts';
import { FAILED, HOLDS, NO_VERDICT } from '../exit.ts';
import type { MutateOptions } from './options.ts';

const NO_TIME: Problem = {
  problem: 'there was no time to try a change; the same command with --resume goes on',
};

export function codeOf(mutation: Mutation, { atLeast }: MutateOptions, context: Context): number {
  const score = scoreOf(mutation);
  const share = shareFound(score);
  if (share === undefined)
    return refuse(
      context,
      score.left > 0 ? NO_TIME : { problem: 'no change could be judged: no property reaches any of them' },
    );
  if (atLeast === undefined) return HOLDS;
  if (share * 100 >= atLeast) return score.left > 0 ? NO_VERDICT : HOLDS;
  context.err.write(
    `lossproof: ${(share * 100).toFixed(1)} % of the changes that are reached are found, --at-least ${atLeast}\n`,
  );
  return FAILED;
}
