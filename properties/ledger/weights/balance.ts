// Sampled rows against the declared aggregation: read as it says, the advantages of a group add up to 0.
import { type Ledger, many, show } from '../../../src/index.ts';
import { NOTHING, type Part } from '../judged-part.ts';
import { type Found, targetStrips } from '../words.ts';
import {
  betaOf,
  type DeclaredAggregation,
  groupRelative,
  perTokenTerm,
  policyAggregation,
} from './declared.ts';
import { type Group, groupsOf, type Member } from './groups.ts';

/** A row's part in the weight of its tokens, but for its advantage and what is the same in the whole step. */
function factorIn(declared: Pick<DeclaredAggregation, 'aggregation' | 'local'>, member: Member): number {
  switch (declared.aggregation) {
    case 'token-mean':
      return declared.local ? 1 / member.batchTokens : 1;
    case 'seq-mean-token-mean':
      return 1 / (member.tokens * member.batchRows);
    case 'seq-mean-token-sum':
    case 'token-sum-norm':
      return 1 / member.batchRows;
  }
}

/** Rewards are rounded before their mean is taken off: this share of the largest advantage may be left. */
const LEFT_OVER = 5e-3;

/** What is left of the sum of a group's advantages, as a share of the largest. */
function leftOver({ members }: Group, declared: Pick<DeclaredAggregation, 'aggregation' | 'local'>): number {
  const advantages = members.map((member) => member.weight / factorIn(declared, member));
  const largest = Math.max(...advantages.map(Math.abs));
  return largest === 0 ? 0 : Math.abs(advantages.reduce((sum, each) => sum + each, 0)) / largest;
}

export function ofGroups(ledger: Ledger): Part {
  const { settings } = ledger;
  const declared = policyAggregation(settings);
  const asked =
    declared !== undefined && groupRelative(settings) !== undefined && perTokenTerm(settings) === undefined;
  if (!asked) return NOTHING;
  // Completions without an end have no weight then, whatever their advantage.
  if (settings.semantics.truncated_completions_trained === false) return NOTHING;
  const { groups, setAside } = groupsOf(ledger);
  if (addsConstant(ledger)) return { ...NOTHING, aside: groups.length + setAside };
  const live = groups.filter(({ members }) => members.some(({ weight }) => weight !== 0));
  const found = live.flatMap((group) => {
    const room = Math.max(
      LEFT_OVER,
      group.members.reduce((sum, { weight, relative }) => sum + (weight === 0 ? 0 : relative), 0),
    );
    return leftOver(group, declared) <= room ? [] : [unbalanced(ledger, group, declared, room)];
  });
  return { judged: live.length, aside: setAside + groups.length - live.length, found };
}

function unbalanced(ledger: Ledger, group: Group, declared: DeclaredAggregation, room: number): Found {
  const others = WAYS.filter(
    (way) => way.aggregation !== declared.aggregation || way.local !== declared.local,
  ).filter((way) => leftOver(group, way) <= room);
  const left = leftOver(group, declared);
  const [first] = group.members.toSorted((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
  const instead = others[0];
  return {
    harm: left,
    tell: () => ({
      kind: 'group',
      sentence: `The advantages of the ${many(group.members.length, 'completion')} to one prompt in step ${group.step} do not add up to 0: ${show(left)} times the largest is left when their weights are read as a ${nameOf(declared)}.${instead === undefined ? '' : ` Read as a ${nameOf(instead)} they do.`}`,
      numbers: [
        {
          where: `sum of the group's advantages over the largest`,
          expected: 0,
          observed: left,
          allowed: room,
        },
      ],
      ...targetStrips(ledger, first?.row),
      note: `${declared.from} declares it, and an advantage less its group's mean (${groupRelative(ledger.settings)}).`,
      given: {
        step: group.step,
        completions: group.members.map(({ row, weight, tokens, batchTokens, batchRows }) => ({
          rank: row.rank,
          forward: row.forward,
          row: row.row,
          tokens,
          weight,
          micro_batch_tokens: batchTokens,
          micro_batch_rows: batchRows,
        })),
      },
    }),
  };
}

const nameOf = ({ aggregation, local }: Pick<DeclaredAggregation, 'aggregation' | 'local'>): string =>
  aggregation === 'token-mean' ? `token-mean of ${local ? 'each micro-batch' : 'the step'}` : aggregation;

const WAYS: readonly Pick<DeclaredAggregation, 'aggregation' | 'local'>[] = [
  { aggregation: 'token-mean', local: false },
  { aggregation: 'token-mean', local: true },
  { aggregation: 'seq-mean-token-mean', local: true },
  { aggregation: 'seq-mean-token-sum', local: true },
];

/** A KL term may weigh every token alike, which no group's mean takes off: k1 does, whatever the reference says. */
function addsConstant({ settings, scored }: Ledger): boolean {
  const beta = betaOf(settings) ?? Number(scored.some(({ by }) => by === 'reference'));
  const { kl_estimator: estimator } = settings.semantics;
  return beta !== 0 && estimator !== 'k2' && estimator !== 'k3';
}
