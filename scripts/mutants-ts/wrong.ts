// How a wrong trainer is written down in TypeScript: what a Python mutant says of itself, and the ops that are wrong.
// They have no other ops, so their base is called by what they are: objects in the harness's own process.
import {
  type Hello,
  type Layout,
  type ObjectTrainerSpec,
  type Op,
  objectTrainer,
  type Semantics,
  type Tokens,
} from '../../src/index.ts';
import type { Mutant } from '../wrong-trainers.ts';

export interface Wrong {
  /** The row of the catalogue that it shows, if any. */
  readonly row?: string;
  readonly name: string;
  readonly title: string;
  readonly layout?: Layout;
  readonly semantics?: Semantics;
  readonly tokens?: Tokens;
  readonly tensors?: 'base64';
  /** What its ops can be asked for. */
  readonly can?: Hello['ops'];
  readonly ops: ObjectTrainerSpec['ops'];
}

export function wrong({ row, name, title, layout, semantics, tokens, tensors, can, ops }: Wrong): Mutant {
  const id = row === undefined ? name : `${row}-${name}`;
  const names = Object.keys(ops) as Op[];
  return {
    id,
    title,
    rows: row === undefined ? [] : [row],
    base: 'object',
    ops: names,
    start: async () =>
      objectTrainer({
        hello: {
          protocol: 1,
          name: id,
          dtype: 'float64',
          ops: { ...Object.fromEntries(names.map((op) => [op, {}])), ...can },
          ...(tokens === undefined ? {} : { tokens }),
          ...(tensors === undefined ? {} : { tensors }),
          ...(layout === undefined ? {} : { layout }),
          ...(semantics === undefined ? {} : { semantics }),
        },
        ops,
      }),
  };
}
