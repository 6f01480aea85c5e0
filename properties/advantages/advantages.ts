// Group-relative advantages: what a reward is worth among the rollouts of its own prompt.
import {
  type AdvantageVariant,
  advantageMistakes,
  advantageVariants,
  answersOf,
  type Band,
  bandOf,
  causeIn,
  causeOf,
  causeWords,
  describeAdvantage,
  discard,
  type Finding,
  type Grouped,
  groupAdvantages,
  grouped,
  groupedLabels,
  itemsOf,
  numberFinding,
  type Property,
  richest,
  type Subject,
  show,
  withImpliedDdof,
  withImpliedEpsilon,
} from '../../src/index.ts';
import { ask, centredBaseline, flat, given, groupBaseline, rounding, shapeOf } from './groups.ts';

const base = { stage: 'advantages', level: 'must', ops: ['advantages'], labels: groupedLabels } as const;

function wrongLength({
  rewards,
  advantages,
}: {
  rewards: readonly number[];
  advantages: readonly number[];
}): Finding | undefined {
  return advantages.length === rewards.length
    ? undefined
    : { kind: 'length', sentence: `${rewards.length} rewards have ${advantages.length} advantages.` };
}

/** A larger one is no guard against a division by zero, but a scale of its own, and is to be declared. */
const LARGEST_EPSILON = 0.1;

/** The variants that the declared semantics allow; an epsilon that nobody declares may be the one the numbers imply. */
function candidates(
  subject: Subject,
  { rewards, group_ids, lengths, advantages }: Awaited<ReturnType<typeof ask>>,
): AdvantageVariant[] {
  const listed = advantageVariants(subject.semantics);
  // Advantages of rows that were whitened as tokens: what one row has of them, the op does not say.
  const overTokens =
    subject.semantics.advantage_ddof === undefined
      ? listed
          .filter(({ scaling, ddof }) => scaling === 'batch' && ddof === 1)
          .map((variant) => withImpliedDdof(rewards, group_ids, advantages, variant, lengths))
          .filter(({ ddof }) => ddof < 1)
      : [];
  const known = [...listed, ...overTokens];
  if (subject.semantics.advantage_epsilon !== undefined) return known;
  const forms = new Map(listed.map((variant) => [JSON.stringify({ ...variant, epsilon: 0 }), variant]));
  const implied = [...forms.values()].map((variant) =>
    withImpliedEpsilon(rewards, group_ids, advantages, variant, LARGEST_EPSILON, lengths),
  );
  return [...known, ...implied];
}

/** A known mistake that explains every number of a rich case, in any of the known ways. */
const explained = (subject: Subject) =>
  causeIn(async () => {
    const rich = richest(grouped({ ...shapeOf(subject), minGroups: 2 }));
    if (rich === undefined) return undefined;
    const asked = await ask(subject, rich);
    const { rewards, group_ids, lengths, advantages } = asked;
    const band = bandOf(subject, rewards.length * rounding(rewards));
    const variants = candidates(subject, asked);
    return causeOf(
      variants.flatMap((variant) => advantageMistakes(rewards, group_ids, variant, lengths)),
      (answer) => answer.every((want, at) => band.close(advantages[at], want)),
      variants.map((variant) => groupAdvantages(rewards, group_ids, variant, lengths)),
    );
  });

/** A least deviation above it is no guard against noise, but another rule. */
const LARGEST_LEAST = 0.05;

/** Zeros where rewards differ by little, and nowhere else: legal, and never meant unless it is said. */
function smallSpread(
  { semantics }: Subject,
  { rewards, group_ids, lengths, advantages }: Awaited<ReturnType<typeof ask>>,
  variants: readonly AdvantageVariant[],
  band: Band,
): Finding | undefined {
  if (semantics.advantage_min_std !== undefined) return undefined;
  const row = advantages.indexOf(0);
  for (let least = 1e-8; row >= 0 && least < LARGEST_LEAST; least *= 10) {
    const fitting = variants.find((variant) =>
      groupAdvantages(rewards, group_ids, { ...variant, least }, lengths).every((want, at) =>
        band.close(advantages[at], want),
      ),
    );
    if (fitting === undefined) continue;
    const power = Number(least.toPrecision(1));
    return {
      kind: 'small spread',
      sentence: `The advantage of row ${row} (reward ${rewards[row]}, group ${group_ids[row]}) is 0, although the rewards of its group differ: it is ${describeAdvantage(fitting)}, but 0 where the deviation is below some limit, ${power} or more.`,
      answers: [`"advantage_min_std": ${power}  (or the limit that is meant)`],
    };
  }
  return undefined;
}

