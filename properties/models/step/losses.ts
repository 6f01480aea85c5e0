// The losses that one step of op `train_step` may legally have: which tokens count, how they are averaged, and what each
// of them weighs. The policy of such a step is its own behaviour policy, so that every ratio is 1.
import {
  CHOICES,
  type LossAggregation,
  type ModelKind,
  type Ragged,
  type Semantics,
  type StepBatch,
  tokenFactors,
} from '../../../src/index.ts';

export interface StepLoss {
  readonly name: string;
  /** dL/dlogprob of each completion token, (B, C). */
  readonly weights: Ragged;
  /** How far each weight may itself be off, where it hangs on what the model computes. */
  readonly unsure?: Ragged;
  /** The constant of a sum that nobody declares is not known: only their proportions are. */
  readonly scaled?: true;
}

type Drawn = StepBatch<ModelKind>;

/** What the model says of the completion tokens before the step, (B, C), and how far off that may be. */
export interface Scored {
  readonly logprobs: Ragged;
  readonly off: number;
}

/** Of the declared kind, or all that are known. */
export function stepLosses(
  drawn: Drawn,
  semantics: Semantics,
  stops: readonly number[],
  scored: () => Scored,
): StepLoss[] {
  return drawn.route === 'sft' ? supervised(drawn, semantics, scored) : policy(drawn, semantics, stops);
}

/** What the loss comes to: of ratios, which are all 1, or of log-probabilities, whose gradient is the same. */
export function stepValues({ route }: Drawn, { weights }: StepLoss, logprobs: Ragged): number[] {
  const total = (term: (b: number, t: number) => number): number =>
    weights.reduce((sum, row, b) => row.reduce((part, weight, t) => part + weight * term(b, t), sum), 0);
  const ofLogprobs = total((b, t) => logprobs[b]?.[t] ?? Number.NaN);
  return route === 'sft' ? [ofLogprobs] : [total(() => 1), ofLogprobs];
}

// --- helpers ---

function supervised(
  { completions }: Drawn,
  { sft_aggregation: declared, sft_objective: objective }: Semantics,
  scored: () => Scored,
): StepLoss[] {
  const all = completions.map((ids) => ids.map(() => 1));
  const known = declared === undefined ? CHOICES.sft_aggregation.values : [declared];
  const plain = known.map((aggregation): StepLoss & { weights: Ragged } => ({
    name: aggregation,
    weights: tokenFactors(all, { aggregation, norm: 1 }).map((row) => row.map((factor) => -factor)),
  }));
  if (objective !== 'dft') return plain;
  const { logprobs, off } = scored();
  return plain.map(({ name, weights }) => {
    const own = weights.map((row, b) => row.map((w, t) => w * Math.exp(logprobs[b]?.[t] ?? Number.NaN)));
    return {
      name: `${name}, weighted by probability (DFT)`,
      weights: own,
      unsure: own.map((row) => row.map((weight) => off * Math.abs(weight))),
    };
  });
}

function policy(
  { completions, advantages }: Drawn,
  semantics: Semantics,
  stops: readonly number[],
): StepLoss[] {
  const { loss_aggregation: declared, loss_norm: norm } = semantics;
  const known: readonly LossAggregation[] =
    declared === undefined ? CHOICES.loss_aggregation.values : [declared];
  const stop = orBoth(semantics.stop_token_in_mask);
  const cut = orBoth(semantics.truncated_completions_trained);
  return stop.flatMap((withStop) =>
    cut.flatMap((withCut) => {
      const mask = completions.map((ids) => {
        const stopped = stops.includes(ids.at(-1) ?? -1);
        return ids.map((id) => Number((withCut || stopped) && (withStop || !stops.includes(id))));
      });
      return known.flatMap((aggregation) =>
        waysOf(aggregation, norm).map(
          (way): StepLoss => ({
            name: `${aggregation}${withStop ? '' : ', without stop tokens'}${withCut ? '' : ', without cut rows'}`,
            weights: tokenFactors(mask, { aggregation, norm: norm ?? 1, ...way }).map((row, b) =>
              row.map((factor) => -factor * (advantages[b] ?? Number.NaN)),
            ),
            ...(aggregation === 'token-sum-norm' && norm === undefined ? { scaled: true } : {}),
          }),
        ),
      );
    }),
  );
}

const orBoth = (declared: boolean | undefined): boolean[] =>
  declared === undefined ? [true, false] : [declared];

/** Legal readings of one name: a norm for a row or for the batch, rows without a token counted or not. */
function waysOf(aggregation: LossAggregation, norm: number | undefined) {
  if (aggregation !== 'token-sum-norm') return [{ emptyRows: 'count' }, { emptyRows: 'skip' }] as const;
  return norm === undefined ? [{}] : ([{ normPer: 'batch' }, { normPer: 'row' }] as const);
}
