// How a trainer can fail to answer, as data. The sentence for each kind is built in one place, explain.ts.

/**
 * start: never said hello. crash: died. hang: did not answer in time. garbage: a line that is no answer.
 * shape: an answer with a wrong field. error: the op raised. adapter: a ready-made adapter did, which is ours. budget: died too
 * often to go on. stopped: the run was ended before it answered, and nothing is said of the trainer.
 */
export type FailureKind =
  | 'start'
  | 'crash'
  | 'hang'
  | 'garbage'
  | 'shape'
  | 'error'
  | 'adapter'
  | 'budget'
  | 'stopped';

export interface TrainerFailure {
  readonly kind: FailureKind;
  /** What happened, as one sentence. */
  readonly message: string;
  /** What the user can do next, as one sentence. */
  readonly advice: string;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly traceback?: string;
  readonly stderrTail?: string;
  /** Behind an answer: the process said that it cannot go on. */
  readonly restarted?: true;
  /** The request under suspicion did it again when sent alone to a fresh process. Absent: not tried. */
  readonly reproduced?: boolean;
}

/** What makes two failures one: the kind and the sentence, whatever numbers the case brought into it. */
export function sameTrouble({ kind, message }: Pick<TrainerFailure, 'kind' | 'message'>): string {
  return `${kind} ${message.replaceAll(/\d+/g, '#')}`;
}

/** Each of these costs a restart of the process, and of restarts there is a budget. */
export const isCostly = ({ kind, restarted }: TrainerFailure): boolean =>
  restarted === true || COSTLY.has(kind);
const COSTLY: ReadonlySet<FailureKind> = new Set(['start', 'crash', 'hang', 'garbage', 'budget']);
