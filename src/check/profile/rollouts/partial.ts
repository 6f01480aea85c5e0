// Whether ids that an earlier policy sampled, before generation was interrupted, are trained: read off the loss mask.
import { type Resumed, resumeArgs } from '../../../generators/rollouts/resumed.ts';
import { specials } from '../../../generators/specials.ts';
import { stopsOf } from '../../needs.ts';
import { discard } from '../../subject.ts';
import { draw, misfitOf, type Probe } from '../probe.ts';

export const resumedPrefix: Probe<Resumed> = {
  id: 'resumed_prefix_trained',
  items: ['resumed_prefix_trained'],
  ops: ['partial_rollout'],
  variants: async () =>
    [true, false].map((trained) => ({
      name: `ids of earlier policies are ${trained ? '' : 'not '}trained`,
      items: { resumed_prefix_trained: trained },
    })),
  cases: (world) =>
    PARTIAL.map((length) => {
      const { oneStop } = stopsOf(world, 'partial_rollout');
      const [special] = draw(specials(world.hello.tokens, { oneStop }), 1);
      const idOf = (at: number): number => special?.plain[at % special.plain.length] ?? 0;
      return {
        version: 3,
        limit: 2 * length + 1,
        stops: special?.stops ?? [],
        rows: [
          {
            prompt: [idOf(0), idOf(1)],
            partial: Array.from({ length }, (_, at) => ({
              id: idOf(at + 2),
              logprob: -0.5 - at,
              rescored: -0.25 - at,
              version: 1 + Math.min(1, at),
            })),
            sampled: Array.from({ length }, (_, at) => ({ id: idOf(length + at + 2), logprob: -1 - at })),
          },
        ],
      };
    }),
  async fits(subject, given, variants) {
    const { loss_mask: masks } = await subject.ask('partial_rollout', resumeArgs(given));
    if (masks === undefined) return discard('the answer has no loss_mask');
    const length = given.rows[0]?.partial.length ?? 0;
    const trained = masks[0]?.slice(0, length).filter((on) => on === 1).length;
    return variants.map(({ items }) =>
      misfitOf(
        [
          {
            where: `the number of trained ids of ${length} that were sampled before`,
            expected: items.resumed_prefix_trained === true ? length : 0,
            observed: trained,
          },
        ],
        () => 0.5,
      ),
    );
  },
};

/** Ids before the interruption. */
const PARTIAL = [1, 2, 4];
