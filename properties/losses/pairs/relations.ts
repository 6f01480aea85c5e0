// What a loss on pairs does whatever its objective: it falls towards the chosen completion, counts length one way, stays
// finite, and takes each pair for itself.
import {
  bandOf,
  type Finding,
  formulaOf,
  isHalf,
  isOfMeans,
  knobs,
  type Need,
  type Ok,
  type Pairs,
  type PairToken,
  type Property,
  pairLabels,
  pairNumbers,
  relations,
  show,
  type World,
} from '../../../src/index.ts';
import { argsOf, base, coverage } from './preference-loss.ts';

/**
 * Added to or taken from the log-probability of each token. Large: a loss in use bends the other way while the margin is
 * near 0 (DiscoPOP, Lu et al. 2024, figure 3).
 */
const STEP = 8;

/** Tokens that policy and reference rate alike, but for `by`; `only`: of one token. */
const near = (tokens: readonly PairToken[], by: number, only?: number): PairToken[] =>
  tokens.map(({ ref }, t) => ({
    logprob: ref - STEP + (only === undefined || t === only ? by : 0),
    ref: ref - STEP,
  }));

/** Which token moves alone: another one from case to case. */
const oneOf = ({ rows }: Pairs, { length }: readonly PairToken[]): number =>
  rows.reduce((sum, { chosen, rejected }) => sum + chosen.length + rejected.length, 0) % length;

/** Beyond it the loss is least where the rejected completion is a little likelier. */
const EVEN = 0.5;
const mostlyRight: Need = ({ semantics: { preference_label_smoothing: smoothing = 0 } }) =>
  smoothing > EVEN
    ? `semantics.preference_label_smoothing is ${smoothing}: most labels are taken for wrong`
    : undefined;

const towardsChosen: Property<Pairs> = {
  ...base,
  needs: [mostlyRight],
  id: 'preference_loss/falls-towards-the-chosen-completion',
  title:
    'Where policy and reference rate both completions alike, the loss does not fall when the chosen one, or a token of it, gets less likely or the rejected one likelier',
  why: 'A sign or a swap makes the trainer learn the rejected answers, with a loss curve that looks well.',
  catches: ['LOSS-13'],
  given: () => pairNumbers(),
  coverage: { 'several rows': 0.25 },
  async check(subject, drawn): Promise<Finding | undefined> {
    // The same numbers on both sides, and those of the reference: every objective is undecided there, and slopes down
    // towards the chosen completion, even those that look at each half alone.
    const alike = (chosen: number, rejected: number, single = false): Pairs => ({
      rows: drawn.rows.map((row) => ({
        chosen: near(row.chosen, chosen, single ? oneOf(drawn, row.chosen) : undefined),
        rejected: near(row.chosen, rejected, single ? oneOf(drawn, row.chosen) : undefined),
      })),
    });
    const even = await subject.ask('preference_loss', argsOf(alike(0, 0)));
    for (const [what, worse] of [
      ['the chosen completions get less likely, each token', alike(-STEP, 0)],
      ['the rejected completions get likelier, each token', alike(0, STEP)],
      // A token of the wrong sign is outvoted by the others.
      ['one token of each chosen completion gets less likely,', alike(-STEP, 0, true)],
      ['one token of each rejected completion gets likelier,', alike(0, STEP, true)],
    ] as const) {
      const { loss } = await subject.ask('preference_loss', argsOf(worse));
      if (!(loss >= even.loss - bandOf(subject, drawn.rows.length).allowed(even.loss)))
        return {
          kind: 'slope',
          sentence: `The loss falls from ${show(even.loss)} to ${show(loss)} when ${what} by ${STEP}; before, both completions had the same numbers, those of the reference.`,
        };
    }
    return undefined;
  },
};

/** Whether the answers agree in `loss` and `losses`. */
function same(world: World, one: Ok<'preference_loss'>, two: Ok<'preference_loss'>): boolean {
  const band = bandOf(world, one.losses?.length ?? 1);
  return (
    band.close(two.loss, one.loss) &&
    (one.losses ?? []).every((value, row) => band.close(two.losses?.[row], value))
  );
}

/** Sums of rounded numbers are not the same twice as long and twice as large. */
const fine = ({ hello }: World): string | undefined =>
  hello.dtype === 'bfloat16' || hello.dtype === 'float16'
    ? `sums over tokens in ${hello.dtype} are too coarse to tell how length counts`
    : undefined;

