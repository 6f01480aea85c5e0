// Samples with nothing in them, and samples that are all as long as they may be.
import type { MonitorRule, RuleWorld, Sample } from '../../../src/index.ts';
import { type Batch, type Judgement, shareRule } from './batch.ts';
import { type Marks, marksOf, withoutEnd } from './marks.ts';

export const emptyRules: readonly MonitorRule[] = [
  shareRule({
    id: 'monitor/completions-are-not-empty',
    title: 'Most completions have text',
    level: 'should',
    why: 'A policy that stops at once has learned to say nothing, or is made to: a penalty that counts the prompt lifts the stop token over all others.',
    catches: ['TPL-01'],
    advice:
      'Look whether repetition penalties count the prompt, whether the prompt ends where an answer begins, and whether short answers are paid better.',
    share: 0.5,
    least: 4,
    faulty: 3,
    does: 'are empty',
    what: 'completions',
    silent: 'no sample has a completion',
    judge: emptyJudge,
  }),
  shareRule({
    id: 'monitor/prompts-are-not-empty',
    title: 'Prompts have text',
    level: 'may',
    why: 'An empty prompt is a row that truncation has eaten, or a column that the data set does not have; its completion is paid for nothing that was asked.',
    catches: ['TRN-01'],
    advice: 'Look at max_prompt_length and the side that is cut, and at the name of the column.',
    share: 0.1,
    least: 4,
    faulty: 2,
    does: 'have an empty prompt',
    silent: 'no sample has a prompt',
    judge: promptJudge,
  }),
  shareRule({
    id: 'monitor/completions-end-before-the-limit',
    title: 'Some completions end by themselves',
    level: 'may',
    why: 'Where every completion runs into the limit, none has an end: the stop token is not known to sampling, is never trained, or the limit is too low for the task.',
    catches: ['EOS-07', 'EOS-09'],
    advice:
      'Compare the stop tokens of sampling with the one that the chat template writes; raise the limit if answers are cut in the middle.',
    // A model that was never trained seldom stops: one end in so many is enough.
    share: 1,
    least: 256,
    faulty: 256,
    does: 'are cut at the limit',
    what: 'completions',
    silent: 'no sample tells how it ended, and none has ids together with a tokenizer',
    judge: limitJudge,
    confirm: (batch) => isOneWidth(batch),
  }),
];

function emptyJudge(world: RuleWorld): (sample: Sample) => Judgement {
  const marks = marksOf(world);
  return ({ completion, completionIds }) => {
    const empty = isEmpty(completion, completionIds, world, marks);
    if (empty === undefined) return undefined;
    return empty ? { kind: 'empty completion', which: 'has no text' } : 'fine';
  };
}

function promptJudge(world: RuleWorld): (sample: Sample) => Judgement {
  const marks = marksOf(world);
  return ({ prompt, promptIds }) => {
    const empty = isEmpty(prompt, promptIds, world, marks);
    if (empty === undefined) return undefined;
    return empty ? { kind: 'empty prompt', which: 'has nothing in its prompt' } : 'fine';
  };
}

function isEmpty(
  text: string | undefined,
  ids: readonly number[] | undefined,
  { tokens }: RuleWorld,
  marks: Marks,
): boolean | undefined {
  if (text !== undefined) return withoutEnd(text, marks) === '';
  if (ids === undefined) return undefined;
  if (tokens === undefined) return ids.length === 0;
  const ends = new Set([...tokens.stopIds, tokens.padId]);
  return ids.every((id) => ends.has(id) || id === tokens.bosId);
}

function limitJudge({ tokens }: RuleWorld): (sample: Sample) => Judgement {
  return ({ completionIds, finish }) => {
    if (finish === 'stop') return 'fine';
    if (finish === 'length') return { kind: 'limit', which: 'was cut at the limit' };
    if (completionIds === undefined || tokens === undefined || completionIds.length < 2) return undefined;
    const stops = new Set(tokens.stopIds);
    if (completionIds.some((id) => stops.has(id) || id === tokens.padId)) return 'fine';
    return {
      kind: 'limit',
      which: `has ${completionIds.length} ids and no stop token`,
      marks: [[completionIds.length - 1, completionIds.length]],
    };
  };
}

/** Files may leave stop tokens out; completions that are all cut at one limit are all of one length. */
function isOneWidth({ widths, faults }: Batch): boolean {
  return widths.size === 1 || faults.every(({ sample }) => sample.finish === 'length');
}
