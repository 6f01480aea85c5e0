// What a series speaks of, told by its name. Unknown names have no role: rules about roles leave them alone.
import { ROLE_NAMES } from './role-names.ts';
import { SERIES_ROLES, type SeriesRole } from './series.ts';

export interface NamedRole {
  readonly role?: SeriesRole;
  /** What tells it from others of its role; empty: the only one. */
  readonly part: string;
  readonly evaluation: boolean;
}

/** Of a name as logged: `train/loss`, `actor/pg_loss`, `learner_step/llm_sft_loss_avg`. */
export function roleOf(name: string): NamedRole {
  const lower = name.trim().toLowerCase();
  const none = { part: '', evaluation: isEvaluation(lower) };
  if (NOT.has(lower)) return none;
  // CleanRL and its descendants write `val/ratio` of training: the whole name is looked up before `val` is understood.
  const whole = TABLE.get(lower);
  if (whole !== undefined) return { ...whole, evaluation: false };
  const bare = bareOf(lower);
  // Megatron and what is printed for people write `lm loss`.
  const joined = bare.replaceAll(' ', '_');
  const known = NOT.has(joined) ? undefined : (TABLE.get(joined) ?? TABLE.get(joined.replace(/_avg$/, '')));
  return known === undefined
    ? { ...none, ...lossOf(bare), ...normOf(bare), ...samplesOf(bare), ...paceOf(joined) }
    : { ...none, ...known };
}

interface Known {
  readonly role: SeriesRole;
  readonly part: string;
}

/** Names that look like one with a role or like a loss, and are not: summaries of transformers, and settings. */
const NOT: ReadonlySet<string> = new Set([
  'train/train_loss',
  'train_runtime',
  'train_samples_per_second',
  'train_steps_per_second',
  'entropy_loss',
  'ent_loss',
  'best_loss',
  'min_loss',
  'loss_scale',
  'critic/values/mean',
]);
const TABLE: ReadonlyMap<string, Known> = new Map(
  SERIES_ROLES.flatMap((role) =>
    (ROLE_NAMES[role] ?? []).map((entry): [string, Known] => {
      const [first = '', second] = entry.split(':');
      return second === undefined ? [first, { role, part: '' }] : [second, { role, part: first }];
    }),
  ),
);

/** Where a trainer says that it is training; what remains is the name. */
const TRAINING = /^(?:train|training|learner_step|learner_iter|trainer)\//;
const EVALUATION =
  /(?:^|\/)(?:eval|evaluation|evaluator|evaluator_step|evaluator_iter|val|valid|validation|test|dev|held_?out|val-core|val-aux)\/|^(?:eval|test|val|validation|dev|held_?out)_|(?:^|\/)eval_|[_ -]loss[_ -](?:validation|valid|val|test|eval)$|(?:^|[/ ])(?:valid|validation|dev)[_ ]loss$|^loss\/(?:eval|test|val|valid|validation|dev)$/;

function isEvaluation(lower: string): boolean {
  return EVALUATION.test(lower);
}

/** Without what says training or evaluation in front. */
function bareOf(lower: string): string {
  return (
    lower
      .replace(TRAINING, '')
      .replace(/^(?:eval|evaluation|val|valid|validation|test|dev)\//, '')
      .replace(/^(?:eval|test|val|valid|validation|dev|held_?out)[_ ]/, '')
      .replace(/(?<=[_ -]loss)[_ -](?:validation|valid|val|test|eval)$/, '')
      // As the tutorials of PyTorch have it.
      .replace(/^loss\/(?:train|training|eval|test|val|valid|validation|dev)$/, 'loss')
      .replace(/-(?=loss$)/, '_')
  );
}

/** Any other `..._loss` is a loss of its own part; that of supervised or policy training is told by its words. */
function lossOf(bare: string): Known | undefined {
  const found = /^(?:.*\/)?([a-z0-9-]+(?:[_ ][a-z0-9-]+)*)[_ ]loss(?:_avg|_mean)?$/.exec(bare);
  const part = found?.[1];
  if (part === undefined || TIMES.test(bare)) return undefined;
  const words = part.split(/[_ ]/);
  if (words.some((word) => NOT_A_LOSS.has(word))) return undefined;
  if (words.includes('sft')) return { role: 'sft_loss', part };
  if (words.includes('rft') || words.includes('policy') || words.includes('pg'))
    return { role: 'policy_loss', part };
  if (words.includes('value') || words.includes('critic')) return { role: 'value_loss', part };
  return { role: 'loss', part };
}

/** Below it stand durations. */
const TIMES = /(?:^|\/)(?:time|times|timing|timing_s|profiling|perf)\//;

/**
 * An entropy or KL that is called a loss may have either sign; a best or last loss is a copy; a count, a share, a duration
 * or a spread of losses is none.
 */
const NOT_A_LOSS = new Set([
  'entropy',
  'ent',
  'kl',
  'best',
  'last',
  'min',
  'max',
  'per',
  'first',
  'initial',
  'final',
  'prev',
  'previous',
  'old',
  'lowest',
  'highest',
  'target',
  'num',
  'n',
  'count',
  'counts',
  'number',
  'samples',
  'tokens',
  'steps',
  'with',
  'without',
  'no',
  'skipped',
  'nan',
  'inf',
  'packet',
  'time',
  'compute',
  'percent',
  'pct',
  'ratio',
  'share',
  'frac',
  'fraction',
  'relative',
  'delta',
  'diff',
  'change',
  'std',
  'var',
  'variance',
  'scaled',
  'stop',
  'stopping',
  'since',
  'eval',
  'val',
  'test',
]);

/** Of one of several models: `wm_grad_norm`. */
function normOf(bare: string): Known | undefined {
  const found = /^([a-z0-9]+(?:_[a-z0-9]+)*)_grad_norm(?:_avg)?$/.exec(bare);
  // A bound, or what it leaves of the norm, which never moves.
  if (found?.[1] === undefined || /(?:^|_)(?:max|min|clip|clipped|target|threshold)$/.test(found[1]))
    return undefined;
  return { role: 'grad_norm', part: found[1] };
}

/** `num_sft_samples` counts what the loss of part `sft` was computed from. */
function samplesOf(bare: string): Known | undefined {
  const found = /^(?:num|n)_([a-z0-9]+(?:_[a-z0-9]+)*)_samples(?:_avg)?$/.exec(bare);
  return found?.[1] === undefined ? undefined : { role: 'samples', part: found[1] };
}

/** `perf/tokens_per_sec`, `samples/s`: of the whole step. That of sampling or of an evaluation goes up and down with its lengths. */
const PACE =
  /^(?:(?:perf|performance|throughput|speed|stats|timing|time|metrics)\/)?(?:token|tok|sample|seq|sequence|example|row|step|it|iter|iteration)s?(?:_per_|\/)(?:s|secs?|seconds?)(?:(?:_per_|\/)(?:gpu|device|rank))?$/;

function paceOf(joined: string): Known | undefined {
  return PACE.test(joined) && !NOT.has(joined) ? { role: 'throughput', part: '' } : undefined;
}
