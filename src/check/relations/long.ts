// Rows that go on, their trained columns over and over, until they are longer than what is handled in one go (chunks of 16, 32,
// 64 or 128 columns): every token has what it had, and a mean over tokens is what it was.
import type { Args, Op } from '../../protocol/message.ts';
import type { Matrix } from '../../vocabulary.ts';
import type { World } from '../property.ts';
import { discard } from '../subject.ts';
import { AGGREGATION_OF, SHARE_DENOMINATORS } from '../support.ts';
import { agreement, notANumber } from './compare.ts';
import { hasColumns } from './fit.ts';
import type { Rule } from './rule.ts';
import { withoutShares, wrongWhole } from './stacked.ts';
import { closeCircles, NO_RUN, type Run, repeatColumns, trainedOf, wholePartition } from './transform.ts';

/** Two more than fill the chunks that trainers work in; and where each token is a request of its own. */
const COLUMNS = 130;
const FEW = 18;

/** Each has a hundred times the tokens of another. */
const MOST_CASES = 30;

export const long: Rule = {
  id: 'a-long-row-is-the-row',
  title: (noun) =>
    `${noun} of rows that repeat their tokens, up to ${COLUMNS} columns and more, is that of the rows`,
  why: 'Code that works through a row in chunks and loses the last one, or counts it twice, is right on all rows that fit in one.',
  level: 'must',
  unfit: (signature) => (hasColumns(signature) ? undefined : 'no argument has columns'),
  mostCases: MOST_CASES,
  needs: (op) => (world) => whyNot(op, world),
  // Of a single token nobody can tell whether a KL is its own or its row's.
  applies: (op, args) => runsOf(op, args).some(({ length }) => length > (op === 'kl' ? 1 : 0)),
  async check(asked) {
    const { subject, op, ask, terms } = asked;
    const runs = runsOf(op, asked.args);
    const args = closeCircles(op, wholePartition(op, asked.args), runs);
    const before = await ask(args);
    const broken = notANumber(op, args, before);
    if (broken !== undefined) return discard(`${broken.where} is ${broken.value} already`, 'trainer');
    if (mayBeOfRows(op, subject, args, before.fields))
      return discard(
        'a KL that all tokens of a row share may be one of the row (semantics.kl_level)',
        'trainer',
      );
    const longest = Math.max(...runs.map(({ length }) => length));
    const times = Math.max(2, Math.ceil((before.estimated === true ? FEW : COLUMNS) / longest));
    const after = await ask(repeatColumns(op, args, runs, times));
    const when = `where the tokens of each row stand there ${times} times`;
    const seen = lastTime(after.fields, runs, times);
    const others = withoutShares(op, before.fields);
    const token = agreement({
      world: subject,
      op,
      args,
      before: { ...before, fields: others },
      after: { ...after, fields: seen },
      when,
      batch: false,
      ...(terms === undefined ? {} : { terms }),
    });
    if (token !== undefined) return token;
    // A step that estimates a weight moves a row less, the longer it is: not always to the same side of a clip.
    const once = before.estimated === true ? others : before.fields;
    return wrongWhole(asked, once, seen, {
      slack: Math.max(before.slack?.loss_weights ?? 0, after.slack?.loss_weights ?? 0),
      times,
      copies: 1,
      when,
      factors: [1, times],
    });
  },
};

function whyNot(op: Op, { semantics }: World): string | undefined {
  const ofRows = 'semantics.kl_level is "sequence": the KL of a row grows with its tokens';
  if ((op === 'loss' || op === 'kl') && semantics.kl_level === 'sequence') return ofRows;
  const formula = SHARE_DENOMINATORS.find((name) => name === op);
  if (formula === undefined) return undefined;
  if (semantics.own_formulas?.includes(formula))
    return `op \`${op}\` has a formula of its own, which may weigh rows by their length`;
  const item = AGGREGATION_OF[formula];
  return semantics[item] === undefined ? `semantics.${item} is not declared` : undefined;
}

/** A KL that nobody declared to be one of tokens, and that differs from token to token nowhere. */
function mayBeOfRows<O extends Op>(
  op: O,
  { semantics }: World,
  args: Args<O>,
  fields: Readonly<Record<string, unknown>>,
): boolean {
  if (op !== 'kl' || semantics.kl_level !== undefined) return false;
  const differs = (row: readonly number[], on: readonly boolean[]): boolean =>
    new Set(row.filter((_, column) => on[column])).size > 1;
  const trained = trainedOf(op, args);
  return !((fields.kl as Matrix | undefined) ?? []).some((row, at) => differs(row, trained[at] ?? []));
}

/** The columns of each row that are trained, from the first to the last. No logits predict the token of column 0. */
function runsOf<O extends Op>(op: O, args: Args<O>): readonly Run[] {
  return trainedOf(op, args).map((row) => {
    const start = row.indexOf(true, 'logits' in args ? 1 : 0);
    return start < 0 ? NO_RUN : { start, length: row.lastIndexOf(true) + 1 - start };
  });
}

/** The answer as if the last time were the only one: what a chunk that is lost would have lost. */
function lastTime(
  fields: Readonly<Record<string, unknown>>,
  runs: readonly Run[],
  times: number,
): Readonly<Record<string, unknown>> {
  const longest = Math.max(...runs.map(({ length }) => length));
  const shortened = (row: unknown, at: number): unknown => {
    const { start, length } = runs[at] ?? NO_RUN;
    if (!Array.isArray(row)) return row;
    const once = [...row.slice(0, start), ...row.slice(start + (times - 1) * length)];
    return once.slice(0, row.length - (times - 1) * longest);
  };
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(shortened) : value,
    ]),
  );
}
