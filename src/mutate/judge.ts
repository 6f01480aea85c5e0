// One trainer, changed or not, against properties one after the other, as `check` would judge it; nothing is made small.
import type { PropertyResult } from '../check/events.ts';
import type { RunOptions } from '../check/options.ts';
import type { Measured } from '../check/profile/measured.ts';
import { measureUndeclared } from '../check/profile/undeclared.ts';
import type { Property } from '../check/property.ts';
import { run } from '../check/run.ts';
import type { StopSignal } from '../check/stop.ts';
import type { TrainerFailure } from '../trainer/failure.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { FAILING, type ItemName, type Semantics } from '../vocabulary.ts';
import { watchAnswers } from './answers.ts';
import type { Baseline, Judged } from './events.ts';

/** What every run of a trainer here has alike. */
export type Asked = Pick<
  RunOptions,
  'tokenizer' | 'semantics' | 'seed' | 'cases' | 'known' | 'command' | 'strict'
>;

export interface OneProperty extends Asked {
  readonly trainer: Trainer;
  readonly measured: Measured;
  readonly signal: StopSignal;
  readonly mostMilliseconds?: number;
}

/** The verdict on one property. */
export async function judge(property: Property, options: OneProperty): Promise<PropertyResult> {
  const [result] = await run({ ...options, properties: [property], verdictOnly: true }, () => {});
  if (result === undefined) throw new Error(`${property.id} was not judged`);
  return result;
}

export interface ChangedTrainer extends OneProperty {
  /** Those that reach the change, the most telling first. */
  readonly properties: readonly Property[];
  readonly baseline: (id: string) => Baseline | undefined;
  /** By the trainer as it is. */
  readonly declared: Semantics | undefined;
  /** Milliseconds for all of it. */
  readonly milliseconds: number;
}

export type Verdict = Pick<
  Judged,
  'outcome' | 'by' | 'error' | 'reason' | 'declare' | 'follows' | 'skips' | 'answers' | 'requests'
>;

/** What becomes of a change, seen from the properties that reach it. Undefined: the run was stopped before that was known. */
export async function judgeChanged(changed: ChangedTrainer): Promise<Verdict | undefined> {
  const { measured } = changed;
  const first = await through(changed, measured);
  if (first?.outcome === 'survives') return following(changed, first);
  if (first?.outcome !== 'found' || first.error === true) return first;
  if (Object.keys(measured.semantics).length === 0 && measured.doubts.length === 0) return first;
  // Nobody declared what the trainer was measured to do: `check` would measure it anew, and hold it to what it does now.
  const again = await measureUndeclared(changed);
  if (changed.signal.aborted) return undefined;
  const declare = differing(measured.semantics, again.semantics);
  if (declare.length === 0 && again.doubts.length === measured.doubts.length) return first;
  const second = await through(changed, again);
  if (second?.outcome !== 'survives') return second;
  return declare.length === 0 ? second : { ...second, declare };
}

/** Whether it survives only because what the adapter declares changes with it. */
async function following(changed: ChangedTrainer, survives: Verdict): Promise<Verdict | undefined> {
  const declared = changed.declared ?? {};
  const follows = differing(declared, changed.trainer.hello.semantics ?? {});
  if (follows.length === 0) return survives;
  const held = await through(
    { ...changed, semantics: { ...declared, ...changed.semantics } },
    changed.measured,
  );
  if (held === undefined) return undefined;
  return held.outcome === 'found' ? { ...survives, follows } : survives;
}

async function through(changed: ChangedTrainer, measured: Measured): Promise<Verdict | undefined> {
  const { properties, baseline, milliseconds, signal } = changed;
  const deadline = performance.now() + milliseconds;
  const watched = watchAnswers(changed.trainer);
  let known = true;
  let same = true;
  let requests = 0;
  const skipped: string[] = [];
  for (const property of properties) {
    const left = deadline - performance.now();
    if (left <= 0) return { outcome: 'untried', reason: SLOW };
    const result = await judge(property, {
      ...changed,
      trainer: watched.trainer,
      measured,
      mostMilliseconds: left,
    });
    const answers = watched.take();
    if (FAILING.includes(result.verdict)) return foundBy(result);
    if (signal.aborted) return undefined;
    if (result.verdict === 'interrupted') return { outcome: 'untried', reason: SLOW };
    const own = baseline(property.id);
    if (result.verdict === 'skipped' && own?.verdict === 'pass') skipped.push(result.reason ?? '');
    const before = own?.answers ?? '';
    known &&= before !== '';
    same &&= before === answers.print;
    requests += answers.requests;
  }
  return {
    outcome: 'survives',
    requests,
    ...(skipped[0] === undefined ? {} : { skips: { properties: skipped.length, reason: skipped[0] } }),
    ...(known ? { answers: same ? 'same' : 'other' } : {}),
  };
}

const SLOW = 'no verdict in several times the time that the trainer takes without the change';

function foundBy({ id, failure, reason }: PropertyResult): Verdict {
  const trouble = failure?.finding === undefined ? failure?.trainerFailure : undefined;
  return {
    outcome: 'found',
    by: id,
    // An answer of another shape is one, and it is wrong.
    ...(trouble === undefined || trouble.kind === 'shape' ? {} : { error: true }),
    ...reasonOf(trouble === undefined ? (failure?.finding?.sentence ?? reason) : troubleSentence(trouble)),
  };
}

const reasonOf = (reason: string | undefined): Pick<Judged, 'reason'> =>
  reason === undefined ? {} : { reason };

/** Without the restarts that it was not given. */
export function troubleSentence({ message }: TrainerFailure): string {
  return message.split(' Last: ').at(-1) ?? message;
}

/** What would hold the trainer to what it was measured to do, where it does something else now: as one declares it. */
function differing(before: Semantics, after: Semantics): readonly string[] {
  return (Object.keys(before) as ItemName[])
    .filter((item) => JSON.stringify(before[item]) !== JSON.stringify(after[item]))
    .map((item) => `"${item}": ${JSON.stringify(before[item])}`);
}
