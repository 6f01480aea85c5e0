// Group-relative advantages: what a reward is worth among the rollouts of its own prompt.
import {
  type AdvantageVariant,
  advantageVariants,
  bandOf,
  describeAdvantage,
  type Finding,
  type Grouped,
  groupAdvantages,
  grouped,
  groupedLabels,
  type Need,
  numberFinding,
  type Property,
  type Subject,
  show,
  type World,
  withImpliedEpsilon,
} from '../src/index.ts';

const base = { stage: 'advantages', level: 'must', ops: ['advantages'], labels: groupedLabels } as const;
const given =
  (minGroups = 1) =>
  (world: World) =>
    grouped({ size: world.hello.ops.advantages?.group_size, minGroups, dtype: world.hello.dtype });

/** Advantages are relative to the group, in either way, unless something else is declared. */
const groupBaseline: Need = ({ semantics: { advantage_baseline: baseline } }) =>
  baseline === 'batch-mean' || baseline === 'none'
    ? `semantics.advantage_baseline is "${baseline}": rewards are not compared within their group`
    : undefined;

const flat = ({ groups }: Grouped): { rewards: number[]; group_ids: number[] } => ({
  rewards: groups.flat(),
  group_ids: groups.flatMap((group, at) => group.map(() => at)),
});

async function ask(
  subject: Subject,
  drawn: Grouped,
): Promise<{ rewards: number[]; group_ids: number[]; advantages: readonly number[] }> {
  const args = flat(drawn);
  const { advantages } = await subject.ask('advantages', args);
  const quiet = (value: number, row: number): boolean =>
    groupBaseline(subject) === undefined &&
    Math.abs(value) <= HARMLESS &&
    new Set(drawn.groups[args.group_ids[row] ?? 0]).size === 1;
  return { ...args, advantages: advantages.map((value, row) => (quiet(value, row) ? 0 : value)) };
}

/**
 * Equal rewards may leave the rounding of their mean divided by an epsilon (0.1 three times over 1e-8). Up to a
 * hundredth of what a real difference gives it is nobody's harm, and read as 0; without an epsilon it is near 1.
 */
const HARMLESS = 0.01;

/** Advantages divided by a tiny spread carry the rewards' rounding, magnified. */
const rounding = (rewards: readonly number[]): number => Math.max(1, ...rewards.map(Math.abs));

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
  { rewards, group_ids, advantages }: Awaited<ReturnType<typeof ask>>,
): AdvantageVariant[] {
  const known = advantageVariants(subject.semantics);
  if (subject.semantics.advantage_epsilon !== undefined) return known;
  const forms = new Map(known.map((variant) => [JSON.stringify({ ...variant, epsilon: 0 }), variant]));
  const implied = [...forms.values()].map((variant) =>
    withImpliedEpsilon(rewards, group_ids, advantages, variant, LARGEST_EPSILON),
  );
  return [...known, ...implied];
}

const equals: Property<Grouped> = {
  ...base,
  id: 'advantages/equal-the-declared-formula',
  title: 'Advantages are rewards minus their baseline, scaled as declared (or, undeclared, in a known way)',
  why: 'A swapped group and batch, a lost minus, or another denominator changes which answers are reinforced.',
  catches: ['ADV-02', 'ADV-03', 'ADV-04', 'ADV-05', 'ADV-08', 'ADV-12'],
  given: given(),
  coverage: { 'several groups': 0.3, 'small spread': 0.2 },
  async check(subject, drawn) {
    const asked = await ask(subject, drawn);
    const { rewards, group_ids, advantages } = asked;
    const lengths = wrongLength(asked);
    if (lengths !== undefined) return lengths;
    const band = bandOf(subject, rewards.length * rounding(rewards));
    const variants = candidates(subject, asked);
    const fits = variants.map((variant) => {
      const expected = groupAdvantages(rewards, group_ids, variant);
      return {
        variant,
        expected,
        wrong: expected.flatMap((want, at) => (band.close(advantages[at], want) ? [] : [at])),
      };
    });
    if (fits.some(({ wrong }) => wrong.length === 0)) return undefined;
    const closest = fits.sort((a, b) => a.wrong.length - b.wrong.length)[0];
    const [first] = closest?.wrong ?? [];
    if (closest === undefined || first === undefined) return undefined;
    return numberFinding({
      kind: 'value',
      sentence: `The advantage of row ${first} (reward ${rewards[first]}, group ${group_ids[first]}) is ${show(advantages[first])}; ${describeAdvantage(closest.variant)} gives ${show(closest.expected[first])}.`,
      band,
      pairs: closest.wrong.map((at) => ({
        where: `row ${at}`,
        expected: closest.expected[at],
        observed: advantages[at],
      })),
      ...(variants.length > 1
        ? {
            note: `None of the ${variants.length} variants that the declared semantics allow fits; this one is closest.`,
          }
        : {}),
    });
  },
};

