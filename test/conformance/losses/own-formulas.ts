// Legal trainers whose formulas no list has: each is asked which formula it is, and answers that it is its own.
import type { Args, Ok, Semantics } from '../../../src/index.ts';
import { cell, type Legal, legal, mean, sum } from '../legal.ts';

type Sft = Args<'sft_loss'>;
type Formula = NonNullable<Semantics['own_formulas']>[number];

const own = (formula: Formula, others: Omit<Semantics, 'own_formulas'> = {}) =>
  ({ is: { own_formulas: [formula], ...others } }) as const;

/** log p of the label of each token that has one, by row; the column beside it. */
interface Labelled {
  readonly column: number;
  readonly logprob: number;
}

function labelledIn({ logits, labels }: Sft): Labelled[][] {
  return labels.map((row, b) =>
    row.flatMap((label, column) => {
      const at = logits[b]?.[column - 1];
      if (label === -100 || column === 0 || at === undefined) return [];
      const most = Math.max(...at);
      const total = Math.log(sum(at.map((logit) => Math.exp(logit - most))));
      return [{ column, logprob: (at[label] ?? Number.NaN) - most - total }];
    }),
  );
}

/** What a token's log-probability is multiplied by, without gradient: of its row, and of all rows. */
type Weight = (token: Labelled, at: number, row: readonly Labelled[], rows: readonly Labelled[][]) => number;

/** The weighted negative log-likelihood, over the tokens of all rows, or as `share` has it. */
function weighted(
  weight: Weight,
  {
    share = (_, rows) => 1 / Math.max(1, rows.flat().length),
    told = true,
  }: {
    readonly share?: (row: readonly Labelled[], rows: readonly Labelled[][]) => number;
    readonly told?: boolean;
  } = {},
): (args: Sft) => Ok<'sft_loss'> {
  return (args) => {
    const rows = labelledIn(args);
    let loss = 0;
    const loss_weights = args.labels.map((row) => row.map(() => 0));
    for (const [b, row] of rows.entries()) {
      for (const [at, token] of row.entries()) {
        const factor = weight(token, at, row, rows) * share(row, rows);
        loss -= factor * token.logprob;
        (loss_weights[b] as number[])[token.column] = -factor;
      }
    }
    return { loss: loss + 0, ...(told ? { loss_weights } : {}) };
  };
}

const doubt: Weight = ({ logprob }) => Math.exp(logprob) * -Math.expm1(logprob);
/** Runs of labels that stand side by side: the turns of a conversation. */
const turnOf = (token: Labelled, row: readonly Labelled[]): number => {
  const begins = row.filter(({ column }) => column <= token.column);
  return begins.filter(({ column }, at) => column !== (begins[at - 1]?.column ?? Number.NaN) + 1).length;
};
const turnsIn = (row: readonly Labelled[]): number[] => row.map((token) => turnOf(token, row));
const oneOfItsTurn: Weight = (token, _, row) => {
  const turns = turnsIn(row);
  const mine = turnOf(token, row);
  return 1 / turns.filter((turn) => turn === mine).length / new Set(turns).size;
};
const overRows = (_: readonly Labelled[], rows: readonly Labelled[][]): number =>
  1 / Math.max(1, rows.filter((row) => row.length > 0).length);

/** (1 - p)^2 times the loss, gradient through both (Lin et al. 2017). */
function focal(args: Sft): Ok<'sft_loss'> {
  const rows = labelledIn(args);
  const tokens = Math.max(1, rows.flat().length);
  const loss_weights = args.labels.map((row) => row.map(() => 0));
  for (const [b, row] of rows.entries())
    for (const { column, logprob } of row) {
      const [p, rest] = [Math.exp(logprob), -Math.expm1(logprob)];
      (loss_weights[b] as number[])[column] = (-(rest ** 2) + 2 * rest * p * logprob) / tokens;
    }
  const loss = sum(rows.flat().map(({ logprob }) => -(Math.expm1(logprob) ** 2) * logprob)) / tokens;
  return { loss: loss + 0, loss_weights };
}

