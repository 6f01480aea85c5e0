// How a finding about a ledger is told: where a row stands, its token strip with what was trained, and the few worst of
// what was found. No rule is here.
import {
  type Finding,
  type Ledger,
  type LedgerFinding,
  type LedgerJudgement,
  type LedgerRow,
  nameOf,
  type RowIds,
  type RowPlace,
  type Speller,
  type Strip,
  type StripToken,
  stripOf,
  targetsOf,
  tokenAt,
} from '../../src/index.ts';

/** Who spells the ids of this ledger. */
export const spellerOf = ({ tokenizer }: Ledger): Speller => ({ tokenizer, hello: {} });

/**
 * "step 0, row 3", "step 0, forward pass 7, row 3 of rank 1": all count from 0, as the trace file does. What is one only
 * is not said: the rank of a single process, the forward pass of a step that has no other. Actors of Ray that train nothing are
 * no ranks beside one that trains.
 */
export function placeOf(ledger: Ledger, at: RowPlace): string {
  const alone = [...ledger.rows, ...ledger.scored].every(
    ({ step, rank, forward }) => step !== at.step || rank !== at.rank || forward === at.forward,
  );
  const ranks = new Set(ledger.processes.flatMap(({ rank, node }) => (node === undefined ? [rank] : [])));
  for (const { rank } of ledger.rows) ranks.add(rank);
  return [
    `step ${at.step}`,
    ...(alone ? [] : [`forward pass ${at.forward}`]),
    `row ${at.row}${ranks.size > 1 ? ` of rank ${at.rank}` : ''}`,
  ].join(', ');
}

/** "Token 7 '␠the' (id 262)". */
export function tokenIn(ledger: Ledger, row: RowIds, column: number): string {
  return tokenAt(spellerOf(ledger), row.ids, column);
}

/** "'␠the' (id 262)", "id 262": a token that need not stand in a row. */
export function idName(ledger: Ledger, id: number): string {
  const name = nameOf(spellerOf(ledger), id);
  return name === `t${id}` ? `id ${id}` : `'${name}' (id ${id})`;
}

/** Cells by column, (T,) or (T + 1,). */
export type Tracks = Readonly<Record<string, readonly (number | string | undefined)[]>>;

/** The strip of a row with all its targets marked, as a part of a finding; nothing where there is no such row. */
export function targetStrips(ledger: Ledger, row: LedgerRow | undefined): Partial<Pick<Finding, 'strips'>> {
  if (row === undefined) return {};
  const marks = targetsOf(row).map(({ column }) => column);
  return { strips: [rowStrip(ledger, row, marks)] };
}

/**
 * The strip of a trained row, with its three tracks: the target that was trained at each token, its weight, and whether
 * the token should be trained; `more` stands above them. Of a row that was trained behind its end, one column more.
 */
export function rowStrip(ledger: Ledger, row: LedgerRow, marks: readonly number[], more: Tracks = {}): Strip {
  const speller = spellerOf(ledger);
  const behind = row.trained[row.ids.length] !== undefined;
  const { expected } = row.spans;
  const strip = stripOf(speller, {
    row: row.row,
    ids: row.ids,
    roles: row.spans.roles,
    tracks: {
      ...more,
      target: row.trained.map((each) =>
        each === undefined
          ? undefined
          : each.target === undefined
            ? each.taught !== undefined
              ? TEACHER
              : each.spread === undefined
                ? UNKNOWN
                : EVERY
            : nameOf(speller, each.target),
      ),
      weight: row.trained.map((each) =>
        each === undefined ? undefined : (each.spread ?? each.taught ?? each.weight ?? UNKNOWN),
      ),
      expected: row.ids.map((_, t) =>
        expected[t] === undefined ? 'either' : expected[t] ? 'trained' : 'not',
      ),
    },
    marks,
  });
  const wide = row.ids.length + Number(behind);
  const beyond: readonly StripToken[] = behind ? [{ text: BEHIND, role: 'padding' }] : [];
  return {
    ...strip,
    tokens: [...strip.tokens, ...beyond],
    tracks: strip.tracks.map(({ name, cells }) => ({
      name,
      cells: Array.from({ length: wide }, (_, t) => cells[t] ?? NOTHING),
    })),
  };
}

