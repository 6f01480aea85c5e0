// What comes from data loaders: another batch each time, also where several workers make them.
import {
  type Ledger,
  type LedgerFinding,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerRow,
  many,
  realIds,
  targetsOf,
} from '../../../src/index.ts';
import { trainedAgain } from '../input/again.ts';
import { keyOf } from '../input/kin.ts';
import { type Aside, aside, asides, type Found, isAside, judgementOf, rowStrip } from '../words.ts';

/** The rows of one forward pass, by their ids. */
interface Batch {
  readonly rows: readonly LedgerRow[];
  readonly first: LedgerRow;
  readonly key: string;
}

const fresh: LedgerProperty = {
  id: 'loader/batches-are-new',
  title: 'A loader with several workers gives another batch from each of them',
  stage: 'trace',
  level: 'should',
  why: 'Workers that draw with one seed, or that each read the whole of a stream, give every row as many times as there are workers: an epoch is a fraction of the data.',
  catches: ['RNK-05'],
  needs: (ledger) =>
    batchesOf(ledger).some((own) => own.length > 1)
      ? undefined
      : 'fewer than two batches of data were trained: there is nothing to compare',
  judge: (ledger) => {
    const left: string[] = [];
    let judged = 0;
    const found: Found[] = [];
    const notices: LedgerNotice[] = [];
    for (const own of batchesOf(ledger)) {
      if (own.length < 2) continue;
      const repeated = byWorkers(own);
      if (isAside(repeated)) left.push(...asides(own.length, repeated.aside));
      else judged += own.length;
      if (!isAside(repeated) && repeated !== 'new') found.push(workersFound(ledger, repeated));
      // Of all ranks the same is told once.
      else if (notices.length === 0) notices.push(...twiceNotice(ledger, own), ...fewerRows(own));
    }
    const judgement = judgementOf(judged, left, found);
    return notices.length === 0 ? judgement : { ...judgement, notices };
  },
};

/** Of each rank and model, in order; without sampled rows, which are trained several times on purpose. */
function batchesOf({ rows }: Ledger): readonly (readonly Batch[])[] {
  const passes = new Map<string, Map<number, LedgerRow[]>>();
  for (const row of rows) {
    const key = `${row.rank} ${row.model}`;
    const own = passes.get(key) ?? new Map<number, LedgerRow[]>();
    passes.set(key, own.set(row.forward, [...(own.get(row.forward) ?? []), row]));
  }
  return [...passes.values()].map((own) =>
    [...own.values()].flatMap((of): Batch[] => {
      const [first] = of;
      if (first === undefined || of.some(({ spans }) => spans.origin.kind === 'generation')) return [];
      const key = of
        .map((row) => keyOf(realIds(row)))
        .sort()
        .join('|');
      return [{ rows: of, first, key }];
    }),
  );
}

/** Two batches of one pass over a loader that neighbouring workers made, and that are one. */
function byWorkers(own: readonly Batch[]): readonly [Batch, Batch] | 'new' | Aside {
  const none = aside('no neighbouring workers of a loader were seen to make batches');
  const rounds = new Map<string, Map<number, Batch>>();
  for (const each of own) {
    const { batch } = each.first;
    if (batch === undefined || batch.workers < 2) continue;
    // A data set of one batch is overfitted.
    if (batch.of !== undefined && batch.of <= (batch.size ?? each.rows.length))
      return aside('the data set is one batch');
    const key = `${batch.pass} ${Math.floor(batch.number / batch.workers)}`;
    const round = rounds.get(key) ?? new Map<number, Batch>();
    // Cut into micro-batches by the script, a batch comes in parts: only whole ones are compared.
    if (round.has(batch.number)) return aside('the script cuts batches of the loader into parts');
    rounds.set(key, round.set(batch.number, each));
  }
  const full = [...rounds.values()].map((round) => [...round.values()]).filter((round) => round.length > 1);
  const [first] = full;
  if (first === undefined) return none;
  if (!full.every((round) => round.every(({ key }) => key === round[0]?.key))) return 'new';
  // One batch in all rounds is overfitted, by however many workers.
  if (full.length > 1 && new Set(full.map((round) => round[0]?.key)).size === 1)
    return aside('all batches are the same rows');
  const [left, right] = first;
  return left === undefined || right === undefined ? none : [left, right];
}

