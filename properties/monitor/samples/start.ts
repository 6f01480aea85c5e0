// Where a completion begins: behind the header that opens the answer, and behind the last token of the prompt. A cut at
// the wrong column leaves a piece of the prompt in it, and the judge then rewards the prompt.
import type { MonitorRule, RuleWorld, Sample } from '../../../src/index.ts';
import { type Judgement, numberSetting, shareRule } from './batch.ts';
import { BARE_END, type Marks, marksOf, opensWith } from './marks.ts';
import { completionText, marksIn, overlap, promptText, quote } from './text.ts';

export const startRules: readonly MonitorRule[] = [
  shareRule({
    id: 'monitor/completions-begin-behind-the-header',
    title: 'No completion begins with the header of a message',
    level: 'must',
    why: 'A completion that begins with a header was cut from the row at the wrong column, or was sampled from a prompt that does not open an answer. Rewards, mask and loss then count tokens that the policy was given.',
    catches: ['PAD-01', 'PAD-03', 'TPL-01'],
    advice:
      'Cut completions at the width of the padded prompts, not at the number of tokens that are no padding, and render prompts with add_generation_prompt=True. A file that means to hold prompt and completion together should call that text `text`.',
    // A mark of one token is sampled now and then by a model that knows nothing yet; three of a step are no chance.
    share: 0.1,
    least: 4,
    faulty: 3,
    does: 'begin with the header of a message',
    silent: 'no sample has the text of a completion',
    judge: headerJudge,
  }),
  shareRule({
    id: 'monitor/completions-begin-behind-the-prompt',
    title: 'No completion begins with the end of its prompt',
    level: 'should',
    why: 'The end of the prompt at the beginning of the completion is a boundary that was counted wrongly; the judge sees the question in the answer, and the loss trains it.',
    catches: ['PAD-01', 'PAD-03', 'TOK-05'],
    advice:
      'Cut completions at the width of the padded prompts. A file that means to hold prompt and completion together should call that text `text`.',
    share: 0.3,
    least: 4,
    faulty: 2,
    does: 'begin with the end of their prompt',
    silent: 'no sample has both prompt and completion',
    settings: {
      characters: {
        default: 32,
        what: 'Characters of the prompt at least that a completion must begin with.',
      },
      ids: { default: 8, what: 'Ids of the prompt at least, where the samples have ids.' },
    },
    judge: promptJudge,
  }),
];

function headerJudge(world: RuleWorld): (sample: Sample) => Judgement {
  const marks = marksOf(world);
  return (sample) => {
    const text = completionText(sample, world);
    if (text === undefined) return undefined;
    const begins = opensWith(text, marks.headers);
    if (begins !== undefined)
      return {
        kind: 'header',
        which: `begins with ${quote(text)}`,
        ...marksIn(sample, world, 0, text.length - text.trimStart().length + begins.length),
      };
    const prompt = promptText(sample, world) ?? '';
    const length = overlap(prompt, text);
    const piece = text.slice(0, length);
    // Only what repeats the prompt to its very end counts: a role on a line of its own may be any text's first word.
    if (length > 0 && hasHeader(piece, prompt, marks))
      return {
        kind: 'header',
        which: `begins with the last ${length} characters of its prompt, header included: ${quote(text)}`,
        ...marksIn(sample, world, 0, length),
      };
    return 'fine';
  };
}

/** A piece of the prompt's end with a header in it; without special tokens a line `assistant` is all that is left of one. */
function hasHeader(piece: string, prompt: string, { headers }: Marks): boolean {
  if (headers.some((header) => piece.includes(header))) return true;
  return BARE_END.test(prompt) && BARE_END.test(piece);
}

function promptJudge(world: RuleWorld): (sample: Sample) => Judgement {
  const leastCharacters = numberSetting(world, 'characters');
  const leastIds = numberSetting(world, 'ids');
  return (sample) => {
    const { prompt, completion, promptIds, completionIds } = sample;
    if (promptIds !== undefined && completionIds !== undefined && promptIds.length > 0) {
      const length = overlap(promptIds, completionIds);
      // A copy of the prompt to its end, and nothing else, is what a task of repeating asks for.
      if (
        length < leastIds ||
        length === completionIds.length ||
        new Set(completionIds.slice(0, length)).size < 3
      )
        return 'fine';
      const before = world.tokens?.decode(promptIds.slice(0, -length));
      const piece = world.tokens?.decode(completionIds.slice(0, length));
      if (before !== undefined && piece !== undefined && !isWholeOrMidway(before, piece)) return 'fine';
      return {
        kind: 'prompt',
        which: `begins with the last ${length} of the ${promptIds.length} ids of its prompt${piece === undefined ? '' : `: ${quote(piece)}`}`,
        marks: [[0, length]],
      };
    }
    if (prompt === undefined || completion === undefined || prompt === '') return undefined;
    const length = overlap(prompt, completion);
    const piece = completion.slice(0, length);
    if (length < leastCharacters || length === completion.trimEnd().length || length === completion.length)
      return 'fine';
    if (new Set(piece).size < 8 || !isWholeOrMidway(prompt.slice(0, -length), piece)) return 'fine';
    return {
      kind: 'prompt',
      which: `begins with the last ${length} of the ${prompt.length} characters of its prompt: ${quote(piece)}`,
      ...marksIn(sample, world, 0, length),
    };
  };
}

/** Models that repeat a question begin where a sentence or a line does; a column that was counted wrongly begins anywhere. */
function isWholeOrMidway(before: string, piece: string): boolean {
  if (before.trim() === '') return true;
  return !/[\n.!?:;"'”»。！？：)\]>}*#-]\s*$/u.test(before) && !/^\s*[\n"'“«*#-]/u.test(piece);
}