const ADVANTAGE_ITEMS = itemsOf('advantages');

const equals: Property<Grouped> = {
  ...base,
  id: 'advantages/equal-the-declared-formula',
  title: 'Advantages are rewards minus their baseline, scaled as declared (or, undeclared, in a known way)',
  why: 'A swapped group and batch, a lost minus, or another denominator changes which answers are reinforced.',
  catches: ['ADV-02', 'ADV-03', 'ADV-04', 'ADV-05', 'ADV-08', 'ADV-12'],
  settles: ADVANTAGE_ITEMS,
  given: given(),
  coverage: { 'several groups': 0.2, 'small spread': 0.1, 'same prompt twice': 0.1, 'unequal lengths': 0.3 },
  async check(subject, drawn) {
    const asked = await ask(subject, drawn);
    const { rewards, group_ids, lengths, advantages } = asked;
    const miscounted = wrongLength(asked);
    if (miscounted !== undefined) return miscounted;
    const band = bandOf(subject, rewards.length * rounding(rewards));
    const variants = candidates(subject, asked);
    const fits = variants.map((variant) => {
      const expected = groupAdvantages(rewards, group_ids, variant, lengths);
      return {
        variant,
        expected,
        wrong: expected.flatMap((want, at) => (band.close(advantages[at], want) ? [] : [at])),
      };
    });
    if (fits.some(({ wrong }) => wrong.length === 0)) return undefined;
    const small = smallSpread(subject, asked, variants, band);
    if (small !== undefined) return small;
    const closest = fits.sort((a, b) => a.wrong.length - b.wrong.length)[0];
    const [first] = closest?.wrong ?? [];
    if (closest === undefined || first === undefined) return undefined;
    const cause = await explained(subject);
    return numberFinding({
      kind: 'value',
      sentence: `The advantage of row ${first} (reward ${rewards[first]}, group ${group_ids[first]}) is ${show(advantages[first])}; ${describeAdvantage(closest.variant)} gives ${show(closest.expected[first])}.${causeWords(cause)}`,
      band,
      pairs: closest.wrong.map((at) => ({
        where: `row ${at}`,
        expected: closest.expected[at],
        observed: advantages[at],
      })),
      ...(cause?.proven === true
        ? {}
        : answersOf(subject, 'advantages', ADVANTAGE_ITEMS, {
            advantage_baseline: closest.variant.baseline ?? 'group-mean',
            advantage_scaling: closest.variant.scaling,
          })),
      ...(variants.length > 1
        ? {
            note: `None of the ${variants.length} variants that the declared semantics allow fits; this one is closest.`,
          }
        : {}),
    });
  },
};

/** Of a group of hundreds the first few are enough to know it again. */
const LISTED = 16;

