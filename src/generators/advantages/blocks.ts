// Completions made of tagged blocks: think, tool call, tool response, think, ..., answer; whole ones of any number of
// turns, and ones with a flaw.
import fc from 'fast-check';
import type { ToolSpec } from '../../vocabulary.ts';

export interface Tags {
  readonly think: string;
  readonly tool_call: string;
  readonly tool_response: string;
  readonly answer: string;
}
export const DEFAULT_TAGS: Tags = {
  think: 'think',
  tool_call: 'tool_call',
  tool_response: 'tool_response',
  answer: 'answer',
};

/** What no format has: each is a step from a whole completion to a text that nobody can read. */
export const FLAWS = [
  'no tags',
  'no answer',
  'unclosed answer',
  'unclosed thought',
  'answer first',
  'thought begun, no more',
  'thought ended, no more',
  'words after the answer',
] as const;
export type Flaw = (typeof FLAWS)[number];

export interface Transcript {
  /** Tool calls before the answer. */
  readonly turns: number;
  readonly thought: string;
  readonly answer: string;
  readonly flaw: Flaw;
}

const MAX_TURNS = 4;
const WORDS = ['a', 'so it is', 'Wien', '42', 'x = 1', 'naïve', '東京'];
/** Thoughts go on over several lines. */
const THOUGHTS = [...WORDS, 'x < 3', 'first this\nthen that', 'first this\n\nthen that'];

/**
 * An arbitrary answer in blocks: a thought, tool turns where there are tools, the answer, and at most one flaw of
 * form.
 */
export function transcript(options: { readonly withTools: boolean }): fc.Arbitrary<Transcript> {
  return fc.record({
    turns: options.withTools ? fc.nat(MAX_TURNS) : fc.constant(0),
    thought: fc.constantFrom(...THOUGHTS),
    answer: fc.constantFrom(...WORDS),
    flaw: fc.constantFrom(...FLAWS),
  });
}

/** What a transcript exercises: how many tool turns it has, and its flaw. */
export function transcriptLabels({ turns, flaw }: Transcript): string[] {
  return [turns === 0 ? 'no tool turn' : turns === 1 ? 'one tool turn' : 'several tool turns', flaw];
}

/**
 * What forms differ in. Line ends stand within and between blocks, between them, or nowhere; and where the prompt ends
 * with the opening tag of the first thought, the completion begins behind it.
 */
export const STYLES = [false, true].flatMap((opened) =>
  [
    { within: '\n', between: '\n' },
    { within: '', between: '\n' },
    { within: '', between: '' },
  ].map((ends) => ({ ...ends, opened })),
);
export type Style = (typeof STYLES)[number];
/** As most forms have it. */
export const USUAL_STYLE: Style = { within: '\n', between: '\n', opened: false };

/** The completion as text, whole. */
export function wholeText(drawn: Transcript, tags: Tags, style: Style, tools: readonly ToolSpec[]): string {
  return blocks(drawn, tags, style, tools).join(style.between);
}

/** The same with its flaw. */
export function flawedText(drawn: Transcript, tags: Tags, style: Style, tools: readonly ToolSpec[]): string {
  const all = blocks(drawn, tags, style, tools);
  const last = all.at(-1) ?? '';
  const joined = (parts: readonly string[]): string => parts.join(style.between);
  switch (drawn.flaw) {
    case 'no tags':
      return `${drawn.thought} ${drawn.answer}`;
    case 'no answer':
      return joined(all.slice(0, -1));
    case 'unclosed answer':
      return joined([...all.slice(0, -1), last.replace(`</${tags.answer}>`, '')]);
    case 'unclosed thought':
      return joined(all).replace(`</${tags.think}>`, '');
    case 'answer first':
      return joined([last, ...all.slice(0, -1)]);
    case 'thought begun, no more':
      return `<${tags.think}>${style.within}${drawn.thought}`;
    case 'thought ended, no more':
      return `${drawn.thought}${style.within}</${tags.think}>`;
    case 'words after the answer':
      return joined([...all, drawn.thought]);
  }
}

/** Whole but for its thoughts, which are empty, or each within another: some forms take it, and some do not. */
export function oddText(drawn: Transcript, tags: Tags, style: Style, tools: readonly ToolSpec[]): string {
  const nested = `<${tags.think}>${drawn.thought}</${tags.think}>`;
  return wholeText({ ...drawn, thought: drawn.turns % 2 === 0 ? '' : nested }, tags, style, tools);
}

/** A call of the first tool with plain arguments, as a model writes it. */
export function plainCall(tools: readonly ToolSpec[]): string {
  const [tool] = tools;
  const values = { string: 'a', number: 1, boolean: true };
  const parameters = Object.entries(tool?.parameters ?? {});
  return JSON.stringify({
    name: tool?.name ?? 'search',
    arguments: Object.fromEntries(parameters.map(([name, kind]) => [name, values[kind]])),
  });
}

function blocks(drawn: Transcript, tags: Tags, style: Style, tools: readonly ToolSpec[]): string[] {
  const block = (tag: string, text: string): string =>
    `<${tag}>${style.within}${text}${style.within}</${tag}>`;
  const thought = block(tags.think, drawn.thought);
  const turn = [thought, block(tags.tool_call, plainCall(tools)), block(tags.tool_response, 'found')];
  const [first = '', ...rest] = [...Array.from({ length: drawn.turns }, () => turn).flat(), thought];
  const begun = style.opened ? first.slice(`<${tags.think}>${style.within}`.length) : first;
  return [begun, ...rest, block(tags.answer, drawn.answer)];
}
