// Ledgers for tests, from what a test wants to say: rows by their ids and the length of their prompt, everything else by
// default as a correct trainer would have it. Lines of a trace file are recorded.ts.
import type {
  Generation,
  Ledger,
  LedgerEvent,
  LedgerModel,
  LedgerProcess,
  LedgerRow,
  LedgerStep,
  Place,
  RankStep,
  RowIds,
  ScoredRow,
  Settings,
  Spans,
  Trained,
} from '../../src/trace/ledger.ts';
import type { Ids, Role } from '../../src/vocabulary.ts';

/** What is said of one target: its weight alone, or more. Undefined: no gradient there. */
export type TrainedSketch = number | Partial<Trained> | undefined;

/** One row. `ids` are those of the example, without padding; all indices below count from the padded row's start. */
export interface RowSketch extends Partial<Place> {
  readonly ids: Ids;
  /** Pads before and behind `ids`; none. */
  readonly left?: number;
  readonly right?: number;
  /** (T,) as the model got it; by default 0 on pads; null: the model was given none. */
  readonly attention?: readonly number[] | null;
  readonly unmasked?: boolean;
  /** (T,); by default the model was given none. 'mask': counted over what is attended, 1 on pads. */
  readonly positions?: readonly number[] | 'mask';
  readonly real?: readonly boolean[];
  readonly logprobs?: readonly number[];
  /** Tokens of `ids` that are the prompt; 1. */
  readonly prompt?: number;
  /** Over the default spans, a part or all of them. */
  readonly spans?: Partial<Spans>;
}

export interface TrainedRowSketch extends RowSketch {
  /**
   * Weight of each expected token: one for all, or one by one in their order. By default 1 over the expected tokens of all
   * rows of the step: a token mean.
   */
  readonly weight?: number | readonly number[];
  /** Over that, by column t of the padded row (T: behind its end). A null takes the target away. */
  readonly at?: Readonly<Record<number, TrainedSketch | null>>;
  /** All of it, (T + 1,): nothing is by default then. */
  readonly trained?: readonly TrainedSketch[];
  readonly reached?: boolean;
  readonly notFinite?: number;
  readonly dtype?: string;
  readonly averagedOver?: number;
  readonly batch?: LedgerRow['batch'];
  readonly terms?: LedgerRow['terms'];
}

export interface LedgerSketch {
  readonly rows?: readonly TrainedRowSketch[];
  readonly scored?: readonly (RowSketch &
    Partial<Pick<ScoredRow, 'by' | 'dropout' | 'training' | 'labelled'>>)[];
  readonly generations?: readonly (Partial<Generation> & Pick<Generation, 'promptIds' | 'completionIds'>)[];
  readonly settings?: Partial<Settings> | undefined;
  readonly models?: readonly Partial<LedgerModel>[];
  /** By default one for each step of the rows, of each rank that has rows, done and with parameters changed. */
  readonly steps?: readonly LedgerStep[];
  readonly updates?: Ledger['updates'];
  readonly events?: readonly (Partial<LedgerEvent> & Pick<LedgerEvent, 'what'>)[];
  readonly processes?: readonly Partial<LedgerProcess>[];
  readonly tokenizer?: Ledger['tokenizer'];
  readonly template?: Ledger['template'];
  readonly versions?: Ledger['versions'];
  /** The run that this one resumes. */
  readonly earlier?: LedgerSketch;
  /** 0 and 2. */
  readonly pad?: number;
  readonly eos?: Ids;
}

/** The ledger of a script that trained `rows`, correctly where the sketch says nothing else. */
export function ledgerOf(sketch: LedgerSketch = {}): Ledger {
  const { pad = 0, eos = [2], rows = [], scored = [] } = sketch;
  const laid = rows.map((row, at) => ({ sketch: row, ...layOf(row, at, pad, eos) }));
  const expected = new Map<number, number>();
  for (const { ids, spans } of laid)
    expected.set(ids.step, (expected.get(ids.step) ?? 0) + spans.expected.filter((each) => each).length);
  const done: LedgerRow[] = laid.map(({ sketch: row, ids, spans }) => ({
    ...ids,
    trained: trainedOf(row, ids, spans, 1 / (expected.get(ids.step) ?? 1)),
    reached: row.reached ?? true,
    notFinite: row.notFinite ?? 0,
    dtype: row.dtype ?? 'float32',
    ...(row.averagedOver === undefined ? {} : { averagedOver: row.averagedOver }),
    ...(row.batch === undefined ? {} : { batch: row.batch }),
    ...(row.terms === undefined ? {} : { terms: row.terms }),
    spans,
  }));
  const ranks = [...new Set(done.map(({ rank }) => rank))];
  return {
    processes: (sketch.processes ?? (ranks.length > 0 ? ranks : [0]).map((rank) => ({ rank }))).map(
      processOf,
    ),
    models: (sketch.models ?? [{}]).map(modelOf),
    steps: sketch.steps ?? stepsOf(done),
    updates: sketch.updates ?? [],
    events: (sketch.events ?? []).map((event) => ({ rank: 0, step: 0, names: [], values: {}, ...event })),
    rows: done,
    scored: scored.map((row, at) => ({
      ...layOf(row, at, pad, eos).ids,
      by: row.by ?? 'reference',
      ...(row.dropout === undefined ? {} : { dropout: row.dropout }),
      ...(row.training === undefined ? {} : { training: row.training }),
      ...(row.labelled === undefined ? {} : { labelled: row.labelled }),
    })),
    generations: (sketch.generations ?? []).map((each, at) => generationOf(each, at, eos)),
    settings: {
      from: [],
      semantics: {},
      trainer: undefined,
      values: {},
      trainOn: undefined,
      ...sketch.settings,
    },
    tokenizer: sketch.tokenizer,
    ...(sketch.template === undefined ? {} : { template: sketch.template }),
    versions: sketch.versions ?? { torch: '2.13.0' },
    ...(sketch.earlier === undefined ? {} : { earlier: ledgerOf(sketch.earlier) }),
  };
}

