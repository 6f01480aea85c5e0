// What correct trainers may decide of their losses.
import { section } from '../choice.ts';

const PUBLISHED = 'each value is a published loss';

const POLICY_LOSS = section('policy loss', ['loss'], {
  policy_objective: {
    values: ['clip', 'cispo'],
    says: '`clip`: min(r A, clip(r) A). `cispo`: clip(r) without gradient, times A, times logp',
    undoubted: PUBLISHED,
  },
  ratio_level: {
    values: ['token', 'sequence', 'none'],
    says: "`token`, or `sequence`: one ratio per row, exp of its tokens' mean log-ratio (GSPO). `none`: no ratio and no clip, -A logp (REINFORCE); `old_logprobs` are not read",
    undoubted: PUBLISHED,
  },
  log_ratio_clamp: {
    values: 'number or null',
    says: 'the log-ratio is kept within this of 0 before exp; null: not at all',
    usual: null,
  },
  clip_low: {
    values: 'number or null',
    says: 'the ratio is clipped below at 1 - this; null: not clipped on that side',
    usual: 0.2,
    needed: 'loss',
  },
  clip_high: {
    values: 'number or null',
    says: 'the ratio is clipped above at 1 + this; null: not clipped on that side',
    usual: 0.2,
    needed: 'loss',
  },
  dual_clip: {
    values: 'number or null',
    says: 'upper bound of the ratio of a bad answer; null: no bound. Undeclared, any bound from 3 on is accepted',
    usual: null,
  },
  sampling_correction: {
    values: ['none', 'truncated', 'masked', 'filtered', 'own'],
    says: '`loss` with `sampling_logprobs`: what it makes of exp(old - sampling), without gradient. `none`; `truncated`: a weight within its caps; `masked`: a weight that is 0 outside of them; `filtered`: 1 within, 0 outside; `own`: another one, which is compared with none',
  },
  sampling_correction_level: {
    values: ['token', 'sequence', 'sequence-mean'],
    says: "that ratio is one per `token`, or one per row: the product of its tokens' (`sequence`), or their geometric mean (`sequence-mean`)",
    undoubted: PUBLISHED,
  },
  sampling_correction_low: {
    values: 'number or null',
    says: 'its lower cap, as a ratio; null: none',
    usual: null,
  },
  sampling_correction_high: {
    values: 'number or null',
    says: 'its upper cap, as a ratio; null: none',
    usual: 2,
  },
  entropy_coef: { values: 'number', says: 'coefficient of the entropy bonus', usual: 0 },
  loss_aggregation: {
    values: ['token-mean', 'seq-mean-token-mean', 'seq-mean-token-sum', 'token-sum-norm'],
    says: '`token-mean`, `seq-mean-token-mean`, `seq-mean-token-sum`, `token-sum-norm`',
    ops: ['loss', 'sft_loss'],
    usual: 'token-mean',
    needed: 'loss',
  },
  loss_norm: { values: 'number', says: 'the constant of `token-sum-norm`', ops: ['loss', 'sft_loss'] },
  loss_normalization: {
    values: ['global', 'local'],
    says: '`global` (the meaning of a declared aggregation of `loss`, `sft_loss` or `value_loss`) or `local`: per micro-batch and rank',
    ops: ['loss', 'sft_loss', 'value_loss'],
    usual: 'global',
  },
  loss_is_descended: {
    values: 'flag',
    says: "false: `loss` is only logged, and `loss_weights` are the slope of another number (`logp - logp.detach()`; a straight-through KL estimate such as verl's `k3+`, whose gradient may be that of k2). Undeclared, a difference of the two is a question",
    usual: true,
    meant: { value: false, why: 'the loss is another number than what is trained' },
  },
  batches_always_train: {
    values: 'flag',
    says: 'true: every batch of `loss`, `sft_loss` or `value_loss` has a trained token; undeclared, a NaN loss for a batch without one is a question',
    ops: ['loss', 'sft_loss', 'value_loss'],
    meant: { value: true, why: 'no batch is without a trained token' },
  },
});

