// One run of a twin: of each optimiser step the rows that were trained, the gradients that the optimiser got, and the weights
// that it left, in a form that does not know how the rows were laid out in batches.
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { Ledger, LedgerRow } from '../trace/ledger.ts';
import { ledgerOf } from '../trace/ledger-of.ts';
import { rankedOf } from '../trace/ranks.ts';
import type { ReadRecord } from '../trace/records/shapes.ts';
import type { Ids, Matrix } from '../vocabulary.ts';

export interface TwinRun {
  readonly steps: readonly TwinStep[];
  /** The change that was asked for was made. */
  readonly applied: boolean;
  /** Dropout drew, or would have. */
  readonly hasDropout: boolean;
  /** Tokens were sampled: a run that draws in another order trains other rows. */
  readonly samples: boolean;
  /** Changes for which the script has something to change, of those that the tracer looks for. */
  readonly could: ReadonlySet<string>;
  /** Autocast rounds to this type. */
  readonly half?: string;
  /** It made a trainer of transformers or TRL, or one that derives from them, with arguments that can be changed. */
  readonly hasArguments: boolean;
  readonly ledger: Ledger;
}

export interface TwinStep {
  readonly index: number;
  readonly rows: readonly TwinRow[];
  /** By the tensor's name. */
  readonly gradients: Prints;
  /** Where they were asked for. */
  readonly signs?: Prints;
  /** Weights before the first step; empty of the others. */
  readonly before: Prints;
  readonly after: Prints;
  readonly rates: readonly number[];
  /** How often each backward pass is in the gradient; absent: it was not seen, or there was one. */
  readonly delivered?: readonly number[];
  /** The optimiser made it: the script did not end before. */
  readonly made: boolean;
}

/** A fingerprint: the norm, and sums of the elements under random signs. */
export type Print = Ids;
export type Prints = ReadonlyMap<string, Print>;

export interface TwinRow {
  readonly rank: number;
  /** Micro-batch within the step and its process, and row of it. */
  readonly forward: number;
  readonly row: number;
  /** Without padding, through the last trained token: in a causal model nothing after it counts. */
  readonly ids: Ids;
  readonly tokens: readonly TwinToken[];
  /** What each module returned for the row, in the order in which they were done. */
  readonly outputs: Prints;
  /** The gradient at the output and at the input of each module, as `output NAME`, in the order of the backward pass; absent: not seen. */
  readonly backward?: Prints;
  /** As the model got it; undefined where a mask says what of it is padding. */
  readonly unmasked: Ids | undefined;
}

export type Side = 'output' | 'input';

/** A place of the backward pass. */
export const placeOf = (side: Side, module: string): string => `${side} ${module}`;

export interface TwinToken {
  /** Index into the row's ids; their number: after the last one. */
  readonly at: number;
  readonly target: number | undefined;
  readonly weight: number | undefined;
  readonly logprob: number | undefined;
}

/** @param processes records of each process, as for the ledger */
export function twinRunOf(processes: readonly (readonly ReadRecord[])[], tokenizer?: Tokenizer): TwinRun {
  const ledger = ledgerOf(processes, { tokenizer });
  const outputs = rowPrintsOf(processes, (record) =>
    record.kind === 'outputs' ? { ...record, places: record.modules } : undefined,
  );
  const backward = rowPrintsOf(processes, (record) => {
    if (record.kind !== 'backward') return undefined;
    const { modules, sides } = record;
    const sideOf = (at: number): Side => (sides[at] === 'input' ? 'input' : 'output');
    return { ...record, places: modules.map((module, at) => placeOf(sideOf(at), module)) };
  });
  const prints = printsOf(processes);
  const events = processes.flat().flatMap((record) => (record.kind === 'event' ? [record] : []));
  const saw = (named: string): boolean => events.some(({ what }) => what === named);
  const half = events.find(({ what }) => what === 'half')?.values.dtype;
  const steps = ledger.steps.map(({ index, ranks }): TwinStep => {
    const of = (kind: string): Prints => prints.get(keyOf(kind, index)) ?? new Map();
    return {
      index,
      rows: ledger.rows
        .filter((row) => row.step === index && row.trained.some((each) => each !== undefined))
        .flatMap((row) => twinRowsOf(row, outputs, backward)),
      gradients: of('gradients'),
      signs: of('signs'),
      before: of('before'),
      after: of('after'),
      rates: ranks[0]?.done?.learningRates ?? [],
      ...deliveredIn(ledger, index),
      made: ranks.every(({ done }) => done !== undefined && done.skipped !== true),
    };
  });
  return {
    steps,
    applied: saw('twin'),
    hasDropout: saw('dropout'),
    could: new Set(events.filter(({ what }) => what === 'could').flatMap(({ names }) => names)),
    ...(typeof half === 'string' ? { half } : {}),
    hasArguments: processes.flat().some(({ kind }) => kind === 'settings'),
    samples: ledger.generations.length > 0,
    ledger,
  };
}