/** DFT, without a gradient through the weight. */
const ofItself = ({ logprob }: { readonly logprob: number }): number => Math.exp(logprob);

const supervised: readonly Legal[] = [
  legal('SFT weighted by p (1 - p), without gradient', { sft_loss: weighted(doubt) }, own('sft_loss')),
  legal(
    'SFT weighted by p (1 - p) in float32',
    {
      sft_loss: (args: Sft) => {
        const { loss, loss_weights = [] } = weighted(doubt)(args);
        return { loss: Math.fround(loss), loss_weights: loss_weights.map((row) => row.map(Math.fround)) };
      },
    },
    { dtype: 'float32', ...own('sft_loss') },
  ),
  legal('SFT with a focal loss', { sft_loss: focal }, own('sft_loss')),
  legal(
    'SFT of the uncertain tokens alone',
    { sft_loss: weighted(({ logprob }) => (logprob > Math.log(0.6) ? 0 : 1)) },
    own('sft_loss'),
  ),
  legal(
    'SFT without the first token of each row, over all labels',
    { sft_loss: weighted((_, at) => (at === 0 ? 0 : 1)) },
    own('sft_loss'),
  ),
  legal(
    'SFT without the tokens that are far too unlikely, over those that are left',
    {
      sft_loss: weighted(({ logprob }) => (logprob < -3 ? 0 : 1), {
        share: (_, rows) => 1 / Math.max(1, rows.flat().filter(({ logprob }) => logprob >= -3).length),
      }),
    },
    own('sft_loss'),
  ),
  legal(
    'SFT weighted by the length of the row',
    { sft_loss: weighted((_, __, row) => 1 / Math.sqrt(row.length)) },
    own('sft_loss'),
  ),
  legal('SFT as a sum over tokens', { sft_loss: weighted(() => 1, { share: () => 1 }) }, own('sft_loss')),
  legal(
    'SFT as sums of rows, over rows, declared',
    { sft_loss: weighted(() => 1, { share: (_, rows) => 1 / rows.length }) },
    { semantics: { own_formulas: ['sft_loss'] } },
  ),
  legal(
    'SFT as means of turns, in means of rows',
    { sft_loss: weighted(oneOfItsTurn, { share: overRows }) },
    own('sft_loss'),
  ),
  legal('SFT weighted by p (DFT), undeclared', { sft_loss: weighted(ofItself) }),
  legal(
    'SFT weighted by p (DFT), over rows',
    { sft_loss: weighted(ofItself, { share: (row, rows) => overRows(row, rows) / row.length }) },
    { semantics: { sft_objective: 'dft', sft_aggregation: 'seq-mean-token-mean' } },
  ),
  legal(
    'SFT weighted by p, without weights',
    { sft_loss: weighted(ofItself, { told: false }) },
    { semantics: { sft_objective: 'dft' } },
  ),
];

type Policy = Args<'loss'>;
/** What a token adds, and its slope by the log-probability: of log-ratio and advantage. */
type Term = (logRatio: number, advantage: number) => readonly [number, number];

