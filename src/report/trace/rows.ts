// Rows of a traced run as a person looks at them: which of them are worth a look, what of each is wrong, and three
// tracks beside the tokens. What is wrong is what the properties found; where nothing fails nothing is marked.
import type { PropertyResult } from '../../check/events.ts';
import type { Strip, StripToken } from '../../check/property.ts';
import { nameOf } from '../../check/rows/strips.ts';
import type { Ledger, LedgerRow, Place } from '../../trace/ledger.ts';
import { FAILING } from '../../vocabulary.ts';

export interface ShownRow {
  readonly row: LedgerRow;
  /** Token-aligned columns that are wrong, in order. */
  readonly marks: readonly number[];
  /** Worth a look before any other: something is wrong in it, or it is the first of its kind. */
  readonly first: boolean;
}

/**
 * The rows to show first: those with something wrong, the worst first; then one of each kind, by model and origin; then
 * the others as they were trained.
 */
export function rowsToShow({ rows }: Ledger, results: readonly PropertyResult[]): readonly ShownRow[] {
  const found = findingsBy(results);
  const fails = results.some(({ verdict }) => FAILING.includes(verdict));
  const shown = rows.map((row): ShownRow => ({ row, marks: fails ? marksOf(row, found) : [], first: true }));
  const wrong = shown
    .filter(({ marks }) => marks.length > 0)
    .toSorted((a, b) => b.marks.length - a.marks.length);
  const right = shown.filter(({ row, marks }) => marks.length === 0 && row.reached);
  // The same row comes again in the next step, and in the other rank.
  const different = firstOfEach(wrong, ({ row, marks }) => `${row.ids.join(' ')} ${marks.join(' ')}`);
  const typical = firstOfEach(right, ({ row }) => `${row.model} ${row.spans.origin.kind} ${isTrained(row)}`);
  const before = [
    ...different,
    ...typical.toSorted((a, b) => Number(isTrained(b.row)) - Number(isTrained(a.row))),
  ];
  const taken = new Set(before);
  const rest = [...wrong, ...shown.filter(({ marks }) => marks.length === 0)];
  return [...before, ...rest.filter((each) => !taken.has(each)).map((each) => ({ ...each, first: false }))];
}

/** The row with its three tracks; a last column without a token where something behind its end was trained. */
export function stripOfRow(
  { row, marks }: Pick<ShownRow, 'row' | 'marks'>,
  tokenizer: Ledger['tokenizer'],
): Strip {
  const { ids, spans, trained } = row;
  const name = (id: number): string => nameOf({ tokenizer, hello: {} }, id);
  const behind = trained[ids.length] !== undefined;
  const columns = Array.from({ length: ids.length + (behind ? 1 : 0) }, (_, at) => at);
  const tokens = columns.map((at): StripToken => {
    const id = ids[at];
    return id === undefined
      ? { text: BEHIND, role: 'padding' }
      : {
          id,
          text: name(id),
          role: spans.roles[at] ?? 'padding',
        };
  });
  return {
    row: row.row,
    tokens,
    tracks: [
      { name: 'target', cells: columns.map((at) => targetCell(trained[at], name)) },
      {
        name: 'weight',
        cells: columns.map((at) =>
          weightCell(trained[at]?.spread ?? trained[at]?.taught ?? trained[at]?.weight, trained[at]),
        ),
      },
      {
        name: 'expected',
        cells: columns.map((at) => (at < ids.length ? expectedCell(spans.expected[at]) : NOTHING)),
      },
    ],
    marks,
  };
}

/** Columns where training begins or ends: what to look at in a row in which nothing is wrong. */
export function edgesOf({ trained }: LedgerRow): readonly number[] {
  return trained.flatMap((each, at) =>
    (each === undefined) !== (trained[at - 1] === undefined || at === 0) ? [at] : [],
  );
}

/** `step 0, forward pass 2, row 1`; the rank where there are several. */
export function placeOf({ step, rank, forward, row }: LedgerRow, several: boolean): string {
  return `step ${step}${several ? `, rank ${rank}` : ''}, forward pass ${forward}, row ${row}`;
}

/** How it is known what should be trained, in a few words. */
export function originOf({ spans: { origin } }: LedgerRow): string {
  switch (origin.kind) {
    case 'dataset':
      return `row ${origin.example} of the data set (${origin.form})`;
    case 'generation':
      return 'by the tokens that were sampled';
    case 'template':
      return "by the chat template's marks";
    case 'text':
      return 'plain text: any part may be trained';
    case 'unknown':
      // Why, and what to add, stands before all rows.
      return 'what should be trained is not known';
  }
}