const length: Property<Pairs> = {
  ...base,
  id: 'preference_loss/length-counts-as-the-objective-says',
  title:
    'Each token twice: DPO and hinge lose as if each counted double, IPO and SimPO as if nothing had happened',
  why: 'Summed where it should be averaged, the loss is decided by length; averaged where it should be summed, the margin is too small to learn from.',
  // IPO over sums is what its paper writes, and trains.
  level: 'should',
  catches: ['LOSS-13'],
  needs: [fine, formulaOf(['preference_loss'])],
  given: (world) => pairNumbers({ long: !isHalf(world) }),
  coverage,
  async check(subject, drawn): Promise<Finding | undefined> {
    const each = (change: (tokens: readonly PairToken[]) => readonly PairToken[]): Pairs => ({
      rows: drawn.rows.map(({ chosen, rejected }) => ({
        chosen: change(chosen),
        rejected: change(rejected),
      })),
    });
    const ask = (pairs: Pairs) => subject.ask('preference_loss', argsOf(pairs));
    const twice = await ask(each((tokens) => [...tokens, ...tokens]));
    const once = await ask(drawn);
    const doubled = await ask(
      each((tokens) => tokens.map(({ logprob, ref }) => ({ logprob: 2 * logprob, ref: 2 * ref }))),
    );
    const objective = subject.semantics.preference_objective;
    const [bySum, byMean] = [same(subject, doubled, twice), same(subject, once, twice)];
    if (
      objective === undefined ? bySum || byMean : objective === 'ipo' || isOfMeans(objective) ? byMean : bySum
    )
      return undefined;
    const owed =
      objective === undefined
        ? `${show(doubled.loss)} if sums over tokens count, ${show(once.loss)} if means do`
        : objective === 'ipo' || isOfMeans(objective)
          ? `${show(once.loss)}, as before: ${objective} compares means over tokens`
          : `${show(doubled.loss)}, as with every number twice as large: ${objective} compares sums over tokens`;
    return {
      kind: 'length',
      sentence: `With every token twice the loss is ${show(twice.loss)}; it should be ${owed}.`,
      note: bandOf(subject, drawn.rows.length).reason,
    };
  },
};

const declared = ({ semantics }: World): string | undefined =>
  semantics.preference_objective === undefined
    ? 'semantics.preference_objective is not declared, and some objectives compare pairs with their batch'
    : undefined;

/** An objective that squares its margin leaves the range of float16. */
const wide = ({ hello }: World): string | undefined =>
  hello.dtype === 'float16' ? 'float16 ends at 65504' : undefined;

const shared = {
  op: 'preference_loss',
  stage: 'preference_loss',
  noun: 'The loss on pairs',
  args: argsOf,
  labels: pairLabels,
} as const;

/**
 * Both halves of a pair with the numbers of the chosen one, and policy and reference alike: no margin is so large, under any objective
 * and with or without a reference, that the loss is flat.
 */
const undecided = ({ rows }: Pairs): Pairs => ({
  rows: rows.map(({ chosen }) => ({ chosen: near(chosen, 0), rejected: near(chosen, 0) })),
});

export const preferenceLossRelations: readonly Property<Pairs>[] = [
  towardsChosen,
  length,
  ...relations({
    ...shared,
    given: () => pairNumbers({ extremes: true }),
    coverage: { 'an extreme margin': 0.15 },
    relations: {
      finite: {
        catches: ['NUM-05'],
        why: 'log(sigmoid(x)) is minus infinity as soon as the sigmoid rounds to 0: one hopeless pair ends the run.',
        needs: [wide],
      },
    },
  }),
  ...relations({
    ...shared,
    given: () => pairNumbers({ minRows: 2 }),
    coverage: { 'unequal rows': 0.25 },
    allBut: ['finite', 'counts'],
    relations: {
      stacked: { catches: ['LOSS-13'] },
      inputs: { catches: ['LOSS-13'] },
      'batch-mates': { catches: ['MSK-06', 'LOSS-13'], needs: [declared] },
    },
  }),
  ...relations({
    ...shared,
    given: () => pairNumbers().map(undecided),
    coverage: { 'several rows': 0.25 },
    relations: { counts: { catches: ['LOSS-13', 'MSK-06'] } },
  }),
];

export const preferenceLossKnobs = knobs({
  ...shared,
  given: () => pairNumbers(),
  catches: ['KL-06'],
});