function policy(
  term: Term,
  share: (row: number, counts: readonly number[]) => number = (_, counts) => 1 / Math.max(1, sum(counts)),
): (args: Policy) => Ok<'loss'> {
  return (args) => {
    const counts = args.completion_mask.map(sum);
    let loss = 0;
    const loss_weights = args.completion_mask.map((row, b) =>
      row.map((on, t) => {
        if (on !== 1) return 0;
        const [value, slope] = term(
          cell(args.logprobs, b, t) - cell(args.old_logprobs, b, t),
          args.advantages[b] ?? 0,
        );
        loss += value * share(b, counts);
        return slope * share(b, counts);
      }),
    );
    return { loss, loss_weights };
  };
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
/** SAPO: a sigmoid of the ratio for a clip. */
const soft: Term = (x, advantage) => {
  const at = sigmoid(2 * Math.expm1(x));
  return [-2 * at * advantage, -4 * at * (1 - at) * Math.exp(x) * advantage];
};
/** The ratio's square, which no clip bounds. */
const squaredRatio: Term = (x, advantage) => [
  (-Math.exp(2 * x) * advantage) / 2,
  -Math.exp(2 * x) * advantage,
];
/** The log-ratio itself, less its square (Kimi k1.5). */
const regressed: Term = (x, advantage) => [-x * advantage + 0.05 * x ** 2, -advantage + 0.1 * x];
/** Ratios beyond the clip train nothing, whatever the sign (a mask for a clip). */
const masked: Term = (x, advantage) =>
  Math.abs(Math.expm1(x)) > 0.2 ? [0, 0] : [-Math.exp(x) * advantage, -Math.exp(x) * advantage];
/** A bad answer's ratio is cut at 1, a good one's is not there (TOPR). */
const tapered: Term = (x, advantage) => {
  const weight = advantage < 0 ? Math.min(1, Math.exp(x)) : 1;
  return [-weight * x * advantage, -weight * advantage];
};

const policies: readonly Legal[] = [
  legal('a policy loss with a sigmoid for a clip (SAPO)', { loss: policy(soft) }, own('loss')),
  legal('a policy loss of the squared ratio', { loss: policy(squaredRatio) }, own('loss')),
  legal('a policy loss that regresses log-ratios', { loss: policy(regressed) }, own('loss')),
  legal('a policy loss with a mask for a clip', { loss: policy(masked) }, own('loss')),
  legal(
    'a policy loss with tapered ratios',
    { loss: policy(tapered) },
    { semantics: { loss_is_descended: false }, ...own('loss') },
  ),
  legal(
    'a policy loss that weighs rows by the root of their length',
    {
      loss: policy(
        (x, advantage) => [-Math.exp(x) * advantage, -Math.exp(x) * advantage],
        (row, counts) => 1 / Math.sqrt(counts[row] ?? 1) / counts.length,
      ),
    },
    own('loss'),
  ),
];

type Pairs = Args<'preference_loss'>;
const margins = (args: Pairs, of: (row: readonly number[]) => number): number[] =>
  args.chosen_logprobs.map(
    (row, b) =>
      of(row) -
      of(args.ref_chosen_logprobs[b] ?? []) -
      of(args.rejected_logprobs[b] ?? []) +
      of(args.ref_rejected_logprobs[b] ?? []),
  );
const paired =
  (loss: (margin: number) => number, of: (row: readonly number[]) => number = sum) =>
  (args: Pairs): Ok<'preference_loss'> => {
    const losses = margins(args, of).map(loss);
    return { loss: mean(losses), losses };
  };
/** The odds of both, without a reference, beside the likelihood of the chosen one (ORPO). */
function orpo(args: Pairs): Ok<'preference_loss'> {
  const odds = (row: readonly number[]): number => {
    const at = Math.min(mean(row), -1e-6);
    return at - Math.log(-Math.expm1(at));
  };
  const losses = args.chosen_logprobs.map((row, b) => {
    const margin = odds(row) - odds(args.rejected_logprobs[b] ?? []);
    return -mean(row) + 0.1 * (Math.max(-margin, 0) + Math.log1p(Math.exp(-Math.abs(margin))));
  });
  return { loss: mean(losses), losses };
}

const preferences: readonly Legal[] = [
  legal('ORPO', { preference_loss: orpo }, own('preference_loss')),
  legal(
    'a squared hinge on pairs',
    { preference_loss: paired((margin) => Math.max(0, 1 - 0.1 * margin) ** 2) },
    own('preference_loss'),
  ),
  legal(
    'an arctangent on pairs',
    { preference_loss: paired((margin) => Math.PI / 2 - Math.atan(0.2 * margin)) },
    own('preference_loss'),
  ),
];

export const ownFormulas: readonly Legal[] = [...supervised, ...policies, ...preferences];
