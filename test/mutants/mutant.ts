// A mutant, whatever it is written in; and how one is written down in TypeScript: what a Python mutant says of itself, and
// the ops that are wrong. Those have no other ops, so their base is called by what they are: objects in the harness's own
// process.
import {
  type Hello,
  type Layout,
  type ObjectTrainerSpec,
  type Op,
  objectTrainer,
  type Semantics,
  type Tokens,
  type Trainer,
} from '../../src/index.ts';
import type { Resident } from '../resident.ts';

export interface Mutant {
  readonly id: string;
  readonly title: string;
  /** Rows of the catalogue that it shows; its id begins with the first. */
  readonly rows: readonly string[];
  /** The correct trainer that it is made of. */
  readonly base: string;
  /** The ops that are wrong; the others are those of the base, and no property can say anything about them. */
  readonly ops: readonly Op[];
  /** The folder that it stands in; the faulty trainers of the tour stand elsewhere. */
  readonly family?: string | undefined;
  /** Out of a resident process where one is given and it is written in Python; else a process, or an object, of its own. */
  readonly start: (resident?: Resident) => Promise<Trainer>;
}

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