const zeroMean: Property<Grouped> = {
  ...base,
  id: 'advantages/zero-mean-in-each-group',
  title: 'The advantages of a group sum to zero',
  why: 'A baseline over the wrong rows rewards easy prompts and punishes hard ones, whatever the answers.',
  catches: ['ADV-03', 'ADV-04', 'ADV-06', 'ADV-12'],
  needs: [groupBaseline],
  given: given(),
  coverage: { 'groups of different means': 0.3 },
  async check(subject, drawn) {
    const asked = await ask(subject, drawn);
    const lengths = wrongLength(asked);
    if (lengths !== undefined) return lengths;
    const { rewards, group_ids, advantages } = asked;
    for (const [group, own] of drawn.groups.entries()) {
      const values = advantages.filter((_, at) => group_ids[at] === group);
      const sum = values.reduce((a, b) => a + b, 0);
      const size = Math.max(1, ...values.map(Math.abs));
      if (
        Math.abs(sum) <=
        bandOf(subject, rewards.length * size * rounding(rewards)).absolute * rewards.length
      )
        continue;
      return {
        kind: 'mean',
        sentence: `The advantages of group ${group} (rewards ${own.join(', ')}) are ${values.map(show).join(', ')}: their mean is ${show(sum / values.length)}, not 0.`,
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
  given: (world) => grouped({ size: world.hello.ops.advantages?.group_size, constant: true }),
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

const permutation: Property<Grouped> = {
  ...base,
  id: 'advantages/follow-their-rows',
  title: 'Advantages move with their rows when groups, and rows within groups, change places',
  why: 'Advantages that stay behind when rows move belong to other answers.',
  catches: ['ADV-04', 'ADV-12', 'PAD-08'],
  given: given(2),
  async check(subject, drawn) {
    const before = await ask(subject, drawn);
    const turned = { groups: [...drawn.groups].reverse().map((group) => [...group].reverse()) };
    const after = await ask(subject, turned);
    const expected = [...before.advantages].reverse();
    const band = bandOf(subject, before.rewards.length * rounding(before.rewards));
    const at = expected.findIndex((want, row) => !band.close(after.advantages[row], want));
    if (at < 0) return undefined;
    return numberFinding({
      kind: 'order',
      sentence: `With all rows in reverse order, the advantage of the reward ${after.rewards[at]} in row ${at} is ${show(after.advantages[at])}; before, it was ${show(expected[at])}.`,
      band,
      pairs: [{ where: `row ${at}`, expected: expected[at], observed: after.advantages[at] }],
    });
  },
};

const otherGroups: Property<Grouped> = {
  ...base,
  id: 'advantages/independent-of-other-groups',
  title: 'With group scaling, the rewards of one prompt leave the advantages of another alone',
  why: 'Where they do not, one prompt with large rewards silences all others in the batch.',
  catches: ['ADV-02', 'ADV-03', 'ADV-04'],
  needs: [
    groupBaseline,
    (world) => {
      const scaling = world.semantics.advantage_scaling;
      if (scaling === 'batch')
        return 'semantics.advantage_scaling is "batch": groups share one standard deviation';
      return scaling === undefined
        ? 'semantics.advantage_scaling is not declared, and batch scaling is legal'
        : undefined;
    },
  ],
  given: given(2),
  async check(subject, drawn) {
    const before = await ask(subject, drawn);
    const after = await ask(subject, {
      groups: drawn.groups.map((group, at) => (at === 0 ? group : group.map((reward) => reward * 4 + 3))),
    });
    const size = drawn.groups[0]?.length ?? 0;
    const band = bandOf(subject, before.rewards.length * rounding(before.rewards));
    const at = before.advantages
      .slice(0, size)
      .findIndex((want, row) => !band.close(after.advantages[row], want));
    if (at < 0) return undefined;
    return {
      kind: 'neighbours',
      sentence: `The advantage of row ${at} changes from ${show(before.advantages[at])} to ${show(after.advantages[at])} when only the rewards of other prompts change.`,
    };
  },
};

export const advantagesProperties: readonly Property<Grouped>[] = [
  equals,
  zeroMean,
  equalRewards,
  permutation,
  otherGroups,
];
