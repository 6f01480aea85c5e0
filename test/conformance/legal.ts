// How a legal trainer is written down here: a name, the ops that it has, and what it declares beside them. Each shows
// one convention that the Python examples do not have, and says nothing of itself unless the convention is about that.
import {
  type Hello,
  type ObjectTrainerSpec,
  objectTrainer,
  type Semantics,
  type Tokenizer,
  type Trainer,
} from '../../src/index.ts';

export interface Legal {
  readonly name: string;
  readonly trainer: Trainer;
  readonly tokenizer?: Tokenizer;
  /** What it does on purpose and does not declare: whoever is asked about that would answer so. */
  readonly is?: Semantics;
}

export function legal(
  name: string,
  ops: ObjectTrainerSpec['ops'],
  declared: Omit<Partial<Hello>, 'ops'> & { readonly can?: Hello['ops']; readonly is?: Semantics } = {},
  tokenizer?: Tokenizer,
): Legal {
  const { can, is, ...rest } = declared;
  const named = Object.fromEntries(Object.keys(ops).map((op) => [op, {}]));
  return {
    name,
    trainer: objectTrainer({
      hello: { protocol: 1, dtype: 'float64', ...rest, name: 'legal', ops: { ...named, ...can } },
      ops,
    }),
    ...(tokenizer === undefined ? {} : { tokenizer }),
    ...(is === undefined ? {} : { is }),
  };
}

export type Rows = readonly (readonly number[])[];

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
export const mean = (values: readonly number[]): number => sum(values) / values.length;
export const repeat = (value: number, times: number): number[] => Array.from({ length: times }, () => value);
/** A cell of a matrix that is known to be there. */
export const cell = (rows: Rows, row: number, column: number): number => rows[row]?.[column] ?? Number.NaN;