function workersFound(ledger: Ledger, [left, right]: readonly [Batch, Batch]): Found {
  const { first } = left;
  const workers = first.batch?.workers ?? 0;
  return {
    harm: left.rows.length,
    tell: (): LedgerFinding => ({
      kind: 'workers',
      sentence: `Batches ${first.batch?.number} and ${right.first.batch?.number} of a loader with ${workers} workers are the same ${many(left.rows.length, 'row')}${rankOf(ledger, first)}: each worker makes the same.`,
      strips: [
        rowStrip(
          ledger,
          first,
          targetsOf(first).map(({ column }) => column),
        ),
      ],
      note: 'Seed what the data set draws from by torch.utils.data.get_worker_info().seed, made in the worker and not before it; of an IterableDataset, let each worker take every n-th row.',
      given: {
        workers,
        batches: [left, right].map(({ first: row, rows }) => ({
          batch: row.batch?.number,
          step: row.step,
          rank: row.rank,
          input_ids: rows.map(({ ids }) => ids),
        })),
      },
    }),
  };
}

/** A batch that comes again in a later epoch is none: between the two stand others. */
function twiceNotice(ledger: Ledger, own: readonly Batch[]): readonly LedgerNotice[] {
  const collapsed = collapsedIn(ledger, own);
  if (collapsed !== undefined)
    return [
      {
        sentence: `All ${collapsed} micro-batches of a step train the same rows, in each step others: the loop takes one batch again and again, or the loader gives it as often.`,
        answers: [],
        asked: true,
      },
    ];
  const at = own.findIndex(({ key }, i) => i > 0 && key === own[i - 1]?.key);
  const [before, again] = [own[at - 1], own[at]];
  if (before === undefined || again === undefined) return [];
  const [there, here] = [before.first.step, again.first.step];
  const where = there === here ? `Two micro-batches of step ${here}` : `Steps ${there} and ${here}`;
  return [
    {
      sentence: `${where} train the same ${many(again.rows.length, 'row')}. Fine where one batch is overfitted on purpose, trained for several epochs, or all of the data set, or where the data hold a row more than once; else the loader gives a batch twice.`,
      answers: [],
      remark: own.every(({ key }) => key === again.key) || again.rows.every(isOfSeveral),
    },
  ];
}

/** Micro-batches of the first of several steps, of which each trains one batch that often, and no two the same. */
function collapsedIn(ledger: Ledger, own: readonly Batch[]): number | undefined {
  const again = new Set(trainedAgain(ledger).flat());
  const steps = new Map<number, Batch[]>();
  for (const each of own) steps.set(each.first.step, [...(steps.get(each.first.step) ?? []), each]);
  // The last window of a pass may have one micro-batch only.
  const several = [...steps.values()].filter((batches) => batches.length > 1);
  const isOne = (batches: readonly Batch[]): boolean =>
    batches.every(({ key, rows }) => key === batches[0]?.key && rows.every((row) => again.has(row)));
  const differ = new Set(several.map((batches) => batches[0]?.key)).size === several.length;
  return several.length > 1 && differ && several.every(isOne) ? several[0]?.length : undefined;
}

/** The data set has several rows with these ids. */
const isOfSeveral = ({ spans: { origin } }: LedgerRow): boolean =>
  origin.kind === 'dataset' && origin.shared === true;

/** A batch of which the model sees one row: the collator kept the first, or packed them, which its positions would show. */
function fewerRows(own: readonly Batch[]): readonly LedgerNotice[] {
  const taken = new Map<string, { size: number; rows: LedgerRow[] }>();
  for (const { rows, first } of own) {
    const { batch } = first;
    if (batch?.size === undefined) return [];
    const key = `${batch.pass} ${batch.number}`;
    taken.set(key, { size: batch.size, rows: [...(taken.get(key)?.rows ?? []), ...rows] });
  }
  // The last batch of a pass may have one row only.
  const all = [...taken.values()].filter(({ size }) => size > 1);
  const [first] = all;
  const alone = all.every(({ rows }) => rows.length === 1 && !rows.some(isPacked));
  if (first === undefined || all.length < 2 || !alone) return [];
  // Rows of one answer each are known to be single examples: several that were packed have several.
  const single = all.every(({ rows }) => rows.every(({ spans }) => spans.completions.length === 1));
  return [
    {
      asked: single,
      sentence: `The loader fetches batches of ${first.size} rows, and the model is called with one row. This is fine if the collator packs them into it; otherwise it keeps one and drops ${first.size - 1}.`,
      answers: [],
    },
  ];
}

/** Positions begin again inside of the row. */
const isPacked = ({ positions }: LedgerRow): boolean =>
  positions?.some((position, at) => at > 0 && position < (positions[at - 1] ?? 0)) === true;

const rankOf = ({ processes }: Ledger, { rank }: LedgerRow): string =>
  new Set(processes.map((process) => process.rank)).size > 1 ? ` on rank ${rank}` : '';

export const loaderRules: readonly LedgerProperty[] = [fresh];
