// The slot behind a row's last trained token. A trainer that bootstraps rows which were cut off reads the value in it, on purpose:
// what it does with that slot alone is a question.
import {
  type Args,
  causeIn,
  type Finding,
  meantOr,
  type Need,
  notMeant,
  type Op,
  type Property,
  type Subject,
} from '../../src/index.ts';

/** A trainer that reads the slot behind a row on purpose cannot be told to leave it alone. */
export const ownSlot: Need = notMeant('gae_bootstrap');

export const answersOfSlot = (subject: Subject): Pick<Finding, 'answers'> =>
  meantOr(subject, 'gae_bootstrap');

/** The same request with no value in that slot. */
function emptied<O extends Op>(op: O, args: Args<O>): Args<O> {
  if (op !== 'gae') return args;
  const { values, completion_mask: mask } = args as Args<'gae'>;
  return {
    ...args,
    values: values.map((row, b) =>
      row.map((value, t) => (t === (mask[b] ?? []).lastIndexOf(1) + 1 ? 0 : value)),
    ),
  };
}

const withoutSlot = (subject: Subject): Subject => ({
  ...subject,
  ask: (op, args) => subject.ask(op, emptied(op, args)),
  attempt: (op, args) => subject.attempt(op, emptied(op, args)),
});

/** Properties that put values into the slot as well: what goes wrong only with them there is a question, unless it is declared. */
export const besideTheSlot = <Case>(properties: readonly Property<Case>[]): readonly Property<Case>[] =>
  properties.map((property) => ({
    ...property,
    needs: [...(property.needs ?? []), ownSlot],
    async check(subject, drawn) {
      const found = await property.check(subject, drawn);
      const question = answersOfSlot(subject);
      if (found === undefined || question.answers === undefined) return found;
      const isRight = await causeIn(
        async () => (await property.check(withoutSlot(subject), drawn)) === undefined,
      );
      return isRight === true ? { ...found, ...question } : found;
    },
  }));