/** Tokens with a gradient that says something. */
export function trainedCount({ trained }: LedgerRow): number {
  return trained.filter((each) => each !== undefined && each.weight !== 0).length;
}

export function realCount({ real }: LedgerRow): number {
  return real.filter(Boolean).length;
}

// --- helpers ---

const NOTHING = '·';
/** Trained, and not read off: the cheap mode, or no single target fits. */
const NOT_READ = '?';
/** Every token is pushed up alike. */
const EVERY = '(all)';
/** All tokens, as the teacher has them. */
const TEACHER = '(teacher)';
const BEHIND = '(end)';
const WEIGHT_DIGITS = 4;

const isTrained = (row: LedgerRow): boolean => trainedCount(row) > 0;

function targetCell(trained: LedgerRow['trained'][number], name: (id: number) => string): string {
  if (trained === undefined) return NOTHING;
  if (trained.target !== undefined) return name(trained.target);
  if (trained.taught !== undefined) return TEACHER;
  return trained.spread === undefined ? NOT_READ : EVERY;
}

function weightCell(weight: number | undefined, trained: LedgerRow['trained'][number]): string {
  if (trained === undefined) return NOTHING;
  return weight === undefined ? NOT_READ : weightText(weight);
}

/** Four digits: what differs in the fifth, the numbers of a finding say. */
export function weightText(weight: number): string {
  return String(Number(weight.toPrecision(WEIGHT_DIGITS)));
}

function expectedCell(expected: boolean | undefined): string {
  return expected === undefined ? 'either' : expected ? 'trained' : 'not';
}

type Found = ReadonlyMap<string, readonly number[]>;

/**
 * What findings marked, by row. A strip says its row within a batch, and batches there are many: where the finding says
 * which one it is about, that one is meant, else all that have the same ids.
 */
function findingsBy(results: readonly PropertyResult[]): Found {
  const found = new Map<string, readonly number[]>();
  for (const { verdict, failure } of results) {
    if (!FAILING.includes(verdict)) continue;
    const { input_ids, ...place } = (failure?.given ?? {}) as Partial<Place> & {
      input_ids?: readonly number[];
    };
    for (const { tokens, row, marks } of failure?.finding?.strips ?? []) {
      const ids = tokens.flatMap(({ id }) => (id === undefined ? [] : [id]));
      const meant = Array.isArray(input_ids) && sameIds(input_ids, ids) && place.row === row;
      const key = meant ? placeKey(place) : idsKey(row, ids);
      found.set(key, [...(found.get(key) ?? []), ...marks]);
    }
  }
  return found;
}

const idsKey = (row: number, ids: readonly number[]): string => `${row}: ${ids.join(' ')}`;
const placeKey = ({ step, rank, forward, row }: Partial<Place>): string =>
  `step ${step} ${rank} ${forward} ${row}`;
const sameIds = (a: readonly number[], b: readonly number[]): boolean => a.join(' ') === b.join(' ');

/**
 * What a finding marked in this row, and what is plainly so: another target than the row's own token, training where
 * there should be none, and, in rows that nobody sampled (a clipped ratio has no gradient), none where it should be.
 */
function marksOf(row: LedgerRow, found: Found): readonly number[] {
  const { ids, trained, spans } = row;
  const marks = new Set([...(found.get(placeKey(row)) ?? []), ...(found.get(idsKey(row.row, ids)) ?? [])]);
  const whole = spans.origin.kind !== 'generation' && isTrained(row);
  for (const [at, each] of trained.entries()) {
    const expected = spans.expected[at];
    if (each === undefined) {
      if (whole && expected === true) marks.add(at);
      continue;
    }
    if (each.weight === 0 && each.spread === undefined) continue;
    // A teacher may be followed anywhere in a text.
    if (each.taught !== undefined && spans.roles[at] !== 'padding') continue;
    if (expected === false) marks.add(at);
    // Behind its end stands what only a row that is cut by one for its inputs has: whether that is right a rule tells.
    else if (at < ids.length && each.target !== undefined && each.target !== ids[at]) marks.add(at);
  }
  return [...marks].sort((a, b) => a - b);
}

function firstOfEach<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = keyOf(item);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
