// A rollout as a strip of tokens: the end of its prompt, its completion, and what in it breaks a rule. Where a file has
// texts and no ids, the strip is made of words, cut where a mark begins and ends.
import type { Strip, StripToken } from '../../check/property.ts';
import type { SampleTokens, Violation } from '../rule.ts';

/** Nothing where the violation is about no sample, or about one without a completion. */
export function stripOfSample(violation: Violation, row: number, tokens?: SampleTokens): Strip | undefined {
  const { sample, marks = [] } = violation;
  if (sample === undefined) return undefined;
  const { completion, completionIds } = sample;
  // Marks count ids where there are ids; a rule that judged the text of a sample that has both marks nothing.
  const laid =
    completionIds !== undefined
      ? layIds(sample.promptIds ?? [], completionIds, marks, tokens)
      : completion !== undefined
        ? layText(sample.prompt ?? '', completion, marks)
        : undefined;
  return laid === undefined || laid.tokens.length === 0 ? undefined : { row, tracks: [], ...laid };
}

/** Of the prompt: what the completion follows. */
const PROMPT_TOKENS = 8;
const PROMPT_CHARACTERS = 60;
/** Of a completion: more is read in its file. The first mark stands in it. */
const MOST_TOKENS = 600;
const MOST_CHARACTERS = 4_000;
/** Before the first mark, where a completion is cut. */
const BEFORE = 40;
const BEFORE_CHARACTERS = 200;

type Marks = readonly (readonly [number, number])[];
type Laid = Pick<Strip, 'tokens' | 'marks'>;

function layIds(
  promptIds: readonly number[],
  completionIds: readonly number[],
  marks: Marks,
  tokens: SampleTokens | undefined,
): Laid {
  const from = startOf(marks, completionIds.length, MOST_TOKENS, BEFORE);
  const token = (id: number, role: StripToken['role']): StripToken => ({
    id,
    ...(tokens === undefined ? {} : { text: tokens.textOf(id) }),
    role,
  });
  const prompt = from === 0 ? promptIds.slice(-PROMPT_TOKENS) : [];
  const shown = completionIds.slice(from, from + MOST_TOKENS);
  const stops = new Set(tokens?.stopIds ?? []);
  const wrong = shown.flatMap((_, at) =>
    marks.some(([begin, end]) => at + from >= begin && at + from < end) ? [at + prompt.length] : [],
  );
  return {
    tokens: [
      ...prompt.map((id) => token(id, 'prompt')),
      ...shown.map((id) => token(id, stops.has(id) ? 'stop' : 'completion')),
    ],
    marks: wrong,
  };
}

function layText(prompt: string, completion: string, marks: Marks): Laid {
  const from = startOf(marks, completion.length, MOST_CHARACTERS, BEFORE_CHARACTERS);
  const text = completion.slice(from, from + MOST_CHARACTERS);
  const before = from === 0 ? wordsOf(prompt.slice(-PROMPT_CHARACTERS)) : [];
  const tokens: StripToken[] = before.map((word) => ({ text: word, role: 'prompt' }));
  const wrong: number[] = [];
  let at = 0;
  for (const [begin, end, marked] of piecesOf(text.length, marks, from)) {
    for (const word of wordsOf(text.slice(begin, end))) {
      if (marked) wrong.push(tokens.length);
      tokens.push({ text: word, role: 'completion' });
    }
    at = end;
  }
  for (const word of wordsOf(text.slice(at))) tokens.push({ text: word, role: 'completion' });
  return { tokens, marks: wrong };
}

/** Where the shown part begins, so that the first mark is in it. */
function startOf([first]: Marks, length: number, most: number, before: number): number {
  if (first === undefined || length <= most || first[0] < most - before) return 0;
  return Math.max(0, first[0] - before);
}

/** Stretches of the text between the bounds of the marks, in order, without overlap. */
function piecesOf(length: number, marks: Marks, from: number): [number, number, boolean][] {
  const pieces: [number, number, boolean][] = [];
  let at = 0;
  for (const [begin, end] of marks.toSorted(([a], [b]) => a - b)) {
    const [low, high] = [begin - from, end - from].map((each) => Math.min(length, Math.max(at, each))) as [
      number,
      number,
    ];
    if (low > at) pieces.push([at, low, false]);
    if (high > low) pieces.push([low, high, true]);
    at = Math.max(at, high);
  }
  return pieces;
}

/** Words with the space before them, as tokenizers have them; of a writing without spaces, a few characters. */
function wordsOf(text: string): string[] {
  return text.match(/\s?[^\s]{1,16}|\s/gu) ?? [];
}
