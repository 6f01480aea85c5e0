// Records of all processes of a traced command as one ledger.
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { Entry } from '../view/read.ts';
import type { Semantics } from '../vocabulary.ts';
import { withoutFalseCaps } from './caps.ts';
import type {
  DiscardedRow,
  Generation,
  Ledger,
  LedgerModel,
  LedgerProcess,
  LedgerRow,
  ScoredRow,
  Settings,
} from './ledger.ts';
import { isTraining, type Ranked, rankedOf } from './ranks.ts';
import type { SpecialIds } from './real.ts';
import type { ReadForward, ReadRecord, ReadTrained } from './records/shapes.ts';
import { averagedOver, type ReplicaSet, replicasOf } from './replicas.ts';
import { batchOf, rowsOf, trainedOf } from './rows.ts';
import { sampledOf } from './sampled.ts';
import { isScorer, scoresOnly, withoutBystanders, withoutExpectation } from './scorers.ts';
import { settingsOf } from './settings/settings.ts';
import { withPlaceholders } from './spans/placeholders.ts';
import { plainWherePlain } from './spans/plain.ts';
import { spansOf, spanWorldOf } from './spans/spans.ts';
import { stepsOf } from './steps.ts';
import { cutAtStops } from './stops.ts';
import { eventsOf, heldAtOf, updatesOf } from './updates.ts';

export interface LedgerOptions {
  readonly tokenizer?: Tokenizer | undefined;
  /** What the user says of the trainer; wins over its arguments. */
  readonly semantics?: Semantics | undefined;
  readonly trainOn?: Settings['trainOn'];
  readonly frozen?: Settings['frozen'];
  /** The data set that the script trains on. */
  readonly dataset?: readonly Entry[] | undefined;
}

/** @param processes records of each process, in the order of its file: see read.ts */
export function ledgerOf(processes: readonly (readonly ReadRecord[])[], options: LedgerOptions = {}): Ledger {
  const ranked = rankedOf(withoutBystanders(processes));
  const all = ranked.flatMap(({ records }) => records);
  const special = specialIdsOf(all, options.tokenizer);
  const { tokenizer, dataset } = options;
  const versions = Object.assign({}, ...all.map((each) => (each.kind === 'versions' ? each.versions : {})));
  const settings = settingsOf(
    all.filter((record) => record.kind === 'settings'),
    versions,
    options,
  );
  // Only what leaves nothing open is taken from arguments: that everything is trained is for the user to say.
  const declared = settings.semantics.sft_target === 'assistant' ? 'assistant' : undefined;
  const replicas = replicasOf(ranked, heldAtOf(ranked));
  const books = ranked.map((process) => forwardsOf(process, special, replicas));
  const bare = withoutFalseCaps(books.flatMap((process) => process.rows));
  const discarded = books.flatMap((process) => process.discarded);
  const generations = cutAtStops(ranked.flatMap(generationsOf), bare);
  const trainOn = options.trainOn ?? declared;
  const world = spanWorldOf({ tokenizer, generations, dataset, trainOn });
  const models = ranked.flatMap(modelsOf);
  const scores = scoresOnly({ models });
  const rows = bare
    .toSorted((a, b) => a.step - b.step || a.rank - b.rank || a.forward - b.forward || a.row - b.row)
    .map((row) => {
      const spans = spansOf(row, world);
      return { ...row, spans: scores ? withoutExpectation(spans) : withPlaceholders(row, spans, models) };
    });
  return {
    processes: ranked.map(processOf),
    models,
    steps: stepsOf(ranked),
    updates: ranked.flatMap(updatesOf),
    events: ranked.flatMap(eventsOf),
    rows: trainOn === undefined ? plainWherePlain(rows) : rows,
    scored: books.flatMap(({ scored }) => scored),
    ...(discarded.length === 0 ? {} : { discarded }),
    generations,
    ...(replicas.length === 0 ? {} : { replicas }),
    settings,
    ...(isUnmatched(rows, dataset) && !scores ? { unmatchedDataset: true } : {}),
    tokenizer,
    ...(world.marks === undefined ? {} : { template: world.marks }),
    versions,
  };
}

// --- helpers ---

/** The user has said what should be trained, and it is known of no row. */
function isUnmatched(rows: readonly LedgerRow[], dataset: readonly Entry[] | undefined): boolean {
  const unknown = rows.every(({ spans: { origin } }) => origin.kind === 'unknown' || origin.kind === 'text');
  return dataset !== undefined && rows.length > 0 && unknown;
}

