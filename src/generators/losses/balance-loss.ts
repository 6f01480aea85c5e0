// What experts are balanced on: router logits of padded rows, in several layers.
import fc from 'fast-check';
import { twinned } from '../rarely.ts';

export interface RoutedRow {
  /** Of each token its logits, layer by layer. */
  readonly tokens: readonly (readonly number[])[];
  readonly side: 'left' | 'right';
}

export interface Routing {
  readonly experts: number;
  readonly layers: number;
  readonly topK: number;
  readonly rows: readonly RoutedRow[];
  /** What the router says of padding. */
  readonly pad: readonly number[];
}

const MAX_ROWS = 4;
const MAX_TOKENS = 4;
const MAX_EXPERTS = 5;
const MAX_LAYERS = 3;
/** Logits of one token are this far apart at least: no precision takes one choice for another. */
const GRAIN = 4;
const MOST = 8;

/** An arbitrary batch for op `balance_loss`. There is always an expert that a token does not go to. */
export function routing(options: { readonly minRows?: number } = {}): fc.Arbitrary<Routing> {
  const layer = fc
    .uniqueArray(fc.integer({ min: -MOST, max: MOST }), { minLength: MAX_EXPERTS, maxLength: MAX_EXPERTS })
    .map((all) => all.map((n) => n / GRAIN + 0));
  const token = fc.array(layer, { minLength: MAX_LAYERS, maxLength: MAX_LAYERS });
  const row = fc.record({
    tokens: fc.array(token, { minLength: 1, maxLength: MAX_TOKENS, size: 'max' }),
    side: fc.constantFrom('right' as const, 'left' as const),
  });
  return fc
    .record({
      experts: fc.integer({ min: 2, max: MAX_EXPERTS }),
      layers: fc.integer({ min: 1, max: MAX_LAYERS }),
      topK: fc.integer({ min: 1, max: MAX_EXPERTS - 1 }),
      rows: twinned(fc.array(row, { minLength: options.minRows ?? 1, maxLength: MAX_ROWS, size: 'max' })),
      pad: token,
    })
    .map(({ experts, layers, topK, rows, pad }) => {
      const cut = (all: readonly (readonly number[])[]): number[] =>
        all.slice(0, layers).flatMap((logits) => logits.slice(0, experts));
      return {
        experts,
        layers,
        topK: Math.min(topK, experts - 1),
        rows: rows.map(({ tokens, side }) => ({ tokens: tokens.map(cut), side })),
        pad: cut(pad),
      };
    });
}

/** What a case of `balance_loss` exercises. */
export function routingLabels({ layers, topK, rows }: Routing): string[] {
  const found: string[] = [];
  const lengths = rows.map(({ tokens }) => tokens.length);
  if (rows.length > 1) found.push('several rows');
  if (new Set(lengths).size > 1) found.push('unequal rows');
  if (layers > 1) found.push('several layers');
  if (topK > 1) found.push('several choices');
  return found;
}

/** The rows as a rectangle: padding has logits too. */
export function routedBatch({ rows, pad, experts, topK }: Routing) {
  const width = Math.max(...rows.map(({ tokens }) => tokens.length));
  const padded = <T>({ tokens, side }: RoutedRow, values: readonly T[], fill: T): T[] => {
    const blanks = Array.from({ length: width - tokens.length }, () => fill);
    return side === 'left' ? [...blanks, ...values] : [...values, ...blanks];
  };
  const all = rows.map((_, row) => row);
  const half = rows.length / 2;
  return {
    router_logits: rows.map((row) => padded(row, row.tokens, pad)),
    attention_mask: rows.map((row) =>
      padded(
        row,
        row.tokens.map(() => 1),
        0,
      ),
    ),
    experts,
    top_k: topK,
    // Of equal size: a mean over rows is then the mean of theirs.
    micro_batches: Number.isInteger(half) ? [all.slice(0, half), all.slice(half)] : [all],
  };
}
