// What the carpet's script tells of each token: the row as few short attributes, its tokens as numbers of one list of names.
import { nameOf } from '../../../check/rows/strips.ts';
import type { Ledger, LedgerRow } from '../../../trace/ledger.ts';
import { visible } from '../../text/visible.ts';
import { weightText } from '../../trace/rows.ts';
import { cut, readable } from '../page/text.ts';
import { columnsOf } from './cells.ts';

/** Every token of the carpet, and every target that is none of them: its name by its place in the list. */
export interface Names {
  readonly all: readonly string[];
  readonly placeOf: (id: number) => number;
}

/** As they are attributes: see `carpet.js`, which reads them. */
export interface SpelledRow {
  /** Places of the row's tokens. */
  readonly tokens: string;
  /** `from:to:weight`, `?` where it was not measured. */
  readonly weights: string;
  /** `at:place` where another token than the row's own is the target, `at:?` where it is not known. */
  readonly targets: string;
  /** Runs of what should be: `12n` not, `3y` trained, `2e` either. */
  readonly expected: string;
}

export function namesOf(rows: readonly LedgerRow[], tokenizer: Ledger['tokenizer']): Names {
  const ids = new Set(rows.flatMap(({ ids: own, trained }) => [...own, ...targetsIn(trained)]));
  const places = new Map([...ids].map((id, place) => [id, place]));
  const name = (id: number): string =>
    readable(visible(cut(nameOf({ tokenizer, hello: {} }, id), MOST_CHARACTERS))).replaceAll('\n', ' ');
  return { all: [...ids].map(name), placeOf: (id) => places.get(id) ?? -1 };
}

export function spelled(row: LedgerRow, { placeOf }: Names): SpelledRow {
  const { ids, trained, spans, real } = row;
  const columns = Array.from({ length: columnsOf(row) }, (_, at) => at);
  const weights = runsOf(columns.map((at) => weightOf(trained[at]))).flatMap(({ value, from, to }) =>
    value === undefined ? [] : [`${from}:${to}:${value}`],
  );
  const targets = columns.flatMap((at) => {
    const each = trained[at];
    if (each === undefined || (each.target !== undefined && each.target === ids[at])) return [];
    return [`${at}:${each.target === undefined ? '?' : placeOf(each.target)}`];
  });
  const expected = runsOf(
    columns.map((at) => {
      if (real[at] !== true) return 'n';
      return spans.expected[at] === undefined ? 'e' : spans.expected[at] ? 'y' : 'n';
    }),
  );
  return {
    tokens: ids.map(placeOf).join(' '),
    weights: weights.join(' '),
    targets: targets.join(' '),
    expected: expected.map(({ value, from, to }) => `${to - from}${value}`).join(''),
  };
}

// --- helpers ---

const MOST_CHARACTERS = 40;

const targetsIn = (trained: LedgerRow['trained']): number[] =>
  trained.flatMap((each) => (each?.target === undefined ? [] : [each.target]));

function weightOf(each: LedgerRow['trained'][number]): string | undefined {
  if (each === undefined) return undefined;
  return each.weight === undefined ? '?' : weightText(each.weight);
}

function runsOf<T>(
  values: readonly T[],
): { readonly value: T; readonly from: number; readonly to: number }[] {
  const runs: { value: T; from: number; to: number }[] = [];
  for (const [at, value] of values.entries()) {
    const last = runs.at(-1);
    if (last !== undefined && last.value === value) last.to = at + 1;
    else runs.push({ value, from: at, to: at + 1 });
  }
  return runs;
}
