// Advantages under changes that must not matter: the order of rows, other groups, ranks, what was asked before.
import {
  type Args,
  bandOf,
  type Grouped,
  groupedLabels,
  knobs,
  type Need,
  type Observed,
  type Property,
  relations,
  type Subject,
  type World,
} from '../../src/index.ts';
import { flat, given, groupBaseline, quieted, rounding } from './groups.ts';

/** Groups share nothing but the code. */
const groupScaling: Need = ({ semantics: { advantage_scaling: scaling } }) => {
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
