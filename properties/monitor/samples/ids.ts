// Ids and text of one sample, which must speak of the same tokens. How a text was cleaned differs from trainer to trainer
// (special tokens, white space, thoughts and stop texts left out), so only what cleaning cannot explain counts.
import type { MonitorRule, RuleWorld, Sample } from '../../../src/index.ts';
import { type Judgement, shareRule } from './batch.ts';
import { quote } from './text.ts';

export const idRules: readonly MonitorRule[] = [
  shareRule({
    id: 'monitor/texts-are-those-of-their-ids',
    title: 'The ids of a sample decode to its text',
    level: 'should',
    why: 'Reward functions see the text and the loss sees the ids. Where the two belong to different rows, or the ids lack the first token, every token is paid for another one.',
    catches: ['PAD-08', 'MT-01', 'TOK-05'],
    advice:
      'Compare the order of rows before and after sorting or padding, and check that the tokenizer named here is the one of the run.',
    share: 0.2,
    least: 4,
    faulty: 2,
    does: 'have ids that are not those of their text',
    silent: 'no sample has both ids and text, or no tokenizer is named',
    judge: textJudge,
  }),
  shareRule({
    id: 'monitor/prompts-begin-with-one-bos',
    title: 'A prompt begins with one BOS token at most',
    level: 'should',
    why: 'A template that writes BOS, tokenised with add_special_tokens=True, gives two; the model was never trained on that, and answers worse.',
    catches: ['TOK-01', 'TOK-02'],
    advice: 'Tokenise rendered chats with add_special_tokens=False.',
    share: 0.5,
    least: 2,
    faulty: 2,
    does: 'begin with two BOS tokens',
    silent: 'no prompt shows its BOS token: the file has neither ids nor special tokens',
    judge: bosJudge,
  }),
  shareRule({
    id: 'monitor/prompt-ids-are-canonical',
    title: 'The ids of a prompt are those that the tokenizer makes of its text',
    level: 'may',
    why: 'Prompts that are put together from pieces have tokens at the seams that the model has rarely seen, and inference engines that tokenise the text see other ids than the trainer.',
    catches: ['TOK-05', 'MT-01'],
    advice:
      'Tokenise the prompt as one text, or hand ids instead of text to the engine. Turns that were sampled keep their ids; then this is no fault.',
    share: 0.5,
    least: 8,
    faulty: 4,
    does: 'have other ids in the prompt than the tokenizer makes of its text',
    silent: 'no sample has the ids of its prompt, or no tokenizer is named',
    judge: canonicalJudge,
  }),
];

function textJudge({ tokens }: RuleWorld): (sample: Sample) => Judgement {
  if (tokens === undefined) return () => undefined;
  const bare = cleaner(tokens.specials);
  return (sample) => {
    const completion = differs(sample.completion, sample.completionIds);
    if (completion === 'other')
      return {
        kind: 'text of another row',
        which: `has the text ${quote(sample.completion ?? '')} and ids that decode to ${quote(tokens.decode(sample.completionIds ?? []))}`,
        marks: [[0, sample.completionIds?.length ?? 0]],
      };
    const prompt = differs(sample.prompt, sample.promptIds);
    if (prompt === 'other')
      return {
        kind: 'prompt of another row',
        which: `has the prompt ${quote(sample.prompt ?? '')} and ids of a prompt that decode to ${quote(tokens.decode(sample.promptIds ?? []))}`,
      };
    if (completion === undefined && prompt === undefined) return undefined;
    const lost = lostHead(sample);
    if (lost === undefined) return 'fine';
    return {
      kind: 'first token lost',
      which: `has ids that begin after the first characters of its text, ${quote(lost)}`,
      marks: [[0, 1]],
    };
  };

  function differs(
    text: string | undefined,
    ids: readonly number[] | undefined,
  ): 'same' | 'other' | undefined {
    if (text === undefined || ids === undefined || tokens === undefined) return undefined;
    const written = bare(text);
    const decoded = bare(tokens.decode(ids));
    if (written.length < LEAST || decoded.length < LEAST) return undefined;
    return kinship(written, decoded) < SAME_TEXT ? 'other' : 'same';
  }

  /** The beginning of the text that the ids lack; a tag that opens a thought may stand in the prompt. */
  function lostHead({ prompt, promptIds, completion, completionIds }: Sample): string | undefined {
    if (completion === undefined || completionIds === undefined || tokens === undefined) return undefined;
    const text = bare(completion);
    const decoded = bare(tokens.decode(completionIds));
    const head = text.length - decoded.length;
    if (decoded.length < LEAST || head <= 0 || head > LONGEST_HEAD || !text.endsWith(decoded))
      return undefined;
    const lost = text.slice(0, head);
    if (/^<\/?[a-z_|]+>/i.test(lost)) return undefined;
    // What was written into the answer's beginning by the prompt is part of the text in many files.
    const asked = promptIds === undefined ? prompt : tokens.decode(promptIds);
    return asked !== undefined && bare(asked).endsWith(lost) ? undefined : lost;
  }
}

