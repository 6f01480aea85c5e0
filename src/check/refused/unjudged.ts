// What no property could judge, because an adapter answers the value alone: a loss without its gradient, scores without a
// model to compare them with. One table says per op which answers, or which other ops, make what judgeable.
import { isOptional } from '../../protocol/fields.ts';
import { type Hello, type Ok, OPS, type Op } from '../../protocol/message.ts';
import type { RequestTally, Unjudged } from '../events.ts';

/** Any one of `answers` or `ops` makes it judgeable. */
interface Gap<O extends Op> {
  /** Follows "Not judged: ". */
  readonly what: string;
  readonly answers?: readonly Optional<O>[];
  readonly ops?: readonly Op[];
  /** What to write into the adapter; the names of the answers and ops, unless this says it better. */
  readonly line: string;
}

/** Answers that an op may leave out. */
type Optional<O extends Op> = O extends Op
  ? { [K in keyof Ok<O> & string]: Record<string, never> extends Pick<Ok<O>, K> ? K : never }[keyof Ok<O> &
      string]
  : never;

const gradientOf = (op: Op, field: string): string =>
  `return "${field}" from \`${op}\` as well: \`lossproof.gradient\` computes it`;

const GAPS: { readonly [O in Op]?: readonly Gap<O>[] } = {
  gae: [
    {
      what: 'the targets of the critic',
      answers: ['returns'],
      line: 'return "returns" from `gae` as well',
    },
  ],
  loss: [
    {
      what: 'the gradient of `loss`',
      answers: ['loss_weights'],
      ops: ['train_step'],
      line: gradientOf('loss', 'loss_weights'),
    },
  ],
  sft_loss: [
    {
      what: 'the gradient of `sft_loss`',
      answers: ['loss_weights'],
      ops: ['train_step'],
      line: gradientOf('sft_loss', 'loss_weights'),
    },
  ],
  value_loss: [
    {
      what: 'the gradient of `value_loss`',
      answers: ['loss_weights'],
      line: gradientOf('value_loss', 'loss_weights'),
    },
  ],
  preference_loss: [
    {
      what: 'the gradient of `preference_loss`',
      ops: ['preference_step'],
      line: 'add op `preference_step`',
    },
  ],
  reward_loss: [
    {
      what: 'the gradient of `reward_loss`',
      answers: ['chosen_weights', 'rejected_weights'],
      line: 'return "chosen_weights" and "rejected_weights" from `reward_loss` as well, the gradient by each score',
    },
  ],
  unpaired_preference_loss: [
    {
      what: 'the gradient of `unpaired_preference_loss`',
      answers: ['weights'],
      line: 'return "weights" from `unpaired_preference_loss` as well, the gradient by each log-probability',
    },
  ],
  score: [
    {
      what: 'whether the numbers of `score` are those of its model',
      ops: ['model_score'],
      line: 'add op `model_score`, which scores with a checkpoint that lossproof knows',
    },
  ],
};

/** Of the ops that this run asked, in the order of the protocol. */
export function unjudgedOf({ given = {} }: Pick<RequestTally, 'given'>, { ops }: Hello): readonly Unjudged[] {
  return (Object.keys(OPS) as Op[]).flatMap((op) => {
    const marks = given[op];
    if (marks === undefined || marks.total === 0) return [];
    const gaps: readonly Gap<Op>[] = GAPS[op] ?? [];
    return gaps
      .filter(
        (gap) =>
          !gap.answers?.some((field) => marks.counts[field] !== undefined) &&
          !gap.ops?.some((other) => ops[other] !== undefined),
      )
      .map(({ what, line }) => ({ op, what, line }));
  });
}

/** Of an answer, the fields that it may leave out and has not. */
export function givenIn(op: Op, ok: object): readonly string[] {
  const specs: Readonly<Record<string, string>> = OPS[op].ok;
  return Object.entries(ok).flatMap(([name, value]) =>
    value !== undefined && isOptional(specs[name] ?? '') ? [name] : [],
  );
}