/** Something was trained, and it was not measured what, or how much. */
const UNKNOWN = '?';
/** Every token is pushed up alike. */
const EVERY = '(all)';
/** All tokens, as the teacher has them. */
const TEACHER = '(teacher)';
/** As strips write what is not there. */
const NOTHING = '·';
const BEHIND = '(after the row)';

/** The strip of a row that was only scored, or of which training is not the matter. */
export function idsStrip(
  ledger: Ledger,
  row: RowIds,
  roles: LedgerRow['spans']['roles'],
  tracks: Tracks,
  marks: readonly number[],
): Strip {
  return stripOf(spellerOf(ledger), { row: row.row, ids: row.ids, roles, tracks, marks });
}

/** What a finding about a row was found in: the row as the model got it, and what was trained of it. */
export function givenOf(row: LedgerRow): Readonly<Record<string, unknown>> {
  const trained = row.trained.some((each) => each !== undefined);
  return {
    step: row.step,
    rank: row.rank,
    forward: row.forward,
    row: row.row,
    input_ids: row.ids,
    ...(row.attention === undefined ? {} : { attention_mask: row.attention }),
    ...(row.positions === undefined ? {} : { position_ids: row.positions }),
    // JSON has no undefined; null is a token without a gradient, or what was not measured.
    ...(trained ? { targets: row.trained.map((each) => each?.target ?? null) } : {}),
    ...(trained ? { weights: row.trained.map((each) => roundedOr(each?.weight)) } : {}),
  };
}

/** As many digits as float32 has, so that a row can be read. */
function roundedOr(weight: number | undefined): number | null {
  return weight === undefined ? null : Number(weight.toPrecision(SINGLE_DIGITS));
}
const SINGLE_DIGITS = 7;

/** A finding to be told, and how bad it is beside others of its rule. */
export interface Found {
  /** Any number that grows with the harm: tokens, or a relative difference. */
  readonly harm: number;
  /** Only the worst are told: a long run may break a rule in every row. */
  readonly tell: () => LedgerFinding;
}

/** Nothing can be said of a case, and why: a short clause, "no tensor is frozen". */
export interface Aside {
  readonly aside: string;
}

export const aside = (why: string): Aside => ({ aside: why });

/** The same for so many cases. */
export const asides = (count: number, why: string): readonly string[] =>
  Array.from({ length: Math.max(0, count) }, () => why);

/** What a rule says of one case: nothing against it, nothing at all, or what is wrong. */
export type Said = 'good' | Aside | Found;

export const isAside = (said: unknown): said is Aside =>
  typeof said === 'object' && said !== null && 'aside' in said;
export const isFound = (said: unknown): said is Found =>
  typeof said === 'object' && said !== null && 'tell' in said;

/** The judgement of a rule that says one thing of each case; a word of its own is as good as `good`. */
export function judgementFrom(
  said: readonly (Said | string)[],
  labels?: Readonly<Record<string, number>>,
): LedgerJudgement {
  const left = said.filter(isAside).map(({ aside: why }) => why);
  return judgementOf(said.length - left.length, left, said.filter(isFound), labels);
}

/**
 * The worst few of what was found; of equal harm, the first.
 * @param setAside why, of each case that was not judged
 */
export function judgementOf(
  judged: number,
  setAside: readonly string[],
  found: readonly Found[],
  labels?: Readonly<Record<string, number>>,
): LedgerJudgement {
  const worst = found.toSorted((a, b) => b.harm - a.harm).slice(0, FEW);
  return {
    judged,
    setAside,
    findings: worst.map(({ tell }) => tell()),
    more: found.length - worst.length,
    ...(labels === undefined ? {} : { labels }),
  };
}

/** One shows the fault, a second that it was no accident, a third what they share. */
const FEW = 3;

/** Behind "it is": ", and so are 3 more"; `also` is "so" or, behind "it is not", "nor". */
export function alsoOthers(count: number, also: 'so' | 'nor'): string {
  if (count === 0) return '';
  return `, ${also === 'so' ? 'and so' : 'nor'} ${count === 1 ? 'is' : 'are'} ${count} more`;
}
