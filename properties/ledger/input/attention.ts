// What the attention mask hides and shows. Padding behind everything that was trained may be attended, and a last stop
// token hidden: a causal model looks only back.
import type { Ledger, LedgerModel, LedgerRow } from '../../../src/index.ts';
import { mattersBehind } from '../tokens/trained.ts';
import type { InputFault } from './fault.ts';

/** Of a row whose mask is known; undefined: nothing can be said against it. */
export function attentionFaults(ledger: Ledger, row: LedgerRow): InputFault | undefined {
  const hidden = hiddenColumns(ledger, row).filter((t) => mattersBehind(row, t));
  if (hidden.length > 0)
    return {
      kind: 'hidden',
      columns: hidden,
      words: 'is a real token, but attention_mask hides it from all later trained tokens',
      ...(hidden.every((t) => row.ids[t] === ledger.tokenizer?.padTokenId) ? { note: BY_ID } : {}),
    };
  const shown = shownPadding(ledger, row).filter((t) => mattersBehind(row, t));
  if (shown.length === 0) return undefined;
  return {
    kind: 'attended',
    columns: shown,
    words: 'is padding, but attention_mask lets the model see it before what is trained',
  };
}

/** Models of transformers that look at each column before, where they are given no mask. */
const ATTENDS_ALL = /(?:ForCausalLM|LMHeadModel)$/;

/** Padding in front of a row whose model was given no mask at all. Positions that begin behind it are taken for a mask. */
export function unmaskedFault(
  ledger: Ledger,
  row: LedgerRow,
  model: LedgerModel | undefined,
): InputFault | undefined {
  const { ids, positions, real, unmasked } = row;
  const first = real.indexOf(true);
  const isOpen = unmasked === true && ATTENDS_ALL.test(model?.class ?? '');
  if (!isOpen || first <= 0 || !(positions ?? []).every((each, t) => t > first || each === t))
    return undefined;
  const columns = shownPadding(ledger, { ...row, attention: ids.map(() => 1) }).filter(
    (t) => t < first && mattersBehind(row, t),
  );
  if (columns.length === 0) return undefined;
  return {
    kind: 'attended',
    columns,
    words: 'is padding, and the model was given no attention_mask: it sees it before what is trained',
    note: 'Give the model the mask of the tokenizer, and ones for what was sampled.',
  };
}

const BY_ID =
  'Its id is that of padding: a mask made of ids (input_ids != pad) hides every stop token where pad is eos. Take the mask from the tokenizer or the lengths.';

// --- helpers ---

function hiddenColumns({ tokenizer }: Ledger, row: LedgerRow): readonly number[] {
  const { attention = [], ids, positions, spans } = row;
  const known = ids.flatMap((_, t) => (attention[t] === 0 && spans.roles[t] !== 'padding' ? [t] : []));
  if (known.length > 0) return known;
  const gaps = gapsOf(attention).filter(
    // Packed examples may have padding between them, and then positions begin again behind it.
    ({ to }) => positions?.[to] !== 0,
  );
  const pad = tokenizer?.padTokenId;
  if (pad === undefined) return [];
  const foreign = gaps.flatMap(({ from, to }) => columns(from, to).filter((t) => ids[t] !== pad));
  if (foreign.length > 0) return foreign;
  // A prompt block with its padding at its right leaves one gap of pads; stop tokens that are taken for pads leave several.
  return pad === tokenizer?.eosTokenId && gaps.length > 1 ? gaps.map(({ from }) => from) : [];
}

/** Runs of hidden columns between attended ones. */
function gapsOf(attention: readonly number[]): { readonly from: number; readonly to: number }[] {
  const gaps: { from: number; to: number }[] = [];
  let last = -1;
  for (const [t, attended] of attention.entries()) {
    if (attended === 0) continue;
    if (last >= 0 && t > last + 1) gaps.push({ from: last + 1, to: t });
    last = t;
  }
  return gaps;
}

const columns = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, at) => from + at);

function shownPadding(ledger: Ledger, row: LedgerRow): readonly number[] {
  const { attention = [], ids, spans } = row;
  const pads = padIds(ledger);
  const known = ids.flatMap((id, t) =>
    attention[t] === 1 && spans.roles[t] === 'padding' && pads.has(id) ? [t] : [],
  );
  return known.length > 0 ? known : paddedLeft(ledger, row);
}

/** The tokenizer's, and whatever stands where nothing is attended. */
function padIds({ tokenizer, rows }: Ledger): ReadonlySet<number> {
  const pads = new Set<number>();
  if (tokenizer?.padTokenId !== undefined) pads.add(tokenizer.padTokenId);
  for (const { ids, attention } of rows)
    for (const [t, id] of ids.entries()) if (attention?.[t] === 0) pads.add(id);
  return pads;
}

/**
 * Pads before a row that nobody marked as padding: known by their id, and only where they do what padding does, namely
 * make rows of one batch as long as the longest, at their left.
 */
function paddedLeft(ledger: Ledger, row: LedgerRow): readonly number[] {
  // Where the mask hides others of them, and the prompt is known, one that it shows was typed.
  const { kind } = row.spans.origin;
  if (row.attention?.[0] === 0 && (kind === 'generation' || kind === 'dataset')) return [];
  return columns(0, paddingBefore(ledger, row)).filter((t) => row.attention?.[t] === 1);
}

/** How many pads are told by that. */
export function paddingBefore({ tokenizer, rows }: Ledger, row: LedgerRow): number {
  const pad = tokenizer?.padTokenId;
  if (pad === undefined) return 0;
  const mates = rows.filter(({ rank, forward }) => rank === row.rank && forward === row.forward);
  const right = mates.some(
    ({ ids, attention }) => attention?.at(-1) === 0 || (ids.at(-1) === pad && ids.at(-2) === pad),
  );
  if (right) return 0;
  const runs = mates.map(({ ids }) => leading(ids, pad));
  const own = leading(row.ids, pad);
  // Where BOS is the same id, one of the run begins the example.
  const real = tokenizer?.bosTokenId === pad ? 1 : 0;
  return own - real < LEAST_PADS || Math.min(...runs) > real ? 0 : own - real;
}

/** One pad at the beginning may have been typed. */
const LEAST_PADS = 2;

function leading(ids: readonly number[], id: number): number {
  const first = ids.findIndex((each) => each !== id);
  return first < 0 ? ids.length : first;
}
