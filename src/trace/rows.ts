// The rows of one forward pass, and what backward passes told of them. Here, and nowhere else, positions become token-aligned:
// the logits at column c train the token at c + 1. A score is of no token, and stands at the column that it was read from.
import type { Ids } from '../vocabulary.ts';
import { bandsOf, explains } from './bands.ts';
import type { LedgerRow, Place, RowIds, Trained } from './ledger.ts';
import { realOf, type SpecialIds } from './real.ts';
import type { TermRecord } from './records/records.ts';
import type { ReadForward, ReadTrained } from './records/shapes.ts';
import { addedUp } from './unread.ts';
import { isOpen } from './weights.ts';

/** Rows of a forward pass, without what was trained. */
export function rowsOf(
  forward: ReadForward,
  place: Pick<Place, 'step' | 'rank'>,
  special: SpecialIds,
): RowIds[] {
  return forward.input_ids.map((ids, row) => {
    const attention = maskOf(forward, row);
    const positions = forward.position_ids?.[row];
    const logprobs = forward.logprobs?.[row];
    return {
      ...place,
      forward: forward.forward,
      row,
      model: forward.model,
      ids,
      ...(attention === undefined ? {} : { attention }),
      ...(forward.attention === 'none' ? { unmasked: true } : {}),
      ...(positions === undefined ? {} : { positions }),
      real: realOf({ ids, attention, positions }, special),
      ...(logprobs === undefined || logprobs.every(Number.isNaN) ? {} : { logprobs }),
      ...(typeof forward.across === 'boolean' ? { across: forward.across } : {}),
      ...(typeof forward.dropout === 'number' ? { dropout: forward.dropout } : {}),
      ...(typeof forward.dropout_off === 'number' ? { dropoutOff: forward.dropout_off } : {}),
    };
  });
}

export type TrainedRow = Pick<
  LedgerRow,
  'trained' | 'reached' | 'notFinite' | 'dtype' | 'averagedOver' | 'training' | 'batch' | 'terms' | 'unread'
>;

/**
 * What was trained in each row of a forward pass. Of a position that several backward passes trained toward one target, the
 * weights are added; toward several, no single target fits.
 * @param dtype of the model, where no backward pass came
 * @param averagedOver processes whose gradients are averaged; undefined: not known, the weights are this process's own
 * @param factors of what torch.autograd.grad computed, in the optimiser's step, by pass
 * @param shift columns from a position to the token that it trains
 */
export function trainedOf(
  forward: ReadForward,
  records: readonly ReadTrained[],
  dtype: string,
  averagedOver: number | undefined,
  factors: ReadonlyMap<number, number> = new Map(),
  shift = 1,
): readonly TrainedRow[] {
  const width = forward.input_ids[0]?.length ?? 0;
  const rows = forward.input_ids.map(() => Array<Trained | undefined>(width + 1).fill(undefined));
  const averaged = Math.max(1, averagedOver ?? 1);
  const terms: TermRecord[] = [];
  for (const record of records) {
    const factor = record.pass === undefined ? 1 : (factors.get(record.pass ?? -1) ?? Number.NaN);
    if (factor === 0) continue; // the optimiser got nothing of it
    for (const term of record.terms ?? []) terms.push(scaledTerm(term, factor / averaged));
    for (let i = 0; i < record.rows.length; i++) {
      const row = rows[record.rows[i] ?? -1];
      const at = (record.columns[i] ?? -1) + shift;
      if (row === undefined || at < shift || at > width) continue; // no such position: the record is damaged
      const entry = entryOf(record, i, averaged / factor);
      row[at] = together(row[at], explains(entry, record.dtype) === false ? unknown(entry) : entry);
    }
  }
  const unread = addedUp(records.map((record) => record.unread));
  const shared = {
    reached: records.length > 0,
    notFinite: records.reduce((sum, { not_finite }) => sum + not_finite, 0),
    dtype: coarsest(records.map((record) => record.dtype)) ?? dtype,
    ...(averagedOver === undefined ? {} : { averagedOver: averaged }),
    training: forward.training,
    ...batchOf(forward),
    ...(terms.length === 0 ? {} : { terms }),
    ...(Object.keys(unread).length === 0 ? {} : { unread }),
  };
  return rows.map((trained) => ({ trained, ...shared }));
}

