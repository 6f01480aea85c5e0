// What properties of one step of training share: what there must be for one, and reading what it saved.
import {
  type Finding,
  type Handed,
  loads,
  type ModelKind,
  type ModelWeights,
  modelTokens,
  type Need,
  type Subject,
} from '../../../src/index.ts';
import type { Moved } from './movement.ts';

/** Each is a checkpoint written and read, and many forward passes of the reference; a fault shows in the first few. */
export const STEP_CASES = 10;

export const stepNeeds = (
  op: 'preference_step' | 'train_step',
  kinds: readonly ModelKind[],
): readonly Need[] => [modelTokens, loads(op, kinds), singlePrecision, smallVocabulary];

/** Steps in half precision are lost in the rounding of the weights. */
const singlePrecision: Need = ({ hello: { dtype } }) =>
  dtype === 'bfloat16' || dtype === 'float16' ? `a step of ${dtype} weights is mostly rounding` : undefined;

/** A finite difference moves every parameter of the model: of more than these, a case takes seconds. */
const MOST_IDS = 65_536;
const smallVocabulary: Need = ({ hello: { tokens } }) =>
  tokens !== undefined && tokens.vocab_size > MOST_IDS
    ? `finite differences of a head of ${tokens.vocab_size} ids take too long; name a tokenizer of up to ${MOST_IDS}`
    : undefined;

/** The model before the step and the parameters that it left in the folder; a finding where they cannot be read. */
export function savedBy(subject: Subject, path: string, used: Handed): Moved | Finding {
  const saved = subject.models.saved(path, used.model.config);
  if (!('problem' in saved)) return { used, saved: saved as ModelWeights };
  const problem = saved.problem.replaceAll(path, 'saved_path');
  return { kind: 'not saved', sentence: `The saved step cannot be read: ${problem}.` };
}

/** Judges the step that was taken; one that cannot be, is the finding itself. */
export async function judged<Step extends Moved>(
  taken: Promise<Step | Finding>,
  judge: (step: Step) => Finding | undefined,
): Promise<Finding | undefined> {
  const step = await taken;
  return 'sentence' in step ? step : judge(step);
}