// --- helpers ---

function deliveredIn({ events }: Ledger, step: number): Pick<TwinStep, 'delivered'> {
  const event = events.find((each) => each.step === step && each.what === 'delivered');
  const { factors, rest } = event?.values ?? {};
  return Array.isArray(factors) && typeof rest === 'number' && rest < MOST_REST
    ? { delivered: factors.map(Number) }
    : {};
}

/** What the sum of backward passes may leave of a gradient that was added up in bfloat16. */
const MOST_REST = 0.05;

const keyOf = (...parts: readonly (string | number)[]): string => parts.join(' ');

/** One for each example of a packed row: where its positions begin anew. */
function twinRowsOf(
  row: LedgerRow,
  outputs: ReadonlyMap<string, Prints>,
  backward: ReadonlyMap<string, Prints>,
): readonly TwinRow[] {
  const last = row.trained.findLastIndex((each) => each !== undefined);
  const begin = row.attention === undefined ? leadingRun(row.ids) : Math.max(0, row.real.indexOf(true));
  const { positions } = row;
  const begins =
    positions === undefined ? [] : row.ids.flatMap((_, at) => (at > 0 && positions[at] === 0 ? [at] : []));
  const edges = [begin, ...begins.filter((at) => at > begin && at <= last), last + 1];
  const key = keyOf(row.rank, row.forward, row.row);
  const gradients = backward.get(key);
  return edges.slice(0, -1).flatMap((from, at) => {
    const to = edges[at + 1] ?? last + 1;
    const inside = row.trained.flatMap((trained, column) =>
      trained !== undefined && column >= from && column < to ? [{ trained, column }] : [],
    );
    const end = inside.at(-1)?.column;
    if (end === undefined) return [];
    const columns = row.ids.flatMap((_, column) =>
      column >= from && column <= end && row.real[column] === true ? [column] : [],
    );
    const places = new Map(columns.map((column, place) => [column, place]));
    const whole = edges.length === 2;
    return [
      {
        rank: row.rank,
        forward: row.forward,
        row: row.row,
        ids: columns.map((column) => row.ids[column] ?? Number.NaN),
        tokens: inside.map(({ trained: { target, weight, logprob }, column }) => ({
          at: places.get(column) ?? columns.length,
          target,
          weight,
          logprob,
        })),
        // Of a packed row, nobody knows which part of its sums is which example's.
        outputs: (whole ? outputs.get(key) : undefined) ?? new Map(),
        ...(whole && gradients !== undefined ? { backward: gradients } : {}),
        unmasked: row.attention === undefined ? row.ids : undefined,
      },
    ];
  });
}

/** Tokens at the beginning that are all one: padding on the left that no mask tells. One alone is a token of its own. */
function leadingRun(ids: Ids): number {
  const other = ids.findIndex((id) => id !== ids[0]);
  return other > 1 ? other : 0;
}

interface Placed {
  readonly forward: number;
  readonly places: readonly string[];
  /** (n · B, R). */
  readonly prints: Matrix;
}

/** By rank, forward pass and row. */
function rowPrintsOf(
  processes: readonly (readonly ReadRecord[])[],
  placed: (record: ReadRecord) => Placed | undefined,
): ReadonlyMap<string, Prints> {
  const rows = new Map<string, Map<string, Print>>();
  for (const { rank, records } of rankedOf(processes))
    for (const { forward, places, prints } of records.flatMap((record) => placed(record) ?? [])) {
      const batch = prints.length / places.length;
      prints.forEach((print, at) => {
        const key = keyOf(rank, forward, at % batch);
        const of = rows.get(key) ?? new Map<string, Print>();
        of.set(places[Math.floor(at / batch)] ?? '', print);
        rows.set(key, of);
      });
    }
  return rows;
}

/** By what they are of and the ledger's step; of several processes, those of the first, whose gradients are shared. */
function printsOf(processes: readonly (readonly ReadRecord[])[]): ReadonlyMap<string, Prints> {
  const all = new Map<string, Map<string, Print>>();
  const trained = rankedOf(processes).filter(({ policies }) => policies.size > 0);
  for (const { records, stepOf } of trained.slice(0, 1))
    for (const record of records) {
      if (record.kind !== 'prints') continue;
      const key = keyOf(record.of, stepOf(record.step));
      const of = all.get(key) ?? new Map<string, Print>();
      record.names.forEach((name, at) => {
        const print = record.prints[at];
        // Several optimisers hold a part each: what one does not hold, another one does.
        if (print !== undefined && !print.some(Number.isNaN)) of.set(`${record.model} ${name}`, print);
      });
      all.set(key, of);
    }
  return all;
}
