// Groups of a group-relative method: the completions of one prompt in one step, with the weight that each has. Their
// advantages add up to 0, which tells whether the weights were divided as declared, though nobody knows the rewards.
import { isOpen, type Ledger, type LedgerRow, targetsOf } from '../../../src/index.ts';
import { withoutKl } from './without-kl.ts';

export interface Member {
  readonly row: LedgerRow;
  /** One weight of all its tokens, the KL term taken off; 0: it has no gradient. */
  readonly weight: number;
  /** What `weight` may be off by, as a share of it. */
  readonly relative: number;
  /** Tokens that count in a mean over the row. */
  readonly tokens: number;
  /** The same, of its micro-batch; and rows of that. */
  readonly batchTokens: number;
  readonly batchRows: number;
}

export interface Group {
  readonly step: number;
  readonly members: readonly Member[];
}

/** Groups of which every completion is there, was sampled just before, and has one weight; and why others are not so. */
export function groupsOf(ledger: Ledger): {
  readonly groups: readonly Group[];
  readonly setAside: readonly string[];
} {
  const groups: Group[] = [];
  const setAside: string[] = [];
  for (const rows of byPrompt(ledger)) {
    const members = rows.map((row) => memberOf(ledger, row));
    const why = members.find((each) => typeof each === 'string');
    const known = members.filter((each) => typeof each !== 'string');
    if (why !== undefined) setAside.push(why);
    else if (isWhole(ledger, rows)) groups.push({ step: rows[0]?.step ?? 0, members: known });
    else setAside.push('not all completions to the prompt are in the step, or only one is');
  }
  return { groups, setAside };
}

function byPrompt({ rows }: Ledger): LedgerRow[][] {
  const found = new Map<string, LedgerRow[]>();
  for (const row of rows) {
    if (row.spans.origin.kind !== 'generation') continue;
    const key = `${row.step}: ${promptOf(row).join(' ')}`;
    found.set(key, [...(found.get(key) ?? []), row]);
  }
  return [...found.values()];
}

export const promptOf = (row: LedgerRow): number[] => {
  const to = row.spans.completions[0]?.from ?? row.ids.length;
  return row.ids.filter((_, column) => column < to && row.real[column]);
};

/** Or why its weight says nothing of its group. */
function memberOf(ledger: Ledger, row: LedgerRow): Member | string {
  const { origin } = row.spans;
  if (origin.kind !== 'generation' || !row.reached)
    return 'no backward pass reached a completion of the group';
  if (row.notFinite > 0) return 'the gradient of a completion is not finite';
  // Off policy there are ratios, and clipped ones have no gradient.
  if (origin.generations.some((at) => ledger.generations[at]?.step !== row.step))
    return 'the policy has stepped since the group was sampled';
  const targets = targetsOf(row);
  if (targets.some(({ trained }) => isOpen(trained))) return 'no single target explains the gradient';
  const advantage = targets.length === 0 ? { weight: 0, relative: 0 } : withoutKl(ledger, row, targets);
  if (advantage === undefined) return 'the one weight of a completion cannot be told from a KL term';
  const batch = ledger.rows.filter(
    ({ step, rank, forward }) => step === row.step && rank === row.rank && forward === row.forward,
  );
  return {
    row,
    ...advantage,
    tokens: tokensOf(row),
    batchTokens: batch.reduce((sum, each) => sum + tokensOf(each), 0),
    batchRows: batch.length,
  };
}

/** A row without advantage has no gradient, but its tokens count. */
export const tokensOf = (row: LedgerRow): number => {
  const trained = targetsOf(row).length;
  return trained > 0 ? trained : row.spans.completions.reduce((sum, { from, to }) => sum + to - from, 0);
};

function isWhole({ generations, settings }: Ledger, rows: readonly LedgerRow[]): boolean {
  const size = settings.values.num_generations;
  if (rows.length < 2 || (typeof size === 'number' && rows.length % size !== 0)) return false;
  const prompt = rows[0] === undefined ? '' : promptOf(rows[0]).join(' ');
  const sampled = generations.filter(
    ({ step, promptIds }) => step === rows[0]?.step && promptIds.join(' ') === prompt,
  );
  return sampled.length === rows.length;
}
