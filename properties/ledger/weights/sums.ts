// The sum of the weights of a whole optimiser step: 1 in a mean over its tokens, over all micro-batches and ranks.
import { type Ledger, many, show } from '../../../src/index.ts';
import { NOTHING, type Part } from '../judged-part.ts';
import type { Found } from '../words.ts';
import { supervisedAggregation } from './declared.ts';
import { supervisedOf, taughtBatches } from './supervised.ts';

/** The sum is 1, or a little less: the first column of a row is counted by some versions, and has no predictor. */
const LEAST_SUM = 0.75;
/** Rounding of a sum. */
const MOST_SUM = 1.05;
/** So close to a factor it is that factor: sums of 2 and 2.2 are told apart, as above. */
const FACTOR = 0.05;

export function ofSteps(ledger: Ledger): Part {
  const declared = supervisedAggregation(ledger.settings);
  // In the user's own words an aggregation is a proportion; a trainer's is a number, divided by the tokens of the step.
  if (declared === undefined || declared.explicit || declared.local || declared.aggregation !== 'token-mean')
    return NOTHING;
  let [judged, aside] = [0, 0];
  const found: Found[] = [];
  for (const { index, ranks } of ledger.steps) {
    const batches = taughtBatches(ledger.rows.filter(({ step }) => step === index)).map(supervisedOf);
    if (ranks.some(({ done }) => done === undefined) || batches.length === 0 || batches.includes(undefined)) {
      aside++;
      continue;
    }
    const known = batches.filter((batch) => batch !== undefined);
    const sum = known.reduce((all, { weight, count }) => all + weight * count, 0);
    const accumulated = Math.max(
      ...ranks.map(({ rank }) => known.filter((each) => each.rank === rank).length),
    );
    const why = factorOf(sum, accumulated, ranks.length);
    if (sum >= LEAST_SUM && sum <= MOST_SUM) judged++;
    else if (why === undefined) aside++;
    else {
      judged++;
      const count = known.reduce((all, each) => all + each.count, 0);
      found.push({
        harm: Math.abs(Math.log(sum)),
        tell: () => ({
          kind: 'sum',
          sentence: `The weights of the ${many(count, 'trained token')} of step ${index} add up to ${show(sum)} instead of 1: ${why}.`,
          numbers: [
            { where: `sum of weights of step ${index}`, expected: 1, observed: sum, allowed: MOST_SUM - 1 },
          ],
          note: `${declared.from} declares a ${declared.aggregation} over the whole step.`,
          given: {
            step: index,
            micro_batches: known.map(({ rank, forward, count: tokens, weight }) => ({
              rank,
              forward,
              tokens,
              weight,
            })),
          },
        }),
      });
    }
  }
  return { judged, aside, found };
}

/** Which factor was lost or applied twice, where a sum is one. */
function factorOf(sum: number, accumulated: number, world: number): string | undefined {
  const known: readonly (readonly [number, string])[] = [
    [accumulated, `it is not divided by the ${accumulated} micro-batches that are accumulated`],
    [1 / accumulated, `it is divided by the ${accumulated} accumulated micro-batches once more`],
    [1 / world, `it is averaged over ${world} processes, each of which divides by the tokens of all`],
    [accumulated * world, 'it is divided neither by the micro-batches nor by the processes'],
  ];
  return known.find(([factor]) => factor !== 1 && Math.abs(sum / factor - 1) <= FACTOR)?.[1];
}
