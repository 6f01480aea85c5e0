// What correct trainers may decide of log-probabilities and of the KL to a reference.
import { KL_ESTIMATORS, section } from '../choice.ts';

const LOGPROBS = section('log-probabilities', ['logprobs'], {
  sampling_logprobs: {
    values: ['processed', 'temperature', 'raw'],
    says: 'which log-probability of a drawn token is recorded: `processed`, `temperature` or `raw`',
    ops: ['sampling'],
    undoubted: 'inference engines have all three as a setting',
  },
  temperature_in_scoring: {
    values: 'flag',
    says: 'scored log-probabilities are of logits / temperature (implied by the capability)',
    unheld: 'to offer other temperatures is to say that they are applied',
  },
  prefix_attention: {
    values: 'flag',
    says: 'true: the model reads its prompt in both directions, as prefix and encoder-decoder models do; undeclared, it is a question if `score` or `values` change with the end of the prompt',
    ops: ['score', 'values'],
    meant: { value: true, why: 'the model reads its prompt in both directions' },
  },
});

const KL = section('KL', ['kl', 'loss'], {
  kl_estimator: {
    values: KL_ESTIMATORS,
    says: 'with d = ref - logp: `k1` = -d, `k2` = d*d/2, `k3` = exp(d) - d - 1, `abs` = \\|d\\|',
    usual: 'k3',
  },
  kl_clamp: {
    values: 'clamp',
    says: 'bound on the size of the log-ratio or of the estimate, or `[low, high]`, of which one may be null; null: none. Or an object by estimator, `{"k3": 10}`: an estimator that is not named has none',
    usual: null,
  },
  kl_level: {
    values: ['token', 'sequence'],
    says: "`token`, or `sequence`: one estimate per row, of the mean or the sum of its tokens' log-ratios, the same at each token; a loss may also use its mean over rows. Without a ratio correction",
    usual: 'token',
    unmeasured: 'a property asks where answers are those of `sequence`',
  },
  kl_ratio_correction: {
    values: 'flag',
    says: 'KL times exp(logp - old)',
    undoubted: 'DeepSeek-V3.2 corrects the estimate, GRPO does not',
  },
  kl_placement: {
    values: ['loss', 'reward'],
    says: '`loss` or `reward`: where the KL enters',
    ops: ['token_rewards', 'loss'],
    unheld: 'it changes no property by itself',
  },
  kl_coef: { values: 'number', says: 'coefficient of the KL term in the loss', ops: ['loss'] },
});

export const SCORES = [LOGPROBS, KL] as const;
