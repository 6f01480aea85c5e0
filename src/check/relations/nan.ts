// The other side of NaN under the mask: one that stands on a trained token, where a score has broken, must be seen. A loss
// that leaves it out goes on falling, and the row trains nothing, or everything else.

import type { Args, Op } from '../../protocol/message.ts';
import { show } from '../numbers.ts';
import { notMeant } from '../questions/meant.ts';
import { discard } from '../subject.ts';
import { isRead, placesIn } from './counts.ts';
import { madeOf, signatureOf, wholeOf } from './fit.ts';
import { FEW_CASES, type Rule } from './rule.ts';
import { fieldAlong, rowCount, trainedOf, wholePartition } from './transform.ts';

export const nanShows: Rule = {
  id: 'a-nan-is-seen',
  title: (noun) => `${noun} is NaN, or the batch is refused, where what a trained row is made of is NaN`,
  why: 'A row that is set to 0 because of a NaN is not trained any more, and no curve shows it: the loss falls on the rest.',
  level: 'must',
  unfit: (signature) =>
    wholeOf(signature) !== undefined && madeOf(signature) !== undefined
      ? undefined
      : 'it makes no number for the whole batch of real ones',
  mostCases: FEW_CASES,
  needs: () => notMeant('loss_is_descended'),
  applies: (op, args) => trainedRow(op, args) >= 0,
  async check({ subject, op, args }) {
    const signature = signatureOf(op);
    const [field, name] = [madeOf(signature) ?? '', wholeOf(signature) ?? ''];
    const row = trainedRow(op, args);
    const rows = (args as Readonly<Record<string, unknown>>)[field];
    if (row < 0 || !Array.isArray(rows)) return discard('no row is trained');
    const broken = { ...wholePartition(op, args), [field]: rows.with(row, nanIn(rows[row])) };
    const attempt = await subject.attempt(op, broken);
    if ('refused' in attempt) return discard('a batch with NaN is refused', 'trainer');
    const answered = (attempt.ok as Readonly<Record<string, unknown>>)[name];
    if (typeof answered !== 'number') return discard(`the answer has no ${name}`, 'trainer');
    if (!Number.isFinite(answered)) return undefined;
    // A row that is never read hides a NaN as it hides any number.
    const whole = { subject, op, args: wholePartition(op, args) };
    if (!(await isRead(whole, placesIn(op, whole.args, row, field))))
      return discard(`other numbers in place of ${field} of row ${row} do not change ${name}`, 'trainer');
    return {
      kind: 'hidden',
      sentence: `${field} of row ${row} are NaN, and ${name} is ${show(answered)}: the row is left out without a message.`,
      advice: 'Take nan_to_num, nanmean and their like out of it, and end the step where it is not finite.',
    };
  },
};

/** The first row whose tokens count, and whose advantage is none that leaves them alone; -1: there is none. */
function trainedRow<O extends Op>(op: O, args: Args<O>): number {
  const advantages = (args as { readonly advantages?: readonly unknown[] }).advantages;
  const ofTokens = fieldAlong(op, args, 'mask') !== undefined || 'labels' in args;
  const trained = ofTokens ? trainedOf(op, args) : undefined;
  return Array.from({ length: rowCount(op, args) }, (_, row) => row).findIndex((row) => {
    const columns = trained?.[row];
    // Nothing predicts the first column.
    if (columns !== undefined && !columns.some((on, t) => on && (t > 0 || !('labels' in args)))) return false;
    return advantages === undefined || [advantages[row]].flat().some((value) => value !== 0);
  });
}

const nanIn = (value: unknown): unknown => (Array.isArray(value) ? value.map(nanIn) : Number.NaN);
