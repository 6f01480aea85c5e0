// The exit code of `mutate`, once what was tried has been told.
import { type Mutation, scoreOf } from '../../mutate/events.ts';
import { shareFound } from '../../report/mutate/mutate.ts';
import { plural } from '../../report/text/plural.ts';
import { type Context, type Problem, refuse } from '../context.ts';
import { FAILED, HOLDS } from '../exit.ts';
import type { MutateOptions } from './options.ts';

const NO_TIME: Problem = {
  problem: 'there was no time to try a change; the same command with --resume goes on',
};

/** Of changes that are reached, where not all are tried: of fewer the share is chance. */
const LEAST_TRIED = 30;

export function codeOf(mutation: Mutation, { atLeast }: MutateOptions, context: Context): number {
  const score = scoreOf(mutation);
  const share = shareFound(score);
  if (share === undefined)
    return refuse(
      context,
      score.left > 0 ? NO_TIME : { problem: 'no change could be judged: no property reaches any of them' },
    );
  if (atLeast === undefined) return HOLDS;
  const tried = score.found + score.survive;
  if (share * 100 >= atLeast) {
    // What there was time for is a fair sample where there is enough of it; the last line says how many were not tried.
    if (score.left === 0 || tried >= LEAST_TRIED) return HOLDS;
    return refuse(context, {
      problem: `the time ended after ${plural(tried, 'reachable change')}; at least ${LEAST_TRIED} are needed to judge --at-least ${atLeast}. Continue with --resume`,
    });
  }
  const those = score.left > 0 ? 'changes that were tried and are reached' : 'changes that are reached';
  context.err.write(
    `lossproof: ${(share * 100).toFixed(1)} % of the ${those} are found, --at-least ${atLeast}\n`,
  );
  return FAILED;
}
