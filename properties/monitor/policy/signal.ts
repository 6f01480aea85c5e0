// Whether a step of a run with rollouts had anything to learn from. Where every group of a step has equal rewards, its
// advantages are 0, and a loss and a gradient of exactly 0 are right.
import type { RuleWorld } from '../../../src/index.ts';
import type { Row } from '../watches.ts';
import { declaredText } from '../world.ts';

export type SignalKey = 'loss' | 'grad' | 'dead' | 'reward' | 'reward std';

export interface Signal {
  /**
   * How many such steps in a row prove that gradients were due: 1 where some group of this very step had a spread, more
   * where it can only be supposed; infinity where it cannot be told.
   */
  proofOf(row: Row<SignalKey>): number;
  /** Why gradients were due, for the sentence. */
  wordsOf(row: Row<SignalKey>): string;
}

/** A batch-wide deviation calls groups alive that are not: then one step is not enough. */
const MAYBE_BATCH_WIDE = 2;
/** A deviation that may be one of the batch: prompts that are each all right or all wrong give one, and no gradient. */
export const BY_DEVIATION = 3;
/** With nothing said about the spread of rewards, only that they move. */
const BY_MOVEMENT = 10;

export function signalOf(world: RuleWorld): Signal {
  let rows = 0;
  let withGroups = 0;
  let sawSomeDead = false;
  let lastReward: number | undefined;

  const groupWise = (): boolean => {
    const scale = declaredText(world, 'scale_rewards')?.toLowerCase();
    return sawSomeDead || (scale !== undefined && scale !== 'batch');
  };

  return {
    proofOf({ values }) {
      rows++;
      const dead = values.get('dead');
      const reward = values.get('reward');
      if (dead !== undefined) withGroups++;
      if (dead !== undefined && dead > 0 && dead < 1) sawSomeDead = true;
      // A reward that stands still is that of a task which is solved, or not begun.
      const rewardMoves = lastReward !== undefined && reward !== undefined && reward !== lastReward;
      lastReward = reward ?? lastReward;
      if (dead !== undefined) {
        if (dead === 0) return groupWise() ? 1 : MAYBE_BATCH_WIDE;
        // Each logged step brought groups of its own, so that this share is of what this step was computed from.
        return dead < 1 && rows > 1 && withGroups === rows ? 1 : Number.POSITIVE_INFINITY;
      }
      if (withGroups > 0) return Number.POSITIVE_INFINITY;
      const deviation = values.get('reward std');
      if (deviation !== undefined) return deviation > 0 ? BY_DEVIATION : Number.POSITIVE_INFINITY;
      return rewardMoves ? BY_MOVEMENT : Number.POSITIVE_INFINITY;
    },
    wordsOf({ values }) {
      const dead = values.get('dead');
      if (dead !== undefined)
        return `although ${Math.round((1 - dead) * 100)} % of the groups had rewards to tell apart`;
      return values.has('reward std') ? 'although rewards differed' : 'although rewards moved';
    },
  };
}