function processOf({ process, records, rank }: Ranked): LedgerProcess {
  const { kind: _kind, trace: _trace, ...facts } = process;
  return {
    ...facts,
    rank,
    end: records.findLast((record) => record.kind === 'end'),
    blind: records.filter((record) => record.kind === 'blind'),
    troubles: records.filter((record) => record.kind === 'trouble'),
  };
}

function modelsOf({ records, rank, policies }: Ranked): LedgerModel[] {
  return records
    .filter((record) => record.kind === 'model')
    .map(({ kind: _kind, ...facts }) => ({
      ...facts,
      rank,
      role: policies.has(facts.model) ? 'policy' : 'frozen',
    }));
}

function generationsOf({ records, rank, stepAt }: Ranked): readonly Generation[] {
  return records.flatMap((record) =>
    record.kind === 'generate' ? sampledOf(record, { rank, step: stepAt(record.step, record.time) }) : [],
  );
}

type Unspanned = Omit<LedgerRow, 'spans'>;

function forwardsOf(
  { records, rank, policies, stepAt }: Ranked,
  special: SpecialIds,
  replicas: readonly ReplicaSet[],
): {
  readonly rows: readonly Unspanned[];
  readonly scored: readonly ScoredRow[];
  readonly discarded: readonly DiscardedRow[];
} {
  const rows: Unspanned[] = [];
  const scored: ScoredRow[] = [];
  const discarded: DiscardedRow[] = [];
  const dtypes = new Map<number, string>();
  const scorers = new Set<number>();
  const trained = new Map<number, ReadTrained[]>();
  // What was thrown away before the optimiser had it trained nothing.
  const dropped = new Set<number>();
  const factors = new Map<number, number>();
  for (const record of records) {
    if (record.kind === 'model') dtypes.set(record.model, record.dtype);
    if (record.kind === 'model' && isScorer(record)) scorers.add(record.model);
    if (record.kind === 'step') for (const forward of record.dropped ?? []) dropped.add(forward);
    if (record.kind === 'step')
      for (const [at, pass] of (record.passes ?? []).entries())
        factors.set(pass, record.factors?.[at] ?? Number.NaN);
    if (record.kind === 'trained')
      trained.set(record.forward, [...(trained.get(record.forward) ?? []), record]);
  }
  for (const forward of records) {
    if (forward.kind !== 'forward') continue;
    const step = stepAt(forward.step, forward.time);
    const bare = rowsOf(forward, { step, rank }, special);
    if (dropped.has(forward.forward)) {
      for (const row of bare) discarded.push({ ...row, ...batchOf(forward) });
      continue;
    }
    if (isTraining(forward, policies)) {
      const told = trainedOf(
        forward,
        trained.get(forward.forward) ?? [],
        dtypes.get(forward.model) ?? 'float32',
        averagedOver(replicas, { step, rank, model: forward.model }, Math.max(1, forward.averaged_over)),
        factors,
        scorers.has(forward.model) ? 0 : 1,
      );
      bare.forEach((row, at) => {
        const own = told[at];
        if (own !== undefined) rows.push({ ...row, ...own });
      });
    } else {
      const by = byOf(forward, policies);
      const { training, labels } = forward;
      for (const row of bare)
        scored.push({
          ...row,
          by,
          training,
          ...batchOf(forward),
          ...(labels === null ? {} : { labelled: true }),
        });
    }
  }
  return { rows, scored, discarded };
}

function byOf({ model, adapters_off }: ReadForward, policies: ReadonlySet<number>): ScoredRow['by'] {
  return adapters_off || !policies.has(model) ? 'reference' : 'policy';
}

/** As the script uses them: its tokenizer's, else those of its generate() calls, else those of the tokenizer's files. */
function specialIdsOf(records: readonly ReadRecord[], tokenizer: Tokenizer | undefined): SpecialIds {
  const told = records.findLast((record) => record.kind === 'tokenizer' && record.pad_token_id !== null);
  const called = records.findLast((record) => record.kind === 'generate' && record.pad_token_id !== null);
  const own = told?.kind === 'tokenizer' ? told : undefined;
  const sampled = called?.kind === 'generate' ? called : undefined;
  return {
    pad: own?.pad_token_id ?? sampled?.pad_token_id ?? tokenizer?.padTokenId,
    eos: [...new Set([own?.eos_token_id, ...(sampled?.eos_token_ids ?? []), tokenizer?.eosTokenId])].filter(
      (id) => typeof id === 'number',
    ),
    bos: own?.bos_token_id ?? tokenizer?.bosTokenId,
  };
}