function listed(values: readonly number[]): string {
  const more = values.length - LISTED;
  return `${values.slice(0, LISTED).map(show).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const zeroMean: Property<Grouped> = {
  ...base,
  id: 'advantages/zero-mean-in-each-group',
  title: 'The advantages of a group sum to zero, each times its length where the baseline is length-weighted',
  why: 'A baseline over the wrong rows rewards easy prompts and punishes hard ones, whatever the answers.',
  catches: ['ADV-03', 'ADV-04', 'ADV-06', 'ADV-12'],
  needs: [groupBaseline, centredBaseline],
  given: given(),
  coverage: { 'groups of different means': 0.3 },
  async check(subject, drawn) {
    const asked = await ask(subject, drawn);
    const miscounted = wrongLength(asked);
    if (miscounted !== undefined) return miscounted;
    const { rewards, group_ids, lengths, advantages } = asked;
    const baseline = subject.semantics.advantage_baseline;
    const weighted = advantages.map((value, at) => value * (lengths[at] ?? 1));
    // Undeclared, either will do.
    const ways = baseline === undefined ? [advantages, weighted] : [advantages];
    for (const [group, own] of drawn.groups.entries()) {
      const sums = (baseline === 'length-weighted' ? [weighted] : ways).map((way) => {
        const values = way.filter((_, at) => group_ids[at] === group);
        const sum = values.reduce((a, b) => a + b, 0);
        const size = Math.max(1, ...values.map(Math.abs));
        const { absolute } = bandOf(subject, rewards.length * size * rounding(rewards));
        return { values, sum, isZero: Math.abs(sum) <= absolute * rewards.length };
      });
      const [first] = sums;
      if (first === undefined || sums.some(({ isZero }) => isZero)) continue;
      const { values, sum } = first;
      return {
        kind: 'mean',
        sentence: `The advantages of group ${group} (rewards ${listed(own)})${baseline === 'length-weighted' ? ', times their lengths,' : ''} are ${listed(values)}: their mean is ${show(sum / values.length)}, not 0.`,
      };
    }
    return undefined;
  },
};

const equalRewards: Property<Grouped> = {
  ...base,
  id: 'advantages/equal-rewards-give-zero',
  title: 'A group whose rewards are all equal has advantages of zero but for rounding, and no NaN',
  why: 'A standard deviation of 0, or of rounding noise, blows one lucky group up over all others.',
  catches: ['ADV-05', 'NUM-01', 'ZL-04'],
  needs: [groupBaseline],
  given: (world) => grouped({ ...shapeOf(world), constant: true }),
  async check(subject, drawn) {
    const asked = await ask(subject, drawn);
    const at = asked.advantages.findIndex((value) => !(Math.abs(value) <= bandOf(subject).absolute));
    if (at < 0) return undefined;
    const group = drawn.groups[asked.group_ids[at] ?? 0] ?? [];
    return {
      kind: 'nonzero',
      sentence: `All rewards of the group of row ${at} are ${group[0]}, but its advantage is ${show(asked.advantages[at])}.`,
    };
  },
};

const groupsOfOne: Property<Grouped> = {
  ...base,
  id: 'advantages/groups-of-one-train',
  // Where a group of one is what remained of a larger one, 0 is a fair answer.
  level: 'should',
  title: 'Where groups of one are taken, their advantages are finite, and not zero for a reward that is not',
  why: 'With one completion per prompt, a group baseline is the reward itself: every advantage is 0, or NaN, and the run trains nothing.',
  catches: ['ADV-14', 'ADV-05', 'NUM-01'],
  needs: [
    ({ hello }) =>
      hello.ops.advantages?.groups_of_one ? undefined : 'op `advantages` does not take groups of one',
  ],
  given: (world) => grouped({ ...shapeOf(world), size: 1, minGroups: 2 }),
  coverage: { 'groups of one': 0.9 },
  async check(subject, drawn) {
    const args = flat(drawn);
    const { rewards } = args;
    const { advantages } = await subject.ask('advantages', args);
    const broken = advantages.findIndex((value) => !Number.isFinite(value));
    if (broken >= 0)
      return {
        kind: 'not finite',
        sentence: `The advantage of row ${broken}, alone in its group, is ${advantages[broken]}.`,
      };
    // With rewards that are all equal, any baseline may leave nothing.
    if (new Set(rewards).size === 1) return discard('all rewards are equal');
    if (advantages.some((value) => value !== 0)) return undefined;
    return {
      kind: 'zero',
      sentence: `Rewards are ${rewards.join(', ')}, each alone in its group, and every advantage is 0: nothing would be trained.`,
    };
  },
};

export const advantagesProperties: readonly Property<Grouped>[] = [
  equals,
  zeroMean,
  equalRewards,
  groupsOfOne,
];