/** What is left of a text when everything is gone that trainers clean differently. */
function cleaner(specials: readonly string[]): (text: string) => string {
  const marks = specials
    .filter((special) => special.length > 1)
    .toSorted((left, right) => right.length - left.length)
    .map((special) => special.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  const dropped = new RegExp([...marks, '[\\s\\ufffd]+'].join('|'), 'gu');
  return (text) => text.replaceAll(dropped, '');
}

/** Shorter texts have too little in them to tell two rows apart. */
const LEAST = 24;
/** Pieces of text that are looked up in the other: long enough not to be any text's. */
const PIECE = 6;
/** Texts of two rows about one subject share a third of their pieces; one text in two cleanings, nearly all of the shorter. */
const SAME_TEXT = 0.4;
/** Of long texts the beginning says enough. */
const COMPARED = 4096;

/** Share of the shorter text's pieces that the longer one has, 0 to 1. */
function kinship(left: string, right: string): number {
  const [short, long] = left.length <= right.length ? [left, right] : [right, left];
  const pieces = new Set<string>();
  for (let at = 0; at + PIECE <= long.length; at++) pieces.add(long.slice(at, at + PIECE));
  let [shared, all] = [0, 0];
  for (let at = 0; at + PIECE <= Math.min(short.length, COMPARED); at++) {
    all++;
    if (pieces.has(short.slice(at, at + PIECE))) shared++;
  }
  return all === 0 ? 1 : shared / all;
}

/** Characters of the longest token, about. */
const LONGEST_HEAD = 40;

function bosJudge({ tokens }: RuleWorld): (sample: Sample) => Judgement {
  return ({ promptIds, prompt }) => {
    if (promptIds !== undefined && tokens?.bosId !== undefined) {
      const { bosId, padId } = tokens;
      let from = 0;
      // Padding on the left may be any token but the one that is looked for.
      while (padId !== bosId && from < promptIds.length && promptIds[from] === padId) from++;
      if (padId === bosId) return undefined;
      return promptIds[from] === bosId && promptIds[from + 1] === bosId
        ? {
            kind: 'double BOS',
            which: `begins with '${tokens.textOf(bosId)}' at tokens ${from} and ${from + 1} of the prompt`,
          }
        : 'fine';
    }
    const bos = KNOWN_BOS.find((each) => prompt?.startsWith(each));
    if (prompt === undefined || bos === undefined) return undefined;
    const rest = prompt.slice(bos.length).trimStart();
    // A prompt that is all BOS is padded with it.
    return rest.startsWith(bos) && !rest.slice(bos.length).trimStart().startsWith(bos)
      ? { kind: 'double BOS', which: `begins its prompt with ${quote(prompt)}` }
      : 'fine';
  };
}

const KNOWN_BOS: readonly string[] = [
  '<|begin_of_text|>',
  '<bos>',
  '<s>',
  '<｜begin▁of▁sentence｜>',
  '<|startoftext|>',
  '<|BOS_TOKEN|>',
];

function canonicalJudge({ tokens }: RuleWorld): (sample: Sample) => Judgement {
  let prompts = 0;
  return ({ promptIds }) => {
    if (tokens === undefined || promptIds === undefined || ++prompts > MOST_PROMPTS) return undefined;
    const { padId, bosId, stopIds } = tokens;
    const ids = withoutLeft(promptIds, padId);
    // A prompt with an answer in it holds ids that were sampled, and those may be any.
    if (
      ids.length === 0 ||
      ids.length > LONGEST_PROMPT ||
      ids.filter((id) => stopIds.includes(id)).length > 2
    )
      return undefined;
    const body = ids[0] === bosId ? ids.slice(1) : ids;
    const text = tokens.decode(body);
    if (text.includes('\ufffd')) return undefined;
    const again = tokens.encode(text);
    // A tokenizer whose text does not come back says nothing about seams.
    if (tokens.decode(again) !== text) return undefined;
    const at = body.findIndex((id, index) => id !== again[index]);
    if (at < 0) return 'fine';
    const wanted = again[at] === undefined ? 'nothing' : `'${tokens.textOf(again[at])}'`;
    return {
      kind: 'seam',
      which: `has token ${at} '${tokens.textOf(body[at] ?? -1)}' of its prompt where the tokenizer makes ${wanted}`,
    };
  };
}

/** Prompts of one run are all made in one way, and tokenising takes longer than all other rules together. */
const MOST_PROMPTS = 512;
/** Longer prompts take their time to tokenise again, and seams are in short ones too. */
const LONGEST_PROMPT = 2048;

function withoutLeft(ids: readonly number[], padId: number | undefined): readonly number[] {
  let from = 0;
  while (from < ids.length && ids[from] === padId) from++;
  return ids.slice(from);
}
