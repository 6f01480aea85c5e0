// Which position each token has for the model: counted over real tokens. Rows that hold several examples may begin again
// at any of them, and a model that only knows distances does not notice padding in front.
import type { LedgerModel, LedgerRow } from '../../../src/index.ts';
import { mattersBehind } from '../tokens/trained.ts';
import type { InputFault } from './fault.ts';

/**
 * Why positions cannot be told; undefined: they are given, or such as every model of this kind counts them, over columns.
 * @param padded its padding is known without a mask
 */
export function whyNoPositions(model: LedgerModel, row: LedgerRow, padded: boolean): string | undefined {
  if (model.positions === 'unknown') return 'it is not known how the model counts positions';
  if (row.positions !== undefined) return undefined;
  if (row.attention === undefined && !padded) return 'the model was given neither positions nor a mask';
  return COUNTS_MASK.test(model.class) ? 'models of this class count positions by themselves' : undefined;
}

/** Models of transformers that count positions over the attention mask, or over ids that are not padding, by themselves. */
const COUNTS_MASK =
  /OPT|BioGpt|Bloom|Mpt|obert|Camembert|Xmod|Data2Vec|VL|Vl|Glm4|GlmOcr|Omni|Qwen3_5|Kosmos|Idefics|Trocr|TrOCR/;

export function positionFault(model: LedgerModel, row: LedgerRow): InputFault | undefined {
  const first = row.real.indexOf(true);
  if (first < 0) return undefined;
  const { positions } = row;
  const seen = positions ?? row.ids.map((_, t) => t);
  const tracks = { position_ids: positions ?? row.ids.map(() => undefined), counted: countedOf(row) };
  const fault =
    (model.positions === 'absolute' ? moved(row, first, seen) : undefined) ??
    (positions === undefined ? undefined : stuck(row, positions)) ??
    (model.positions === 'relative' ? undefined : jumped(row, seen));
  return fault === undefined ? undefined : { ...fault, tracks };
}

// --- helpers ---

/** (T,): how many real tokens of the row stand before each. */
function countedOf({ real }: LedgerRow): (number | undefined)[] {
  let count = 0;
  return real.map((each) => (each ? count++ : undefined));
}

/** Padding in front is counted: each token stands where the model has learnt another. */
function moved(row: LedgerRow, first: number, seen: readonly number[]): InputFault | undefined {
  // Counted from 0 over columns; of a model whose first position is another, a real token may have its column by chance.
  if (first === 0 || seen[0] !== 0 || seen[first] !== first || !mattersBehind(row, first)) return undefined;
  const given = row.positions !== undefined;
  return {
    kind: 'padding counted',
    columns: [first, ...row.real.flatMap((each, t) => (each && t > first && seen[t] === t ? [t] : []))],
    words: given
      ? `is the first real token, but its position is ${first}: the padding before it is counted`
      : `is the first real token after ${first} of padding, and the model was given no position_ids: it counts columns, so that this one stands at position ${first}`,
    note: 'This model has a learnt place for each position: give it position_ids = (attention_mask.cumsum(-1) - 1).clamp(min=0), or pad on the right.',
  };
}

/** Three in one place, or each before the last, are no seam of two examples. */
function stuck(row: LedgerRow, positions: readonly number[]): InputFault | undefined {
  const step = (t: number): number => Math.sign((positions[t] ?? 0) - (positions[t - 1] ?? 0));
  const columns = positions.flatMap((_, t) =>
    t >= 2 &&
    row.real[t] &&
    row.real[t - 1] &&
    row.real[t - 2] &&
    step(t) <= 0 &&
    step(t) === step(t - 1) &&
    mattersBehind(row, t - 1)
      ? [t]
      : [],
  );
  const [first] = columns;
  if (first === undefined) return undefined;
  return {
    kind: 'stuck',
    columns,
    words:
      step(first) === 0
        ? `has the position ${positions[first]}, and so have the two tokens before it: to the model they stand in one place`
        : `has the position ${positions[first]}, and the two tokens before it ${positions[first - 2]} and ${positions[first - 1]}: to the model the row runs backwards`,
  };
}

/** Padding in the middle is counted: what follows is further away than it was when it was sampled or written. */
function jumped(row: LedgerRow, seen: readonly number[]): InputFault | undefined {
  let before = -1;
  for (const [t, real] of row.real.entries()) {
    if (!real) continue;
    const gap = t - before - 1;
    const counted = before >= 0 && gap > 0 && (seen[t] ?? 0) - (seen[before] ?? 0) === gap + 1;
    if (counted && mattersBehind(row, t - 1))
      return {
        kind: 'padding counted',
        columns: [t],
        words: `follows token ${before}, with ${gap} of padding between them that positions count (${seen[before]}, then ${seen[t]})`,
        note: 'Give the model position_ids that count attended tokens only, or move the padding to an end of the row.',
      };
    before = t;
  }
  return undefined;
}