const VALUE_LOSS = section('value loss', ['value_loss'], {
  value_loss_factor: {
    values: 'number',
    says: "the factor of the critic's squared error: 0.5, 1, or including its weight next to the policy loss",
    usual: 0.5,
    needed: 'value_loss',
  },
  value_clip: {
    values: 'number or null',
    says: '`value_loss`: how far a value may move from the one at sampling before its error is clipped; null: not clipped',
    usual: 0.2,
    needed: 'value_loss',
  },
  // A constant that divides its sum could not be told from the factor of its errors.
  value_aggregation: {
    values: ['token-mean', 'seq-mean-token-mean', 'seq-mean-token-sum'],
    says: "`token-mean`, `seq-mean-token-mean` or `seq-mean-token-sum`: the critic's loss",
    usual: 'token-mean',
    needed: 'value_loss',
  },
});

const PREFERENCE_LOSS = section('preference loss', ['preference_loss'], {
  preference_objective: {
    values: ['dpo', 'dpo_norm', 'ipo', 'hinge', 'simpo'],
    says: "`dpo`, `dpo_norm` (over means of a completion's tokens: LN-DPO), `ipo`, `hinge` or `simpo`",
    ops: ['preference_loss', 'preference_step'],
    usual: 'dpo',
    needed: 'preference_loss',
  },
  preference_beta: {
    values: 'number',
    says: 'beta of that objective',
    ops: ['preference_loss', 'preference_step'],
    usual: 0.1,
    needed: 'preference_loss',
  },
  preference_label_smoothing: {
    values: 'number',
    says: 'assumed share of wrongly labelled pairs, conservative (cDPO) or robust; undeclared: none, or a usual one',
    usual: 0,
  },
  preference_gamma: {
    values: 'number',
    says: 'the target margin of `simpo`, divided by beta',
    undoubted: 'SimPO tunes it for each model, from 0.3 to 1.6 and more',
  },
});

const REWARD_LOSS = section('reward loss', ['reward_loss'], {
  reward_centering: {
    values: 'number',
    says: "coefficient of the squared sum of each pair's scores in a reward model's loss; 0: none",
    usual: 0.01,
    needed: 'reward_loss',
  },
});

const UNPAIRED_LOSS = section('unpaired preference loss', ['unpaired_preference_loss'], {
  unpaired_objective: {
    values: ['kto', 'apo_zero'],
    says: '`kto`: rows are compared with an estimate of the KL. `apo_zero`: with 0',
    undoubted: PUBLISHED,
    needed: 'unpaired_preference_loss',
  },
  unpaired_beta: {
    values: 'number',
    says: 'beta of that objective',
    usual: 0.1,
    needed: 'unpaired_preference_loss',
  },
  desirable_weight: {
    values: 'number',
    says: 'what the loss of a desirable row is multiplied by',
    usual: 1,
    needed: 'unpaired_preference_loss',
  },
  undesirable_weight: {
    values: 'number',
    says: 'what the loss of an undesirable row is multiplied by',
    usual: 1,
    undoubted: 'the row of `desirable_weight` compares the two',
    needed: 'unpaired_preference_loss',
  },
});

const BALANCE_LOSS = section('load balance of experts', ['balance_loss'], {
  balance_coef: {
    values: 'number',
    says: 'what that loss is multiplied by: 1, or its coefficient where the answer includes it',
    usual: 1,
    needed: 'balance_loss',
  },
  balance_counts: {
    values: ['token', 'choice', 'first'],
    says: "an expert's share of the load: how many tokens chose it, per `token` (all shares add up to top_k) or per `choice` (to 1); `first`: of first choices alone (GShard)",
    usual: 'token',
    needed: 'balance_loss',
  },
  balance_scores: {
    values: ['softmax', 'sigmoid'],
    says: "a token's probabilities are the `softmax` of its router logits, or their `sigmoid` over its sum (DeepSeek-V3)",
    undoubted: PUBLISHED,
    needed: 'balance_loss',
  },
  balance_layers: {
    values: ['together', 'mean', 'sum'],
    says: 'loads and probabilities are means over all layers `together`; or each layer has a loss, of which the `mean` or `sum` is taken',
    undoubted: PUBLISHED,
    needed: 'balance_loss',
  },
  balance_scope: {
    values: ['batch', 'micro-batch', 'sequence'],
    says: 'loads and probabilities are those of the whole `batch`; or each `micro-batch` or `sequence` has a loss, of which the mean is taken',
    needed: 'balance_loss',
  },
});

export const LOSSES = [
  POLICY_LOSS,
  VALUE_LOSS,
  PREFERENCE_LOSS,
  REWARD_LOSS,
  UNPAIRED_LOSS,
  BALANCE_LOSS,
] as const;
