// What is read of a run's logs: points of named series, facts that the run wrote down about itself, and samples of its
// rollouts. Readers push, rules are pushed to: a log of a gigabyte is never held.

/** What a series speaks of, whatever its trainer calls it. roles.ts tells by the name; the user may say it. */
export const SERIES_ROLES = [
  'loss',
  'policy_loss',
  'value_loss',
  'sft_loss',
  /** The estimate of KL(policy, reference) that is logged or penalised. */
  'kl',
  /** Between the policies before and after an update. */
  'approx_kl',
  'grad_norm',
  'learning_rate',
  /** Nats per token, of the sampling or scoring distribution. */
  'entropy',
  'reward',
  /** Within groups, or of the batch. */
  'reward_std',
  /** Share of groups whose rewards are all equal, 0 to 1. */
  'dead_groups',
  'advantage_mean',
  'advantage_std',
  /** Mean of the importance ratio. */
  'ratio',
  /** Share of tokens where the ratio was clipped, 0 to 1. */
  'clip_fraction',
  /** Tokens a completion: mean, smallest, largest. */
  'completion_length',
  'completion_length_min',
  'completion_length_max',
  /** Share of completions that ran into the limit of length, 0 to 1. */
  'truncated_share',
  /** Share of completions that ended with a stop token, 0 to 1. */
  'stopped_share',
  /** |log p of the inference engine - log p of the trainer| of sampled tokens. */
  'sampling_gap',
  /** Rows, tokens or samples that a loss was computed from. */
  'samples',
  /** Work a second: tokens, samples or steps. */
  'throughput',
  /** Seconds a step. */
  'step_time',
  /** Seconds a step that are spent waiting for data. */
  'data_time',
  /** Passes over the data set so far; a fraction within one. */
  'epoch',
  /** Tool calls a completion, or in all. */
  'tool_calls',
  /** Share of tool calls that failed, 0 to 1. */
  'tool_failures',
  /** Share of preference pairs whose chosen answer is preferred, 0 to 1. */
  'preference_accuracy',
  /** Share of labelled tokens that are the likeliest of all, 0 to 1. */
  'token_accuracy',
  /** Share of the returns' variance that the critic's values explain: 1 at most, below 0 where their mean would be nearer. */
  'explained_variance',
  /** Of tokens or of whole completions, in nats. */
  'log_probability',
  /** Tokens since the beginning of the run. */
  'tokens_so_far',
] as const;
export type SeriesRole = (typeof SERIES_ROLES)[number];

export interface Series {
  /** Counted from 0 over all series of this reading. */
  readonly index: number;
  /** The run that it belongs to: a folder or a file, as the user would name it. */
  readonly run: string;
  /** As logged: `train/loss`. */
  readonly name: string;
  readonly role?: SeriesRole;
  /** Of several losses (`llm_sft_loss`, `wm_loss`): what tells this one from the others, `llm_sft`. Empty: the only one. */
  readonly part: string;
  /** Measured on held-out data: not judged by rules about training. */
  readonly evaluation: boolean;
}

/** One rollout, as far as the file tells. Text without ids is judged as text. */
export interface Sample {
  readonly run: string;
  /** Where it stands: `rollouts/12.jsonl line 3`. */
  readonly where: string;
  readonly step?: number;
  readonly prompt?: string;
  readonly completion?: string;
  readonly promptIds?: readonly number[];
  readonly completionIds?: readonly number[];
  /** Of the text that was sampled for a group: equal for its mates. */
  readonly group?: string;
  readonly reward?: number;
  readonly advantage?: number;
  /** It ended by a stop token (`stop`) or at the limit (`length`). */
  readonly finish?: 'stop' | 'length';
}

/** Where readers push what they read. Points come in the order of the file; steps may go back where a run was resumed. */
export interface LogSink {
  /** The series of that name; the same object for the same run and name. */
  series(run: string, name: string): Series;
  /** `time` in seconds since 1970, NaN where the log has none. `value` may be NaN or infinite: rules say so. */
  point(series: Series, step: number, value: number, time: number): void;
  sample(sample: Sample): void;
  /** What the run wrote of its own settings: `max_completion_length`, 256. */
  declare(run: string, name: string, value: string | number | boolean | null): void;
  /** What could not be read, as a sentence that names file and place; reading went on behind it. */
  complain(sentence: string): void;
}
