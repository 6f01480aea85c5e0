// Sampled rows against the declared aggregation: read as it says, the advantages of a group add up to 0.
import {
  type Ledger,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerRow,
  many,
  show,
} from '../../../src/index.ts';
import { NOTHING, type Part } from '../judged-part.ts';
import { asides, type Found, judgementOf, targetStrips } from '../words.ts';
import { type DeclaredAggregation, groupRelative, perTokenTerm, policyAggregation } from './declared.ts';
import { type Group, groupsOf, type Member } from './groups.ts';

export type Way = Pick<DeclaredAggregation, 'aggregation' | 'local'>;

/** A row's part in the weight of its tokens, but for its advantage and what is the same in the whole step. */
function factorIn(declared: Way, member: Member): number {
  switch (declared.aggregation) {
    case 'token-mean':
      return declared.local ? 1 / member.batchTokens : 1;
    case 'seq-mean-token-mean':
      return 1 / (member.tokens * (declared.local ? member.batchRows : 1));
    case 'seq-mean-token-sum':
    case 'token-sum-norm':
      return 1 / member.batchRows;
  }
}

/** Rewards are rounded before their mean is taken off: this share of the largest advantage may be left. */
const LEFT_OVER = 5e-3;

/** Advantages, as far as one factor for the step. */
export const withFactor = ({ members }: Group, way: Way): number[] =>
  members.map((member) => member.weight / factorIn(way, member));

/** What is left of the sum of a group's advantages, as a share of the largest. */
export function leftOver(group: Group, declared: Way): number {
  const advantages = withFactor(group, declared);
  const largest = Math.max(...advantages.map(Math.abs));
  return largest === 0 ? 0 : Math.abs(advantages.reduce((sum, each) => sum + each, 0)) / largest;
}

/** Groups to be judged, and of each other one why nothing can be said of it; undefined: it is not asked. */
function groupsAsked(
  ledger: Ledger,
): { readonly live: readonly Group[]; readonly aside: readonly string[] } | undefined {
  const { settings } = ledger;
  const { semantics } = settings;
  if (groupRelative(settings) === undefined || perTokenTerm(settings) !== undefined) return undefined;
  // Completions without an end have no weight then, whatever their advantage.
  if (semantics.truncated_completions_trained === false) return undefined;
  if (semantics.own_formulas?.includes('advantages') === true) return undefined;
  const { groups, setAside } = groupsOf(ledger);
  const live = groups.filter(({ members }) => members.some(({ weight }) => weight !== 0));
  return {
    live,
    aside: [...setAside, ...asides(groups.length - live.length, 'no completion of the group has a weight')],
  };
}

const roomOf = ({ members }: Group): number =>
  Math.max(
    LEFT_OVER,
    members.reduce((sum, { weight, relative }) => sum + (weight === 0 ? 0 : relative), 0),
  );

/** Whether the advantages add up to 0 under a way of aggregation, within what they may be off by. */
export const isCentred = (group: Group, way: Way): boolean => leftOver(group, way) <= roomOf(group);

/** As declared; micro-batches of unequal rows may be averaged or not, where it is rows that are counted. */
const isAsDeclared = (group: Group, declared: DeclaredAggregation): boolean =>
  isCentred(group, declared) ||
  (declared.aggregation === 'seq-mean-token-mean' &&
    isCentred(group, { ...declared, local: !declared.local }));

/** Groups that are centred, but under another aggregation than the declared one. */
export function ofGroups(ledger: Ledger): Part {
  const declared = policyAggregation(ledger.settings);
  const asked = declared === undefined ? undefined : groupsAsked(ledger);
  if (declared === undefined || asked === undefined) return NOTHING;
  const aside = [...asked.aside];
  let judged = 0;
  const found: Found[] = [];
  for (const group of asked.live) {
    const good = isAsDeclared(group, declared);
    const instead = good ? undefined : WAYS.find((way) => isCentred(group, way));
    // Under none of them: that is the business of the rule about baselines.
    if (good || instead !== undefined) judged++;
    else aside.push('the advantages of the group add up to 0 in no known way');
    if (instead !== undefined) found.push(unbalanced(ledger, group, declared, instead));
  }
  return { judged, aside, found };
}

export const centred: LedgerProperty = {
  id: 'trace/advantages-are-centred',
  title: 'The advantages of the completions to one prompt add up to 0, once the KL term is taken off',
  stage: 'trace',
  level: 'must',
  why: 'Rewards without their baseline, or less the mean of other prompts, push all answers to an easy prompt up and all to a hard one down: noise that looks like learning.',
  catches: ['ADV-02', 'ADV-03', 'ADV-04'],
  needs: ({ settings }) => {
    if (groupRelative(settings) === undefined)
      return 'nothing says that advantages have the mean of their group as a baseline: that needs a GRPOTrainer or RLOOTrainer, or --semantics \'{"advantage_baseline":"group-mean"}\'';
    if (settings.semantics.truncated_completions_trained === false)
      return 'truncated completions are left out of the loss, and with them a part of each group';
    if (settings.semantics.own_formulas?.includes('advantages') === true)
      return 'own_formulas declares advantages that are none of those known';
    return perTokenTerm(settings);
  },
  judge: (ledger) => {
    const { live = [], aside = [] } = groupsAsked(ledger) ?? {};
    // What is left out of the loss for having no end is left out of the sum as well, and nobody need declare it.
    const masked = (group: Group): boolean =>
      group.members.some(({ row, weight }) => weight === 0 && isUnended(row) && !trainsUnended(ledger, row));
    const off = live.filter((group) => !WAYS.some((way) => isCentred(group, way)));
    const set = off.filter(masked);
    const judgement = judgementOf(
      live.length - set.length,
      [...aside, ...asides(set.length, 'a completion without a stop token may be left out on purpose')],
      off.filter((group) => !masked(group)).map((group) => uncentred(ledger, group)),
    );
    // One group tells as much as all.
    return set.length === 0 ? judgement : { ...judgement, notices: set.slice(0, 1).map(maybeCut) };
  },
};

