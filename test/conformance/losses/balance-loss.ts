// Legal losses that balance experts: as public trainers write them, in other precisions, and some with formulas of their own.
import type { Args, Ok } from '../../../src/index.ts';
import { type Legal, legal, mean, sum } from '../legal.ts';
import { b16 } from '../rounding.ts';

type Request = Args<'balance_loss'>;
type Loss = (args: Request) => Ok<'balance_loss'>;
type Round = (x: number) => number;
type Rows = readonly (readonly number[])[];

const exact: Round = (x) => x;

/** Logits of each token that is none of padding, by layer. */
function gatesOf({ router_logits: rows, attention_mask: mask, experts }: Request, among: readonly number[]) {
  const layers = (rows[0]?.[0]?.length ?? 0) / experts;
  const tokens = among.flatMap((row) => (rows[row] ?? []).filter((_, at) => mask[row]?.[at] === 1));
  return Array.from({ length: layers }, (_, layer) =>
    tokens.map((logits) => logits.slice(layer * experts, (layer + 1) * experts)),
  );
}

const allRows = ({ router_logits: rows }: Request): number[] => rows.map((_, row) => row);

function softmax(logits: readonly number[], round: Round): number[] {
  const values = logits.map((logit) => round(Math.exp(logit - Math.max(...logits))));
  const total = round(sum(values));
  return values.map((value) => round(value / total));
}

const chosenBy = (logits: readonly number[], most: number): boolean[] =>
  logits.map((logit) => logits.filter((other) => other > logit).length < most);

interface Shares {
  readonly load: readonly number[];
  readonly chance: readonly number[];
}

/** Per expert: how many tokens chose it, and its mean probability. */
function sharesOf(tokens: Rows, most: number, round: Round = exact): Shares {
  const chances = tokens.map((logits) => softmax(logits, round));
  const chosen = tokens.map((logits) => chosenBy(logits, most));
  const experts = (tokens[0] ?? []).map((_, expert) => expert);
  return {
    load: experts.map((expert) => round(mean(chosen.map((each) => Number(each[expert]))))),
    chance: experts.map((expert) => round(mean(chances.map((each) => each[expert] ?? Number.NaN)))),
  };
}

const met = ({ load, chance }: Shares): number =>
  sum(load.map((f, expert) => f * (chance[expert] ?? Number.NaN)));

/** Mixtral, Qwen-MoE and OLMoE in transformers: one product of what all layers say. */
export const transformers =
  (coef = 1, round: Round = exact): Loss =>
  (args) => ({
    loss: round(coef * args.experts * met(sharesOf(gatesOf(args, allRows(args)).flat(), args.top_k, round))),
  });

/** Megatron's `aux_loss`: each layer and micro-batch a loss, the number of choices divided out. */
const megatron =
  (coef: number, parts: (args: Request) => Rows): Loss =>
  (args) => {
    const lossOf = (tokens: Rows): number =>
      (coef * args.experts * met(sharesOf(tokens, args.top_k))) / args.top_k;
    return { loss: mean(parts(args).map((rows) => sum(gatesOf(args, rows).map(lossOf)))) };
  };

/** DeepSpeed's `top2gating`: first choices, and the mean over experts times their square. */
const deepspeed: Loss = (args) => ({
  loss: sum(
    gatesOf(args, allRows(args)).map((tokens) => {
      const { load } = sharesOf(tokens, 1);
      const { chance } = sharesOf(tokens, args.top_k);
      return mean(load.map((f, expert) => f * (chance[expert] ?? Number.NaN))) * args.experts ** 2;
    }),
  ),
});

/** OLMo with megablocks: products of counts and sums, one scale over layers. */
const megablocks: Loss = (args) => {
  const layers = gatesOf(args, allRows(args));
  const tokens = layers[0]?.length ?? 0;
  const total = sum(
    layers.map((each) => {
      const { load, chance } = sharesOf(each, args.top_k);
      return met({ load: load.map((f) => f * tokens), chance });
    }),
  );
  return { loss: (0.01 * args.experts * total) / (layers.length * tokens * args.top_k) };
};

/** DeepSeek-V3: normalised sigmoids, each sequence by itself. */
const sequences: Loss = (args) => {
  const lossOf = (tokens: Rows): number => {
    const scores = tokens.map((logits) => logits.map((logit) => 1 / (1 + Math.exp(-logit))));
    const chosen = tokens.map((logits) => chosenBy(logits, args.top_k));
    return sum(
      (tokens[0] ?? []).map((_, expert) => {
        const load = (args.experts / args.top_k) * mean(chosen.map((each) => Number(each[expert])));
        return load * mean(scores.map((each) => (each[expert] ?? Number.NaN) / sum(each)));
      }),
    );
  };
  return { loss: 0.0001 * mean(allRows(args).map((row) => sum(gatesOf(args, [row]).map(lossOf)))) };
};

/** The squared coefficient of variation of the mean probabilities (Shazeer et al. 2017), of all layers. */
const importance: Loss = (args) => ({
  loss: sum(
    gatesOf(args, allRows(args)).map((tokens) => {
      const { chance } = sharesOf(tokens, args.top_k);
      const centre = mean(chance);
      return mean(chance.map((p) => (p - centre) ** 2)) / centre ** 2;
    }),
  ),
});

const MICRO_BATCHES = { balance_loss: { micro_batches: true } } as const;
const OF_CHOICES = { balance_counts: 'choice', balance_scores: 'softmax', balance_layers: 'sum' } as const;

export const balanceLosses: readonly Legal[] = [
  legal('experts balanced as in transformers, undeclared', { balance_loss: transformers() }),
  legal(
    'experts balanced as in Mixtral, over accumulated loads',
    { balance_loss: transformers(0.02) },
    {
      can: MICRO_BATCHES,
      semantics: {
        balance_coef: 0.02,
        balance_counts: 'token',
        balance_scores: 'softmax',
        balance_layers: 'together',
        balance_scope: 'batch',
      },
    },
  ),
  legal(
    'experts balanced in float32',
    { balance_loss: transformers(0.001, Math.fround) },
    { dtype: 'float32' },
  ),
  legal('experts balanced in bfloat16', { balance_loss: transformers(1, b16) }, { dtype: 'bfloat16' }),
  legal(
    "Megatron's balance of each micro-batch",
    { balance_loss: megatron(0.01, ({ micro_batches: parts }) => parts) },
    { can: MICRO_BATCHES, semantics: { ...OF_CHOICES, balance_coef: 0.01, balance_scope: 'micro-batch' } },
  ),
  legal(
    "Megatron's balance of the global batch, undeclared",
    { balance_loss: megatron(0.001, (args) => [allRows(args)]) },
    { can: MICRO_BATCHES },
  ),
  legal(
    "DeepSpeed's balance of first choices",
    { balance_loss: deepspeed },
    { is: { balance_counts: 'first' } },
  ),
  legal(
    "megablocks' balance, the mean over layers",
    { balance_loss: megablocks },
    { semantics: { ...OF_CHOICES, balance_coef: 0.01, balance_layers: 'mean', balance_scope: 'batch' } },
  ),
  legal(
    "DeepSeek-V3's balance of sequences",
    { balance_loss: sequences },
    {
      can: MICRO_BATCHES,
      semantics: {
        ...OF_CHOICES,
        balance_coef: 0.0001,
        balance_scores: 'sigmoid',
        balance_scope: 'sequence',
      },
    },
  ),
  legal(
    'the variation of importance',
    { balance_loss: importance },
    { is: { own_formulas: ['balance_loss'] } },
  ),
];
