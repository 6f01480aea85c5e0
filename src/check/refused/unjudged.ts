// What no property could judge, because an adapter answers the value alone: a loss without its gradient, scores without a
// model to compare them with; or because it is never sent what training is. The op's own object says which answers are its gradient.
import type { Capability } from '../../protocol/capability.ts';
import { isOptional } from '../../protocol/fields.ts';
import { type Hello, type Ok, OPS, type Op, type OpSpec } from '../../protocol/message.ts';
import type { RequestTally, Unjudged } from '../events.ts';

/** Any one of `answers` or `ops` makes it judgeable. */
interface Gap<O extends Op> {
  /** Follows "Not judged: ". */
  readonly what: string;
  readonly answers?: readonly Optional<O>[];
  readonly ops?: readonly Op[];
  /** What to write into the adapter. */
  readonly line: string;
}

/** Answers that an op may leave out. */
type Optional<O extends Op> = O extends Op
  ? { [K in keyof Ok<O> & string]: Record<string, never> extends Pick<Ok<O>, K> ? K : never }[keyof Ok<O> &
      string]
  : never;

/** Beside gradients. */
const GAPS: { readonly [O in Op]?: Gap<O> } = {
  gae: {
    what: 'the targets of the critic',
    answers: ['returns'],
    line: 'return "returns" from `gae` as well',
  },
  score: {
    what: 'whether the numbers of `score` are those of its model',
    ops: ['model_score'],
    line: 'add op `model_score`, which scores with a checkpoint that lossproof knows',
  },
};

/**
 * Inputs that training has and that are sent only if the op offers them: without them scores at one temperature and losses of one
 * batch are all that is seen. An op that declares `false` has none, and nothing is missing.
 */
const OFFERS = {
  temperature: (op: Op) => `\`${op}\` at other temperatures than 1`,
  micro_batches: (op: Op) => `\`${op}\` over several micro-batches`,
} as const;
/** Those without which a mistake is in each step. */
const OFFERED: readonly Op[] = ['logprobs', 'loss', 'sft_loss'];

function notOffered(op: Op, capability: Capability): Unjudged[] {
  const { offers = [] }: OpSpec = OPS[op];
  return (Object.keys(OFFERS) as (keyof typeof OFFERS)[]).flatMap((name) =>
    OFFERED.includes(op) && offers.includes(name) && capability[name] === undefined
      ? [{ op, what: OFFERS[name](op), line: `offer \`${name}\`, or declare it false` }]
      : [],
  );
}

/** What a loss trains shows in these ops as well. */
const STEPS: { readonly [O in Op]?: Op } = {
  loss: 'train_step',
  sft_loss: 'train_step',
  preference_loss: 'preference_step',
};

/** Of a loss: its value says nothing about what it trains. */
function gradientOf(op: Op): Gap<Op> | undefined {
  const { gradient = [] }: OpSpec = OPS[op];
  const step = STEPS[op];
  if (gradient.length === 0 && step === undefined) return undefined;
  const fields = gradient.map((name) => `"${name}"`).join(' and ');
  const computed = gradient.includes('loss_weights') ? ': `lossproof.gradient` computes it' : '';
  return {
    what: `the gradient of \`${op}\``,
    answers: gradient as readonly Optional<Op>[],
    ...(step === undefined ? {} : { ops: [step] }),
    line: gradient.length === 0 ? `add op \`${step}\`` : `return ${fields} from \`${op}\` as well${computed}`,
  };
}

/** Of the ops that this run asked, in the order of the protocol: what they leave out, then what they are never sent. */
export function unjudgedOf({ given = {} }: Pick<RequestTally, 'given'>, { ops }: Hello): readonly Unjudged[] {
  const asked = (Object.keys(OPS) as Op[]).filter((op) => (given[op]?.total ?? 0) > 0);
  const leftOut = asked.flatMap((op): Unjudged[] => {
    const gap: Gap<Op> | undefined = GAPS[op] ?? gradientOf(op);
    if (gap === undefined) return [];
    const { what, line, answers = [], ops: others = [] } = gap;
    const isJudged =
      answers.some((field) => given[op]?.counts[field] !== undefined) ||
      others.some((other) => ops[other] !== undefined);
    return isJudged ? [] : [{ op, what, line }];
  });
  return [...leftOut, ...asked.flatMap((op) => notOffered(op, ops[op] ?? {}))];
}

/** Of an answer, the fields that it may leave out and has not. */
export function givenIn(op: Op, ok: object): readonly string[] {
  const specs: Readonly<Record<string, string>> = OPS[op].ok;
  return Object.entries(ok).flatMap(([name, value]) =>
    value !== undefined && isOptional(specs[name] ?? '') ? [name] : [],
  );
}
