// What an op takes and answers, as the relations see it: of each field its kind and what its indices mean. Which relations
// fit an op, and which of its fields they read, follows from this alone.
import type { ArgAxis, OkAxis, OpAxes } from '../../protocol/axes.ts';
import { kindOf } from '../../protocol/fields.ts';
import { OPS, type Op } from '../../protocol/message.ts';
import { axesOf } from './transform.ts';

export interface Field<Axis> {
  readonly name: string;
  /** As in the protocol, without the mark of a field that may be absent. */
  readonly kind: string;
  readonly axis: Axis;
}

export interface Signature {
  readonly args: readonly Field<ArgAxis>[];
  readonly ok: readonly Field<OkAxis>[];
  readonly reach: OpAxes['reach'];
  readonly hasIds: boolean;
  /** Its numbers that every formula reads. */
  readonly reads: readonly string[];
}

export function signatureOf(op: Op): Signature {
  const { args, ok, reach, ids, reads = [] } = axesOf(op);
  return {
    args: fields(OPS[op].args, args),
    ok: fields(OPS[op].ok, ok),
    reach,
    hasIds: ids !== undefined,
    reads: reads as readonly string[],
  };
}

const fields = <Axis>(
  specs: Readonly<Record<string, string>>,
  axes: Readonly<Record<string, Axis>>,
): readonly Field<Axis>[] =>
  Object.entries(axes).map(([name, axis]) => ({
    name,
    axis,
    kind: kindOf(specs[name] ?? ''),
  }));

/** Holds real numbers, which may be NaN; all others are whole, or text. */
export const isReal = ({ kind }: Field<unknown>): boolean => kind.startsWith('float') || kind === 'amounts';

export const hasColumns = ({ args }: Signature): boolean => args.some(({ axis }) => axis === 'token');

/** The number that an op answers for the whole batch and makes of all its rows, by name. */
export const wholeOf = ({ ok }: Signature): string | undefined =>
  ok.find((field) => field.axis === 'batch' && field.kind === 'float')?.name;

/** What an op makes all of its answer of: the first of its arguments that has real numbers for each row. */
export const madeOf = ({ args }: Signature): string | undefined =>
  args.find((field) => (field.axis === 'row' || field.axis === 'token') && isReal(field))?.name;