// --- helpers ---

function maskOf({ attention, attention_mask }: ReadForward, row: number): Ids | undefined {
  const mask = attention === 'mask' ? attention_mask?.[row] : undefined;
  // Segment numbers, or additive masks: they are no answer to what is padding.
  return mask?.every((x) => x === 0 || x === 1) === true ? mask : undefined;
}

export function batchOf({ batch }: ReadForward): Pick<TrainedRow, 'batch'> {
  const [pass, number, workers, size = 0, of = 0] = batch ?? [];
  if (pass === undefined || number === undefined || workers === undefined) return {};
  return {
    batch: { pass, number, workers, size: size === 0 ? undefined : size, of: of === 0 ? undefined : of },
  };
}

function entryOf(record: ReadTrained, i: number, averaged: number): Trained {
  const target = record.targets[i] ?? -1;
  const weight = measured((record.weights[i] ?? Number.NaN) / averaged);
  // What has a score, and no target, has a weight as well.
  const isSmoothed = record.terms?.some(({ kind }) => kind === 'smoothing') === true;
  if (target === TAUGHT && (record.residuals[i] ?? 1) <= bandsOf(record.dtype).residual)
    return { ...NOT_MEASURED, taught: weight ?? null };
  const isSpread = isSmoothed && target < 0 && weight !== undefined && weight !== 0;
  return {
    target: target < 0 ? undefined : target,
    weight: isSpread ? 0 : weight,
    ...(isSpread ? { spread: weight } : {}),
    residual: measured(record.residuals[i]),
    temperature: measured(record.temperatures[i]),
    logprob: measured(record.logprobs[i]),
  };
}

/** In place of a target: a teacher's distribution. */
const TAUGHT = -2;

const NOT_MEASURED = {
  target: undefined,
  weight: undefined,
  residual: undefined,
  temperature: undefined,
  logprob: undefined,
};

/** Something else than this target is in the loss: then neither it nor its weight is known. */
const unknown = (entry: Trained): Trained =>
  entry.weight === 0 ? entry : { ...entry, target: undefined, weight: undefined, temperature: undefined };

/** A term's sum is divided as weights are. */
function scaledTerm(term: TermRecord, factor: number): TermRecord {
  return typeof term.sum === 'number' ? { ...term, sum: measured(term.sum * factor) ?? null } : term;
}

function measured(x: number | undefined): number | undefined {
  return x === undefined || Number.isNaN(x) ? undefined : x;
}

/** Nothing of the gradient is explained. */
const UNEXPLAINED = 1;

function together(before: Trained | undefined, now: Trained): Trained {
  if (before === undefined) return now;
  if (before.taught !== undefined && now.taught !== undefined)
    return {
      ...now,
      taught: before.taught === null || now.taught === null ? null : before.taught + now.taught,
    };
  if (before.taught !== undefined) return now;
  if (now.taught !== undefined) return before;
  const [larger, smaller] = size(now) > size(before) ? [now, before] : [before, now];
  if (before.target === now.target && !isOpen(before) && !isOpen(now)) {
    const weight =
      before.weight === undefined || now.weight === undefined ? undefined : before.weight + now.weight;
    const residual =
      before.residual === undefined || now.residual === undefined
        ? undefined
        : Math.max(before.residual, now.residual);
    const temperature = before.temperature === now.temperature ? before.temperature : undefined;
    return { ...larger, weight, residual, temperature };
  }
  const nothing = size(smaller) === 0 && smaller.weight !== undefined && !isOpen(smaller);
  return nothing ? larger : { ...larger, target: undefined, weight: undefined, residual: UNEXPLAINED };
}

function size({ weight }: Trained): number {
  return Math.abs(weight ?? 0);
}

/** Most exact first. */
const PRECISION = ['float64', 'float32', 'float16', 'bfloat16'];

function coarsest(dtypes: readonly string[]): string | undefined {
  const rank = (dtype: string): number => {
    const at = PRECISION.indexOf(dtype);
    return at < 0 ? PRECISION.length : at;
  };
  return dtypes.toSorted((a, b) => rank(b) - rank(a))[0];
}
