// What steps did with the tensors of models, and what else was seen of steps: records of one process, each step numbered
// as the ledger has it.

import type { LedgerEvent, LedgerUpdate, TensorUpdate } from './ledger.ts';
import type { Ranked } from './ranks.ts';
import type { ReadRecord, ReadUpdate } from './records/shapes.ts';
import type { TensorsRecord } from './records/steps.ts';

export function updatesOf({ records, rank, stepOf }: Ranked): readonly LedgerUpdate[] {
  const names = new Map<number, TensorsRecord>();
  const updates: LedgerUpdate[] = [];
  for (const record of records) {
    if (record.kind === 'tensors') names.set(record.model, record);
    const known = record.kind === 'update' ? names.get(record.model) : undefined;
    if (record.kind !== 'update' || known === undefined) continue;
    const { model, optimizer, place } = record;
    updates.push({
      rank,
      step: stepOf(record.step),
      model,
      optimizer,
      ...(typeof place === 'string' ? { place } : {}),
      tensors: Array.from({ length: record.tensors.length }, (_, at) => tensorAt(record, at, known)).filter(
        (tensor) => tensor !== undefined,
      ),
    });
  }
  return updates;
}

export function eventsOf({ records, rank, stepOf, stepAt }: Ranked): readonly LedgerEvent[] {
  return records.filter(isEvent).map(({ what, step, model, place, names, values }) => ({
    rank,
    // What stands before a step is seen before it is made.
    step: BEGINNING.has(what) ? stepAt(step) : stepOf(step),
    what,
    ...(model === null ? {} : { model }),
    ...(place === null ? {} : { place }),
    names,
    values,
  }));
}

/** Names of the tensors of a model that the optimisers of a process hold at a step of the ledger; undefined: not known. */
export function heldAtOf(
  ranked: readonly Ranked[],
): (process: Ranked, model: number, step: number) => ReadonlySet<string> | undefined {
  const updates = new Map(ranked.map((process) => [process, updatesOf(process)]));
  return (process, model, step) => {
    const made = (updates.get(process) ?? []).filter(
      (update) => update.model === model && update.step === step,
    );
    const held = made.flatMap(({ tensors }) => tensors.filter((tensor) => tensor.held > 0));
    return made.length === 0 ? undefined : new Set(held.map(({ name }) => name));
  };
}

// --- helpers ---

const BEGINNING = new Set([
  'added',
  'loaded',
  'not-loaded',
  'tied',
  'untied',
  'no-freeze',
  'between',
  'made-anew',
]);

const isEvent = (record: ReadRecord): record is Extract<ReadRecord, { kind: 'event' }> =>
  record.kind === 'event';

/** Undefined: the record is damaged, and speaks of a tensor that the model has not. */
function tensorAt(record: ReadUpdate, at: number, known: TensorsRecord): TensorUpdate | undefined {
  const which = record.tensors[at] ?? -1;
  const [name, size, dtype] = [known.names[which], known.sizes[which], known.dtypes[which]];
  if (name === undefined || size === undefined || dtype === undefined) return undefined;
  const moved = record.moved[at];
  return {
    name,
    size,
    dtype,
    ...numberAs('norm', record.norms[at]),
    ...numberAs('peak', record.peaks[at]),
    ...numberAs('beside', record.beside[at]),
    ...(moved === 1 || moved === 0 ? { moved: moved === 1 } : {}),
    held: record.held[at] ?? 0,
    ...numberAs('rate', record.rates[at]),
    ...numberAs('decay', record.decays[at]),
    trainable: record.trainable[at] === 1,
  };
}

function numberAs<Name extends keyof TensorUpdate>(
  name: Name,
  value: number | undefined,
): Partial<Record<Name, number>> {
  return value === undefined || Number.isNaN(value) ? {} : ({ [name]: value } as Record<Name, number>);
}
