// A score of 0 may come as -0: a penalty of 0 that is subtracted, 0 times a negative weight, a rounded loss. It is the same number,
// and an answer that differs reads the sign bit, the text or the inverse of a score. Matrices of logits are left out: which of two
// equal logits is kept is free, and a sort may put -0 before 0. So are log-probabilities: 0 is the highest that there is, and a
// gradient that is estimated around it asks about numbers above it.
import type { Args, Op } from '../../protocol/message.ts';
import { discard } from '../subject.ts';
import { notANumber } from './compare.ts';
import { type Place, placesIn } from './counts.ts';
import { isReal, type Signature, signatureOf } from './fit.ts';
import { FEW_CASES, type Rule, sizeOf } from './rule.ts';
import { axesOf, fieldAlong, rowCount, wholePartition } from './transform.ts';
import { moved } from './twice.ts';

/** One number for each row or token. */
const SCALARS: readonly string[] = ['floats', 'float_track', 'float_rows'];

export const signedZero: Rule = {
  id: 'a-zero-has-no-sign',
  title: (noun) => `${noun} is the same where a 0 is written as -0`,
  why: 'A score of 0 becomes -0 by a subtraction or a negative weight. A sign bit, a text or an inverse then tells two equal scores apart.',
  level: 'must',
  catches: ['VAL-13'],
  mostCases: FEW_CASES,
  unfit: (signature) =>
    scalarsOf(signature).length > 0
      ? undefined
      : 'no argument holds a score, a reward or a value for each row or token',
  applies: (op, args) => zerosIn(op, args).length > 0,
  async check(asked) {
    const { subject, op, ask } = asked;
    const given = wholePartition(op, asked.args);
    const places = zerosIn(op, given);
    if (places.length === 0) return discard('no number can be 0');
    const args = written(withMates(op, given, places), places, 0);
    // A logarithm of 0 is minus infinity by right.
    if ('refused' in (await subject.attempt(op, args))) return discard('a 0 there is refused', 'trainer');
    const before = await ask(args);
    const broken = notANumber(op, args, before);
    if (broken !== undefined) return discard(`${broken.where} is ${broken.value} for a 0`, 'trainer');
    const judged = async (changed: readonly Place[]) => {
      const names = changed.map(({ field, row }) => `${field} of row ${row}`).join(', ');
      const when = `when the 0 in ${names} is written as -0`;
      return moved({ ...asked, args }, before, await ask(written(args, changed, -0)), { when });
    };
    if ((await judged(places)) === undefined) return undefined;
    for (const place of places) {
      const finding = await judged([place]);
      if (finding !== undefined) return { ...finding, advice: ADVICE };
    }
    const finding = await judged(places);
    return finding === undefined ? undefined : { ...finding, advice: ADVICE };
  },
};

const ADVICE =
  'Compare the numbers: `score > 0`, `score == 0`. `signbit`, `copysign`, `str(score)` and `1 / score` tell -0 from 0.';

const scalarsOf = ({ args }: Signature): Signature['args'] =>
  args.filter(
    (field) =>
      isReal(field) &&
      SCALARS.includes(field.kind) &&
      (field.axis === 'row' || field.axis === 'token') &&
      !field.name.endsWith('logprobs'),
  );

/** A number of each field, each field's in another row: an advantage of 0 hides what else its row has. */
function zerosIn<O extends Op>(op: O, args: Args<O>): readonly Place[] {
  const rows = rowCount(op, args);
  const size = sizeOf(op, args);
  return scalarsOf(signatureOf(op)).flatMap(({ name }, at) => {
    const places = rows === 0 ? [] : placesIn(op, args, (size + at) % rows, name);
    return places.slice(size % Math.max(1, places.length)).slice(0, 1);
  });
}

function written<O extends Op>(args: Args<O>, places: readonly Place[], zero: number): Args<O> {
  const all: Record<string, unknown> = { ...args };
  for (const { field, row, column } of places) {
    const rows = all[field] as readonly unknown[];
    all[field] = rows.with(
      row,
      column === undefined ? zero : (rows[row] as readonly unknown[]).with(column, zero),
    );
  }
  return all as Args<O>;
}

/** In every second request the group has no other score than 0, which only another way to write it tells apart. */
function withMates<O extends Op>(op: O, args: Args<O>, places: readonly Place[]): Args<O> {
  const groups = fieldAlong(op, args, 'group') as readonly number[] | undefined;
  if (groups === undefined || axesOf(op).reach !== 'group' || sizeOf(op, args) % 2 === 1) return args;
  const mates = places
    .filter(({ column }) => column === undefined)
    .flatMap(({ field, row }) =>
      groups.flatMap((group, mate) => (group === groups[row] ? [{ field, row: mate }] : [])),
    );
  return written(args, mates, 0);
}