const isUnended = ({ spans: { completions } }: LedgerRow): boolean =>
  completions.every(({ stop }) => stop === undefined);

function maybeCut(group: Group): LedgerNotice {
  const { step, members } = group;
  const without = members.filter(({ row, weight }) => weight === 0 && isUnended(row)).length;
  const weights = members.map(({ weight }) => show(weight)).join(', ');
  return {
    sentence: `The advantages of the ${many(members.length, 'completion')} to one prompt in step ${step} do not add up to 0 (weights of a token: ${weights}). ${without} of them ${without === 1 ? 'has' : 'have'} no weight and no stop token: right where completions that were cut are left out of the loss, else the baseline is wrong.`,
    answers: ['"truncated_completions_trained": false', '"truncated_completions_trained": true'],
  };
}

/** Completions that were cut are trained: it is declared, or another one at least as long without an end has a weight. */
function trainsUnended({ rows, settings }: Ledger, row: LedgerRow): boolean {
  const declared = settings.semantics.truncated_completions_trained;
  if (declared !== undefined) return declared;
  return rows.some(
    (each) =>
      each.spans.origin.kind === 'generation' &&
      isUnended(each) &&
      lengthOf(each) >= lengthOf(row) &&
      each.trained.some((target) => (target?.weight ?? 0) !== 0),
  );
}

const lengthOf = ({ spans: { completions } }: LedgerRow): number =>
  completions.reduce((sum, { from, to }) => sum + to - from, 0);

function uncentred(ledger: Ledger, group: Group): Found {
  const way = policyAggregation(ledger.settings) ?? STEP_MEAN;
  const left = leftOver(group, way);
  const [first] = group.members.toSorted((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
  const signs = new Set(group.members.map(({ weight }) => Math.sign(weight)).filter((sign) => sign !== 0));
  const all = signs.size > 1 ? '' : ` All of them are pushed ${signs.has(1) ? 'up' : 'down'}.`;
  return {
    harm: left,
    tell: () => ({
      kind: 'baseline',
      sentence: `The advantages of the ${many(group.members.length, 'completion')} to one prompt in step ${group.step} do not add up to 0: ${show(left)} times the largest is left, in whatever way their weights are read.${all}`,
      numbers: [
        {
          where: `sum of the group's advantages over the largest`,
          expected: 0,
          observed: left,
          allowed: roomOf(group),
        },
      ],
      ...targetStrips(ledger, first?.row),
      note: `An advantage less its group's mean is declared (${groupRelative(ledger.settings)}). Look at the axis of the mean, at the order of rows within the groups, and whether the baseline is subtracted at all.`,
      given: givenOf(group),
    }),
  };
}

function unbalanced(ledger: Ledger, group: Group, declared: DeclaredAggregation, instead: Way): Found {
  const left = leftOver(group, declared);
  const [first] = group.members.toSorted((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
  return {
    harm: left,
    tell: () => ({
      kind: 'group',
      sentence: `The advantages of the ${many(group.members.length, 'completion')} to one prompt in step ${group.step} do not add up to 0: ${show(left)} times the largest is left when their weights are read as a ${nameOf(declared)}. Read as a ${nameOf(instead)} they do.`,
      numbers: [
        {
          where: `sum of the group's advantages over the largest`,
          expected: 0,
          observed: left,
          allowed: roomOf(group),
        },
      ],
      ...targetStrips(ledger, first?.row),
      note: `${declared.from} declares it, and an advantage less its group's mean (${groupRelative(ledger.settings)}).`,
      given: givenOf(group),
    }),
  };
}

const givenOf = ({ step, members }: Group): unknown => ({
  step,
  completions: members.map(({ row, weight, tokens, batchTokens, batchRows }) => ({
    rank: row.rank,
    forward: row.forward,
    row: row.row,
    tokens,
    weight,
    micro_batch_tokens: batchTokens,
    micro_batch_rows: batchRows,
  })),
});

const nameOf = ({ aggregation, local }: Way): string =>
  aggregation === 'token-mean' ? `token-mean of ${local ? 'each micro-batch' : 'the step'}` : aggregation;

export const STEP_MEAN: Way = { aggregation: 'token-mean', local: false };
export const LOCAL_MEAN: Way = { aggregation: 'token-mean', local: true };
export const WAYS: readonly Way[] = [
  STEP_MEAN,
  LOCAL_MEAN,
  { aggregation: 'seq-mean-token-mean', local: true },
  { aggregation: 'seq-mean-token-mean', local: false },
  { aggregation: 'seq-mean-token-sum', local: true },
];
