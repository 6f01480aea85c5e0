// Records as they have been read, those of records.ts with their arrays as numbers; and what fields of one must have in common.
import type { Ids, Matrix } from '../../vocabulary.ts';
import type {
  BackwardRecord,
  ForwardRecord,
  GenerateRecord,
  OutputsRecord,
  PrintsRecord,
  TraceRecord,
  TrainedRecord,
} from './records.ts';
import type { ChecksumsRecord, UpdateRecord } from './steps.ts';

type With<R, Names extends keyof R, A> = {
  readonly [K in keyof R]: K extends Names ? A | Extract<R[K], null> : R[K];
};

export type ReadForward = With<
  ForwardRecord,
  'input_ids' | 'attention_mask' | 'position_ids' | 'labels' | 'logprobs',
  Matrix
>;
export type ReadTrained = With<
  TrainedRecord,
  'rows' | 'columns' | 'targets' | 'weights' | 'residuals' | 'temperatures' | 'logprobs',
  Ids
>;
export type ReadChecksums = With<ChecksumsRecord, 'sums' | 'sizes' | 'local' | 'reduced', Ids>;
export type ReadUpdate = With<
  UpdateRecord,
  'tensors' | 'norms' | 'peaks' | 'beside' | 'moved' | 'rates' | 'decays' | 'held' | 'trainable',
  Ids
>;
export type ReadPrints = With<PrintsRecord, 'prints', Matrix>;
export type ReadOutputs = With<OutputsRecord, 'prints', Matrix>;
export type ReadBackward = With<BackwardRecord, 'prints', Matrix>;
export type ReadGenerate = With<
  GenerateRecord,
  'input_ids' | 'attention_mask' | 'sequences' | 'sampling_logprobs',
  Matrix
>;

/** A record with its arrays as numbers: (n,) lists and (B, T) lists of rows. */
export type ReadRecord =
  | Exclude<
      TraceRecord,
      | ForwardRecord
      | TrainedRecord
      | GenerateRecord
      | ChecksumsRecord
      | UpdateRecord
      | PrintsRecord
      | OutputsRecord
      | BackwardRecord
    >
  | ReadForward
  | ReadTrained
  | ReadUpdate
  | ReadGenerate
  | ReadChecksums
  | ReadPrints
  | ReadOutputs
  | ReadBackward;

/** What fields of one record must have in common. */
export const SHAPES: {
  readonly [K in ReadRecord['kind']]?: (record: Extract<ReadRecord, { kind: K }>) => string | undefined;
} = {
  forward: (record) => {
    for (const name of ['attention_mask', 'position_ids', 'labels', 'logprobs'] as const) {
      const matrix = record[name];
      if (matrix !== null && !sameShape(matrix, record.input_ids))
        return `field "${name}" has shape ${shapeOf(matrix)}, the input ids have ${shapeOf(record.input_ids)}`;
    }
    return undefined;
  },
  trained: (record) => {
    for (const name of ['columns', 'targets', 'weights', 'residuals', 'temperatures', 'logprobs'] as const) {
      if (record[name].length !== record.rows.length)
        return `field "${name}" has ${record[name].length} positions, "rows" has ${record.rows.length}`;
    }
    return undefined;
  },
  tensors: ({ names, sizes, dtypes }) =>
    sizes.length === names.length && dtypes.length === names.length
      ? undefined
      : `fields "names", "sizes" and "dtypes" have ${names.length}, ${sizes.length} and ${dtypes.length} tensors`,
  prints: ({ names, prints }) =>
    names.length === prints.length
      ? undefined
      : `field "prints" has ${prints.length} rows, "names" has ${names.length} tensors`,
  outputs: ({ modules, prints }) =>
    modules.length > 0 && prints.length % modules.length === 0
      ? undefined
      : `field "prints" has ${prints.length} rows for ${modules.length} modules`,
  update: (record) => {
    for (const name of [
      'norms',
      'peaks',
      'beside',
      'moved',
      'rates',
      'decays',
      'held',
      'trainable',
    ] as const) {
      if (record[name].length !== record.tensors.length)
        return `field "${name}" has ${record[name].length} tensors, "tensors" has ${record.tensors.length}`;
    }
    return undefined;
  },
  generate: (record) => {
    const { input_ids, attention_mask, sequences, prompt_width, copies } = record;
    for (const name of ['lengths', 'unsure_before', 'unsure_behind'] as const) {
      const each = record[name];
      if (each !== undefined && each.length !== sequences.length)
        return `field "${name}" has ${each.length} entries, "sequences" has ${sequences.length} rows`;
    }
    if (attention_mask !== null && !sameShape(attention_mask, input_ids))
      return `field "attention_mask" has shape ${shapeOf(attention_mask)}, the input ids have ${shapeOf(input_ids)}`;
    if (sequences.length !== input_ids.length * copies)
      return `field "sequences" has ${sequences.length} rows, ${input_ids.length} prompts of ${copies} each make ${input_ids.length * copies}`;
    const [first] = sequences;
    const logprobs = record.sampling_logprobs;
    const wide = sequences.map((sequence) => sequence.slice(prompt_width));
    if (logprobs !== undefined && !sameShape(logprobs, wide))
      return `field "sampling_logprobs" has shape ${shapeOf(logprobs)}, the completions have ${shapeOf(wide)}`;
    return first !== undefined && first.length < prompt_width
      ? `field "prompt_width" is ${prompt_width}, the sequences have ${first.length} columns`
      : undefined;
  },
};

function sameShape(a: Matrix, b: Matrix): boolean {
  return a.length === b.length && a[0]?.length === b[0]?.length;
}

function shapeOf(matrix: Matrix): string {
  return `[${matrix.length}, ${matrix[0]?.length ?? 0}]`;
}
