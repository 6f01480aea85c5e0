// Advantages under changes that must not matter: the order of rows, other groups, ranks, what was asked before.
import {
  type Args,
  agreement,
  bandOf,
  discard,
  type Grouped,
  groupedLabels,
  knobs,
  meantOr,
  type Need,
  notMeant,
  type Observed,
  type Property,
  relations,
  type Subject,
  type World,
} from '../../src/index.ts';
import { flat, given, groupBaseline, quieted, rounding } from './groups.ts';

/** Groups share nothing but the code. */
const groupScaling: Need = ({ semantics: { advantage_scaling: scaling, own_formulas: own } }) => {
  // GPG gives what groups without spread would have had to the others.
  if (own?.includes('advantages'))
    return 'the advantages have a formula of their own (own_formulas), which may share out among groups';
  if (scaling === 'batch')
    return 'semantics.advantage_scaling is "batch": groups share one standard deviation';
  return scaling === undefined
    ? 'semantics.advantage_scaling is not declared, and batch scaling is legal'
    : undefined;
};

const related = {
  op: 'advantages',
  stage: 'advantages',
  noun: 'The advantage',
  given: given(2),
  args: (drawn: Grouped, world: World): Args<'advantages'> => {
    const args = flat(drawn);
    return { ...args, ...(world.hello.ops.advantages?.ranks ? { ranks: ranksOf(args.rewards.length) } : {}) };
  },
  labels: groupedLabels,
} as const;

/** Two ranks that do not end where a group does, where there are rows enough. */
const ranksOf = (rows: number): number[][] => {
  const all = Array.from({ length: rows }, (_, row) => row);
  return rows < 2 ? [all] : [all.slice(0, 1), all.slice(1)];
};

/** Equal rewards may leave rounding, magnified; `ask` reads it as none. */
async function observe(subject: Subject, args: Args<'advantages'>): Promise<Observed> {
  const { advantages } = await subject.ask('advantages', args);
  const band = bandOf(subject, args.rewards.length * rounding(args.rewards));
  const largest = Math.max(1, ...advantages.map(Math.abs).filter(Number.isFinite));
  return {
    fields: { advantages: quieted(subject, args, advantages) },
    slack: { advantages: band.allowed(largest) },
  };
}

export const advantagesRelations: readonly Property<Grouped>[] = [
  ...relations<'advantages', Grouped>({
    ...related,
    observe,
    allBut: [],
    relations: {
      'row-order': { catches: ['ADV-04', 'ADV-12', 'PAD-08'] },
      'batch-mates': { catches: ['ADV-02', 'ADV-03', 'ADV-04'], needs: [groupBaseline, groupScaling] },
      ranks: { catches: ['ADV-13', 'LOSS-02'] },
      'same-twice': { catches: ['ADV-06'] },
      inputs: { catches: ['ADV-06'] },
    },
  }),
];

export const advantagesKnobs = knobs<'advantages', Grouped>({ ...related, catches: ['ADV-02', 'KL-09'] });

const mayDiffer: Need = (world) => {
  const { group_size: size } = world.hello.ops.advantages ?? {};
  if (size !== undefined) return `op \`advantages\` takes groups of ${size} alone (group_size)`;
  return notMeant('equal_groups')(world);
};

/** The first group with a row more than the others. */
const unequal = ({
  groups: [group = [], ...groups],
  lengths: [rows = [], ...lengths],
  ...drawn
}: Grouped): Grouped => ({
  ...drawn,
  groups: [[...group, MORE], ...groups],
  lengths: [[...rows, 1], ...lengths],
});

/** No reward of most groups. */
const MORE = 1.75;

const alone = (drawn: Grouped, group: number): Grouped => ({
  ...drawn,
  groups: drawn.groups.slice(group, group + 1),
  prompts: drawn.prompts.slice(group, group + 1),
  lengths: drawn.lengths.slice(group, group + 1),
});

export const unequalGroups: readonly Property<Grouped>[] = [
  {
    stage: 'advantages',
    id: 'advantages/groups-may-differ-in-size',
    title:
      'Groups of unequal size have the advantages that each has alone, or are refused, unless all are declared to be of one size',
    why: 'Rollouts that are filtered out, aborted or lost leave groups of unequal size: rows divided by groups is the size of none of them.',
    level: 'must',
    ops: ['advantages'],
    catches: ['ADV-03', 'ADV-04'],
    needs: [groupBaseline, groupScaling, mayDiffer],
    given: given(2),
    labels: groupedLabels,
    async check(subject, given) {
      const drawn = unequal(given);
      const args = flat(drawn);
      const attempt = await subject.attempt('advantages', args);
      if ('refused' in attempt) return discard('groups of unequal size are refused', 'trainer');
      for (const group of drawn.groups.keys()) {
        const own = flat(alone(drawn, group));
        const rows = args.group_ids.flatMap((id, row) => (id === group ? [row] : []));
        const found = agreement({
          world: subject,
          op: 'advantages',
          args: own,
          before: await observe(subject, own),
          after: { fields: { advantages: quieted(subject, args, attempt.ok.advantages) } },
          place: new Map(rows.map((row, at) => [at, row])),
          when: `beside a group of ${drawn.groups[group === 0 ? 1 : 0]?.length} rows`,
        });
        if (found !== undefined)
          return {
            ...found,
            sentence: `In a group of ${rows.length} rows, ${found.sentence}`,
            ...meantOr(subject, 'equal_groups'),
          };
      }
      return undefined;
    },
  },
];
