// Rows whose trained tokens have gaps between them, as the output of tools leaves them: numbers a token and numbers a
// row of the caller's choosing. Only that which numbers they are, and how a row is padded, is not decided here.
import fc from 'fast-check';
import { rarely, twinned } from '../rarely.ts';

/** One completion token: the caller's numbers, and whether the mask is 1. */
export type GapToken<F extends string> = { readonly trained: boolean } & { readonly [K in F]: number };
/** A row: prompt tokens, completion tokens, and the caller's numbers. */
export type GapRow<F extends string, R extends string> = {
  readonly prompt: number;
  readonly tokens: readonly GapToken<F>[];
} & { readonly [K in R]: number };

export interface Gapped<F extends string, R extends string = never> {
  readonly rows: readonly GapRow<F, R>[];
}

export interface GapOptions {
  /** Tokens that are not trained stand between, before and behind those that are. Default: rows end where they end. */
  readonly gaps?: boolean;
  readonly minRows?: number;
  /** Trained tokens in the batch, at least. Default: 1. */
  readonly minTrained?: number;
}

const MAX_ROWS = 4;
const MAX_PROMPT = 3;
const MAX_TOKENS = 5;
/** One token in so many is a tool's; of one row in so many every token is. */
const GAP_ONE_IN = 3;
const MASKED_ONE_IN = 8;
/** One batch in so many is square. */
const SQUARE_ONE_IN = 8;

/** Rows of `token` numbers under a mask, with `row` numbers beside them. */
export function gapped<F extends string, R extends string = never>(
  token: { readonly [K in F]: fc.Arbitrary<number> },
  row: { readonly [K in R]: fc.Arbitrary<number> },
  options: GapOptions = {},
): fc.Arbitrary<Gapped<F, R>> {
  const { gaps = false, minRows = 1, minTrained = 1 } = options;
  const tokens = fc.array(
    fc.record({ trained: gaps ? rarely(GAP_ONE_IN).map((gap) => !gap) : fc.constant(true), ...token }),
    { maxLength: MAX_TOKENS, size: 'max' },
  );
  const drawn = fc
    .record({
      prompt: fc.integer({ min: 1, max: MAX_PROMPT }),
      tokens,
      masked: gaps ? rarely(MASKED_ONE_IN) : fc.constant(false),
      ...row,
    })
    .map(({ masked, ...kept }) => (masked ? { ...kept, tokens: kept.tokens.map(untrained) } : kept));
  const rows = twinned(
    fc.array(drawn as unknown as fc.Arbitrary<GapRow<F, R>>, {
      minLength: minRows,
      maxLength: MAX_ROWS,
      size: 'max',
    }),
  ).filter((drawnRows) => trainedTokens({ rows: drawnRows }) >= minTrained);
  return fc
    .tuple(rows, rarely(SQUARE_ONE_IN))
    .map(([drawnRows, square]) => ({ rows: square ? squared(drawnRows, minTrained) : drawnRows }));
}

/** As many columns as rows, where that leaves tokens enough: then an index into the wrong one of the two goes unseen. */
function squared<F extends string, R extends string>(
  rows: readonly GapRow<F, R>[],
  minTrained: number,
): readonly GapRow<F, R>[] {
  const cut = rows.map((row) => ({ ...row, prompt: 1, tokens: row.tokens.slice(0, rows.length - 1) }));
  return trainedTokens({ rows: cut }) >= minTrained ? cut : rows;
}

/** Numbers `least` to `most` in steps of 1 / `grain`, exact in every float format; they shrink to 0. */
export function inSteps(least: number, most: number, grain: number): fc.Arbitrary<number> {
  return fc.integer({ min: least * grain, max: most * grain }).map((n) => n / grain + 0);
}

/** How many tokens of the case are trained. */
export function trainedTokens({ rows }: Gapped<never, never>): number {
  return rows.reduce((sum, { tokens }) => sum + tokens.filter(({ trained }) => trained).length, 0);
}

/** The same rows without the tokens that are not trained. */
export function withoutGaps<Case extends Gapped<never>>(drawn: Case): Case {
  return {
    ...drawn,
    rows: drawn.rows.map((row) => ({ ...row, tokens: row.tokens.filter(({ trained }) => trained) })),
  };
}

/** The same rows with the tokens that are not trained behind those that are. */
export function gapsBehind<Case extends Gapped<never, never>>(drawn: Case): Case {
  return {
    ...drawn,
    rows: drawn.rows.map((row) => ({
      ...row,
      tokens: [
        ...row.tokens.filter(({ trained }) => trained),
        ...row.tokens.filter(({ trained }) => !trained),
      ],
    })),
  };
}

/** The label of a case in which a masked token stands between two trained ones. */
export const GAP = 'gap';

/** What rows with gaps exercise. */
export function gapLabels({ rows }: Gapped<never, never>): string[] {
  const labels: string[] = [];
  const masks = rows.map(({ tokens }) => tokens.map(({ trained }) => trained));
  const lengths = masks.map(({ length }) => length);
  const width = Math.max(...rows.map(({ prompt }) => prompt)) + Math.max(1, ...lengths);
  if (rows.length > 1) labels.push('several rows');
  if (new Set(lengths).size > 1) labels.push('unequal completions');
  if (masks.some((row) => !row.includes(true))) labels.push('fully masked row');
  if (masks.some(hasGap)) labels.push(GAP);
  if (masks.some((row) => row.includes(true) && row.at(-1) === false)) labels.push('ends in masked tokens');
  if (rows.length === width) labels.push('as many rows as columns');
  if (trainedTokens({ rows }) === 1) labels.push('one trained token');
  return labels;
}

/** A masked token between two trained ones. */
const hasGap = (row: readonly boolean[]): boolean =>
  row.some((trained, at) => !trained && row.slice(0, at).includes(true) && row.slice(at).includes(true));

const untrained = <T extends { readonly trained: boolean }>(token: T): T => ({ ...token, trained: false });
