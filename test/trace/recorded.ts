// Lines of trace files for tests, as the tracer writes them, from few words; and the ledger that is made of such files.
import { encodeTensor, type Tensor } from '../../src/protocol/tensor.ts';
import type { Ledger } from '../../src/trace/ledger.ts';
import { type LedgerOptions, ledgerOf } from '../../src/trace/ledger-of.ts';
import { readTrace } from '../../src/trace/records/read.ts';
import type {
  EndRecord,
  ForwardRecord,
  GenerateRecord,
  ModelRecord,
  ProcessRecord,
  SettingsRecord,
  TokenizerRecord,
  TraceRecord,
  TrainedRecord,
} from '../../src/trace/records/records.ts';
import type { StepRecord } from '../../src/trace/records/steps.ts';
import type { Matrix } from '../../src/vocabulary.ts';

/** The text of one file. */
export function linesOf(records: readonly TraceRecord[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

/** Each argument of `files` is one process's file; they are written as lines and read again, which must not complain. */
export function recordedLedger(
  files: readonly (readonly TraceRecord[])[],
  options: LedgerOptions = {},
): Ledger {
  const processes = files.map((records, at) => {
    const read = readTrace(linesOf(records), `${at}-1.ndjson`);
    if (read.complaints.length > 0 || read.torn) throw new Error(read.complaints.join(' '));
    return read.records;
  });
  return ledgerOf(processes, options);
}

export function processOf(facts: Partial<ProcessRecord> = {}): ProcessRecord {
  return {
    kind: 'process',
    trace: 1,
    pid: 100 + (facts.rank ?? 0),
    rank: 0,
    world: 1,
    argv: ['train.py'],
    python: '3.11.2',
    started: '2026-03-01T09:30:00.000Z',
    ...facts,
  };
}

export function modelOf(facts: Partial<ModelRecord> = {}): ModelRecord {
  return {
    kind: 'model',
    model: 0,
    class: 'LlamaForCausalLM',
    head: 'lm_head',
    vocab_size: 100,
    hidden_size: 16,
    parameters: 10_000,
    dtype: 'float32',
    positions: 'rotary',
    name: '',
    ...facts,
  };
}

type Forward = Partial<Omit<ForwardRecord, MatrixField>> & {
  readonly attention_mask?: Matrix;
  readonly position_ids?: Matrix;
  readonly logprobs?: Matrix;
};
type MatrixField = 'input_ids' | 'attention_mask' | 'position_ids' | 'labels' | 'logprobs';

export function forwardOf(input_ids: Matrix, facts: Forward = {}): ForwardRecord {
  const { attention_mask, position_ids, logprobs, ...others } = facts;
  return {
    kind: 'forward',
    forward: 0,
    model: 0,
    step: 0,
    grad: true,
    training: true,
    input_ids: whole(input_ids),
    attention_mask: attention_mask === undefined ? null : whole(attention_mask),
    attention: attention_mask === undefined ? 'none' : 'mask',
    position_ids: position_ids === undefined ? null : whole(position_ids),
    labels: null,
    logprobs: logprobs === undefined ? null : encodeTensor(logprobs, 'float32'),
    averaged_over: 1,
    adapters_off: false,
    ...others,
  };
}

/** One position: the column of the logits, not of the target. */
export interface Position {
  readonly row?: number;
  readonly column: number;
  readonly target?: number;
  readonly weight?: number;
  readonly residual?: number;
  readonly temperature?: number;
  readonly logprob?: number;
}

type Trained = Partial<
  Pick<TrainedRecord, 'forward' | 'route' | 'dtype' | 'not_finite' | 'pass' | 'terms' | 'unread'>
>;

export function trainedOf(positions: readonly Position[], facts: Trained = {}): TrainedRecord {
  const floats = (of: (position: Position) => number | undefined): Tensor =>
    encodeTensor(
      positions.map((position) => of(position) ?? Number.NaN),
      'float64',
    );
  return {
    kind: 'trained',
    forward: 0,
    route: 'logits',
    dtype: 'float32',
    rows: whole(positions.map(({ row = 0 }) => row)),
    columns: whole(positions.map(({ column }) => column)),
    targets: whole(positions.map(({ target = -1 }) => target)),
    weights: floats(({ weight }) => weight),
    residuals: floats(({ residual }) => residual),
    temperatures: floats(({ temperature }) => temperature),
    logprobs: floats(({ logprob }) => logprob),
    not_finite: 0,
    ...facts,
  };
}

type Generate = Partial<Omit<GenerateRecord, 'input_ids' | 'attention_mask' | 'sequences'>> & {
  readonly attention_mask?: Matrix;
};

export function generateOf(input_ids: Matrix, sequences: Matrix, facts: Generate = {}): GenerateRecord {
  const { attention_mask, ...others } = facts;
  return {
    kind: 'generate',
    generate: 0,
    model: 0,
    step: 0,
    input_ids: whole(input_ids),
    attention_mask: attention_mask === undefined ? null : whole(attention_mask),
    sequences: whole(sequences),
    prompt_width: input_ids[0]?.length ?? 0,
    copies: sequences.length / input_ids.length,
    eos_token_ids: [2],
    pad_token_id: 0,
    do_sample: true,
    temperature: 1,
    max_new_tokens: 8,
    settings: {},
    ...others,
  };
}

export function stepOf(facts: Partial<StepRecord> = {}): StepRecord {
  return {
    kind: 'step',
    step: 0,
    optimizer: 'AdamW',
    models: [0],
    gradient_norm: 1,
    changed: true,
    learning_rates: [0.001],
    ...facts,
  };
}

export function tokenizerOf(facts: Partial<TokenizerRecord> = {}): TokenizerRecord {
  return {
    kind: 'tokenizer',
    folder: 'tokenizer-0',
    class: 'PreTrainedTokenizerFast',
    vocab_size: 100,
    pad_token_id: 0,
    eos_token_id: 2,
    bos_token_id: 1,
    ...facts,
  };
}

/** Of a trainer of TRL itself. */
export function settingsRecord(
  trainer: string,
  values: SettingsRecord['values'],
  facts: Partial<SettingsRecord> = {},
): SettingsRecord {
  const name = trainer.replace(/Trainer$/, 'Config');
  return { kind: 'settings', class: name, trainer, library: 'trl', values, ...facts };
}

export function endOf(facts: Partial<EndRecord> = {}): EndRecord {
  return {
    kind: 'end',
    reason: 'steps',
    exception: null,
    torch: true,
    modules_called: true,
    tracer_seconds: 0.5,
    seconds: 5,
    ...facts,
  };
}

/** Integers, as the tracer writes them. */
const whole = (value: Matrix | readonly number[]): Tensor => encodeTensor(value, 'int32');