// --- helpers ---

function layOf(row: RowSketch, at: number, pad: number, eos: Ids): { ids: RowIds; spans: Spans } {
  const { left = 0, right = 0, prompt = 1 } = row;
  const ids = [...Array<number>(left).fill(pad), ...row.ids, ...Array<number>(right).fill(pad)];
  const real = row.real ?? ids.map((_, t) => t >= left && t < left + row.ids.length);
  const attention = row.attention === undefined ? real.map(Number) : row.attention;
  const positions = row.positions === 'mask' ? countedOver(attention ?? real.map(Number)) : row.positions;
  return {
    ids: {
      step: row.step ?? 0,
      rank: row.rank ?? 0,
      forward: row.forward ?? row.step ?? 0,
      row: row.row ?? at,
      model: row.model ?? 0,
      ids,
      real,
      ...(attention === null ? {} : { attention }),
      ...(row.unmasked === undefined ? {} : { unmasked: row.unmasked }),
      ...(positions === undefined ? {} : { positions }),
      ...(row.logprobs === undefined ? {} : { logprobs: row.logprobs }),
    },
    spans: { ...spansOf(ids, real, left + prompt, eos), ...row.spans },
  };
}

function countedOver(attention: readonly number[]): number[] {
  let count = 0;
  return attention.map((attended) => (attended === 1 ? count++ : 1));
}

function spansOf(ids: Ids, real: readonly boolean[], from: number, eos: Ids): Spans {
  const to = real.lastIndexOf(true) + 1;
  const stop = ids.findIndex((id, t) => t >= from && t < to && eos.includes(id));
  const roles = ids.map((_, t): Role => {
    if (!real[t]) return 'padding';
    if (t < from) return 'prompt';
    if (stop < 0 || t < stop) return 'completion';
    return t === stop ? 'stop' : 'after stop';
  });
  const end = stop < 0 ? to : stop + 1;
  return {
    origin: { kind: 'template' },
    roles,
    // The first column has no predictor.
    expected: roles.map((role, t) => (t === 0 ? undefined : role === 'completion' || role === 'stop')),
    completions: end > from ? [{ from, to: end, ...(stop < 0 ? {} : { stop }) }] : [],
  };
}

function trainedOf(
  row: TrainedRowSketch,
  { ids }: RowIds,
  spans: Spans,
  mean: number,
): (Trained | undefined)[] {
  let seen = 0;
  return Array.from({ length: ids.length + 1 }, (_, t) => {
    const said = row.at?.[t];
    if (said === null) return undefined;
    if (row.trained !== undefined) return trainedAt(ids[t], row.trained[t]);
    if (spans.expected[t] !== true) return trainedAt(ids[t], said);
    const { weight = mean } = row;
    const own = typeof weight === 'number' ? weight : weight[seen++];
    return trainedAt(ids[t], said ?? own);
  });
}

function trainedAt(id: number | undefined, said: TrainedSketch): Trained | undefined {
  if (said === undefined) return undefined;
  const own = typeof said === 'number' ? { weight: said } : said;
  return { target: id, weight: undefined, residual: 1e-7, temperature: 1, logprob: -1, ...own };
}

function stepsOf(rows: readonly LedgerRow[]): LedgerStep[] {
  const ranks = new Map<number, Set<number>>();
  for (const { step, rank } of rows) ranks.set(step, (ranks.get(step) ?? new Set()).add(rank));
  return [...ranks]
    .sort(([a], [b]) => a - b)
    .map(([index, of]) => ({ index, ranks: [...of].sort((a, b) => a - b).map(rankStep) }));
}

/** A step that was made, with parameters changed. */
export function rankStep(rank: number): RankStep {
  return { rank, optimizer: 'AdamW', done: { gradientNorm: 1, changed: true, learningRates: [1e-3] } };
}

function processOf(sketch: Partial<LedgerProcess>): LedgerProcess {
  return {
    pid: 100 + (sketch.rank ?? 0),
    rank: 0,
    world: 1,
    argv: ['python', 'train.py'],
    python: '3.11.0',
    started: '2026-03-01T09:30:00.000Z',
    blind: [],
    troubles: [],
    end: {
      kind: 'end',
      reason: 'steps',
      exception: null,
      torch: true,
      modules_called: true,
      tracer_seconds: 0.5,
      seconds: 5,
    },
    ...sketch,
  };
}

function modelOf(sketch: Partial<LedgerModel>, at: number): LedgerModel {
  return {
    model: at,
    rank: 0,
    class: 'LlamaForCausalLM',
    head: 'lm_head',
    vocab_size: 100,
    hidden_size: 16,
    parameters: 10_000,
    dtype: 'float32',
    positions: 'rotary',
    name: '',
    role: at === 0 ? 'policy' : 'frozen',
    ...sketch,
  };
}

function generationOf(
  sketch: Partial<Generation> & Pick<Generation, 'promptIds' | 'completionIds'>,
  at: number,
  eos: Ids,
): Generation {
  const last = sketch.completionIds.at(-1);
  return {
    rank: 0,
    step: 0,
    model: 0,
    call: 0,
    row: at,
    stopped: last !== undefined && eos.includes(last),
    eosTokenIds: eos,
    temperature: 1,
    ...sketch,
  };
}
