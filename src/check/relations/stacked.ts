// A batch stacked on itself: every row and its mean stay what they were, and a sum is twice what it was. What counts rows
// or tokens in any other way, one too many or the square of them, gives another number.
import type { Op } from '../../protocol/message.ts';
import type { Matrix, Semantics } from '../../vocabulary.ts';
import { bandOf, show } from '../numbers.ts';
import type { Finding } from '../property.ts';
import { discard } from '../subject.ts';
import { agreement, notANumber } from './compare.ts';
import type { Asked, Rule } from './rule.ts';
import { fieldAlong, pickRows, rowCount, wholePartition } from './transform.ts';

/** What an op answers for the whole batch, and makes of all its rows. */
const WHOLE: { readonly [O in Op]?: string } = {
  kl: 'mean_kl',
  full_kl: 'mean_kl',
  entropy: 'mean_entropy',
  loss: 'loss',
  sft_loss: 'loss',
  value_loss: 'loss',
  preference_loss: 'loss',
  reward_loss: 'loss',
  unpaired_preference_loss: 'loss',
};

export const stacked: Rule = {
  id: 'a-batch-twice-is-the-batch',
  title: (noun) =>
    `${noun} of a batch stacked on itself is that of the batch, or twice that where it is a sum`,
  why: 'A denominator that counts one token too many, or the batch twice, makes the step depend on the size of the batch.',
  level: 'must',
  async check(asked) {
    const { subject, op, ask, terms } = asked;
    const args = wholePartition(op, asked.args);
    const rows = rowCount(op, args);
    const all = Array.from({ length: rows }, (_, row) => row);
    const before = await ask(args);
    const broken = notANumber(op, args, before);
    if (broken !== undefined) return discard(`${broken.where} is ${broken.value} already`, 'trainer');
    const after = await ask(wholePartition(op, pickRows(op, args, [...all, ...all])));
    const { loss_weights: weights, ...others } = before.fields;
    const when = 'when the batch is stacked on itself';
    const row = agreement({
      world: subject,
      op,
      args,
      before: { ...before, fields: others },
      after,
      when,
      batch: false,
      ...(terms === undefined ? {} : { terms }),
    });
    if (row !== undefined) return row;
    return wrongWhole(
      asked,
      { ...before.fields, loss_weights: weights },
      after.fields,
      Math.max(before.slack?.loss_weights ?? 0, after.slack?.loss_weights ?? 0),
    );
  },
};

/** How many times a number of the whole batch may be what it was. */
function factorsOf(
  op: Op,
  {
    loss_aggregation: aggregation,
    value_aggregation: ofCritic,
    reward_centering: centering,
    unpaired_objective: unpaired,
  }: Semantics,
): readonly number[] {
  if (op === 'preference_loss') return [1, 2];
  if (op === 'value_loss') return ofCritic === undefined ? [1, 2] : [1];
  // A known formula is a mean over pairs; what else a loss may be is not known where this is not.
  if (op === 'reward_loss') return centering === undefined ? [1, 2] : [1];
  if (op === 'unpaired_preference_loss') return unpaired === undefined ? [1, 2] : [1];
  // The constant of a sum may be of the batch, or of each row.
  const mayBeSum = aggregation === undefined || aggregation === 'token-sum-norm';
  return op === 'loss' && mayBeSum ? [1, 2] : [1];
}

type Fields = Readonly<Record<string, unknown>>;

function wrongWhole<O extends Op>(
  { subject, op, args, terms }: Asked<O>,
  before: Fields,
  after: Fields,
  slack: number,
): Finding | undefined {
  const name = WHOLE[op] ?? '';
  const [once, twice] = [before[name], after[name]];
  if (typeof once !== 'number' || typeof twice !== 'number') return undefined;
  const mask = fieldAlong(op, args, 'mask') as Matrix | undefined;
  const band = bandOf(subject, terms ?? 2 * Math.max(1, mask?.flat().length ?? rowCount(op, args)));
  const weights = (fields: Fields): number[] =>
    ((fields.loss_weights as Matrix | undefined) ?? []).slice(0, rowCount(op, args)).flat();
  const [single, doubled] = [weights(before), weights(after)];
  const holds = factorsOf(op, subject.semantics).some(
    (factor) =>
      band.close(twice, factor * once) &&
      single.every((weight, at) => {
        const want = (factor * weight) / 2;
        return Math.abs((doubled[at] ?? 0) - want) <= Math.max(slack, band.allowed(want));
      }),
  );
  if (holds) return undefined;
  const sum = factorsOf(op, subject.semantics).length > 1 ? `, or ${show(2 * once)} if it is a sum` : '';
  const sentence = `${name} changes from ${show(once)} to ${show(twice)} when the batch is stacked on itself; it should be ${show(once)}${sum}.`;
  const sameNumber = factorsOf(op, subject.semantics).some((factor) => band.close(twice, factor * once));
  return {
    kind: sameNumber ? 'weights' : name,
    sentence: sameNumber
      ? `${name} is ${show(once)}, and ${show(twice)} when the batch is stacked on itself, but ${op === 'value_loss' ? 'dL/d value' : 'dL/d logprob'} of its tokens is not what goes with that: the two count the batch differently.`
      : sentence,
    note: band.reason,
  };
}
