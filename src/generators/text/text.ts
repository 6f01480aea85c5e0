// Contents of messages: what users and models really write, and what breaks tokenisation. Built from pieces, so
// that a failure shrinks to a word. Left out on purpose: characters newer than the Unicode tables of Python and
// Rust, and white space on which JavaScript, Python and Oniguruma disagree (U+001C to U+001F, U+0085, U+FEFF).
import fc from 'fast-check';
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';

/** Any content without the spelling of a special token; '' is among them. */
export function plainContent(): fc.Arbitrary<string> {
  return fc.oneof(
    SHRINK_ACROSS,
    { arbitrary: prose(), weight: 5 },
    { arbitrary: edged(prose()), weight: 2 },
    { arbitrary: code(), weight: 2 },
    { arbitrary: numbers(), weight: 1 },
    { arbitrary: multilingual(), weight: 2 },
    { arbitrary: emoji(), weight: 1 },
    { arbitrary: reasoned(), weight: 2 },
    { arbitrary: fc.constant(''), weight: 1 },
    { arbitrary: pasted(), weight: 2 },
    { arbitrary: long(), weight: 1 },
  );
}

/** Like plainContent, and a fifth of it spells special tokens: a user can type them. */
export function anyContent(tokenizer?: Tokenizer): fc.Arbitrary<string> {
  return fc.oneof(
    SHRINK_ACROSS,
    { arbitrary: plainContent(), weight: 4 },
    { arbitrary: specialText(tokenizer), weight: 1 },
  );
}

export function prose(): fc.Arbitrary<string> {
  const words = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: MAX_PIECES });
  return fc.record({ words, end: fc.constantFrom('', '.', '?', '!', '...', ':') }).map((made) => {
    return made.words.join(' ') + made.end;
  });
}

/** Lines with indentation: runs of spaces and tabs, which vocabularies merge in their own ways. */
export function code(): fc.Arbitrary<string> {
  const line = fc.record({
    indent: fc.constantFrom('', '    ', '\t', '        ', '  '),
    text: constant(LINES),
  });
  return fc
    .array(line, { minLength: 1, maxLength: MAX_LINES })
    .map((lines) => lines.map(({ indent, text }) => indent + text).join('\n'));
}

/** Numbers of every length, since families cut digits in ones or in threes. */
export function numbers(): fc.Arbitrary<string> {
  const number = fc.oneof(
    fc.nat({ max: 9 }).map(String),
    fc.nat({ max: 99_999_999 }).map(String),
    constant(['1,000,000', '3.14', '-7', '1e-5', '50%', '2024-01-31', '²', '½', '٣']),
  );
  const parts = fc.array(number, { minLength: 1, maxLength: MAX_PIECES });
  return fc
    .record({ parts, between: fc.constantFrom(' ', ' + ', ', ', '\n', '') })
    .map((made) => made.parts.join(made.between));
}

export function multilingual(): fc.Arbitrary<string> {
  const parts = fc.array(constant(FOREIGN), { minLength: 1, maxLength: MAX_PIECES });
  return fc
    .record({ parts, between: fc.constantFrom(' ', '', ', ') })
    .map((made) => made.parts.join(made.between));
}

/** Emoji alone and in sequences: joiners, skin tones, flags, variation selectors. */
export function emoji(): fc.Arbitrary<string> {
  return fc
    .array(constant([...EMOJI, 'ok', ' ']), { minLength: 1, maxLength: MAX_PIECES })
    .map((all) => all.join(''));
}

/** A text that goes on: more than a field of two hundred characters holds, and less than models are trained on. */
export function long(): fc.Arbitrary<string> {
  return prose().map((text) => Array.from({ length: LONG }, () => text).join(' '));
}

/**
 * What is pasted out of files and pages: line ends of another system, empty lines, spaces before commas, and what is code to
 * a template, to a formatter or to a page.
 */
export function pasted(): fc.Arbitrary<string> {
  const parts = fc.array(constant([...WORDS, ...PASTED]), { minLength: 1, maxLength: MAX_PIECES });
  return fc
    .record({ parts, between: fc.constantFrom('\n\n', '\r\n', '\r\n', ' ', '\n', '  ') })
    .map((made) => made.parts.join(made.between));
}

/**
 * A thought in front of the answer, for templates that cut it out of earlier turns: whole; without its beginning, which
 * stood in the prompt, or without its end, where the length limit came first; a tag that stands alone; empty, as
 * templates write it where thinking is switched off; or with another one in it.
 */
export function reasoned(): fc.Arbitrary<string> {
  const whole = (thought: string): string => `<think>\n${thought}\n</think>`;
  const shapes = weighted<(thought: string, answer: string) => string>([
    [2, (thought, answer) => `${whole(thought)}\n\n${answer}`],
    [1, (thought, answer) => `${thought}\n</think>\n\n${answer}`],
    [1, (thought) => `<think>\n${thought}`],
    [1, () => '<think>'],
    [1, () => '</think>'],
    [2, (_, answer) => `${whole('')}\n\n${answer}`],
    [1, (thought, answer) => `${whole(whole(thought))}\n\n${answer}`],
  ]);
  return fc
    .record({
      thought: prose(),
      answer: prose(),
      shape: shapes,
      more: fc.option(prose(), { nil: undefined }),
    })
    .map(({ thought, answer, shape, more }) =>
      shape(more === undefined ? thought : `${thought}\n\n${more}`, answer),
    );
}

/** Text with white space at its ends: the place where prompt and completion meet. */
export function edged(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const edge = fc.constantFrom('', ' ', '\n', '\n\n', '  ', '\t', '\r\n', ' \n', '\u00a0');
  return fc.record({ before: edge, text, after: edge }).map((made) => made.before + made.text + made.after);
}

/** Content that spells special tokens: of the given tokenizer, or of the well-known families. */
export function specialText(tokenizer?: Tokenizer): fc.Arbitrary<string> {
  const own = [...(tokenizer?.specialIds ?? [])].flatMap((id) => tokenizer?.token(id) ?? []);
  const special = constant(own.length > 0 ? own : SPECIALS);
  const parts = fc.array(fc.oneof(special, constant(WORDS)), { maxLength: MAX_PIECES });
  return fc
    .record({ before: parts, special, after: parts, between: fc.constantFrom(' ', '', '\n') })
    .map((made) => [...made.before, made.special, ...made.after].join(made.between));
}

/** What a content exercises; an ordinary sentence has no label. */
export function textLabels(text: string): string[] {
  const labels: readonly (readonly [string, boolean])[] = [
    ['empty content', text === ''],
    ['edge white space', /^\s|\s$/u.test(text)],
    ['newline inside', text.trim().includes('\n')],
    ['empty line', /\n\s*\n/u.test(text.trim())],
    ['carriage return', text.includes('\r')],
    ['template code', /\{[{%#]/u.test(text)],
    ['indented code', /^(?: {2,}|\t)\S/mu.test(text)],
    ['digits', /\p{Nd}/u.test(text)],
    ['other scripts', /[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]/u.test(text)],
    ['combining marks', text !== text.normalize('NFC')],
    ['emoji', /\p{Extended_Pictographic}|\p{Regional_Indicator}/u.test(text)],
    ['reasoning', text.includes('</think>')],
    ['empty or nested thought', /<think>\s*(?:<\/think>|<think>)/u.test(text)],
    ['half a thought', text.includes('<think>') !== text.includes('</think>')],
    [
      'special token text',
      /<[|｜]|<\/?s>|\[\/?INST\]|<(?:start|end)_of_turn>|<(?:bos|eos|pad|unk)>/u.test(text),
    ],
  ];
  return labels.filter(([, holds]) => holds).map(([label]) => label);
}

// --- helpers ---

/** Enough for several tokens of each kind; longer contents add no new boundary. */
const MAX_PIECES = 6;
const MAX_LINES = 4;
const LONG = 8;

/** A failure in code or emoji is tried as a plain sentence first. */
const SHRINK_ACROSS = { withCrossShrink: true };

const weighted = <T>(choices: readonly (readonly [number, T])[]): fc.Arbitrary<T> =>
  fc.oneof(...choices.map(([weight, choice]) => ({ arbitrary: fc.constant(choice), weight })));

export const constant = (pieces: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...pieces);

// The simplest come first: shrinking ends there.
const WORDS = [
  'a',
  'yes',
  'the',
  'answer',
  'model',
  "don't",
  "I'm",
  'Hello',
  'reward',
  'CamelCase',
  'snake_case',
  'naïve',
  '(so',
  'to)',
  '"quoted"',
  'https://example.org/a?b=1',
];
const LINES = ['x = 1', 'return x', 'if x:', 'def f(x):', 'for (;;) {', '}', '# note', '{"key": [1, 2]}', ''];
const PASTED = [
  '{{ name }}',
  '{% if x %}',
  '{# note #}',
  '{0}',
  '%s',
  '$x',
  'so , it is',
  "ca n't",
  '&amp;',
  '<b>bold</b>',
  '\\n',
  '# Title',
  '- item',
  '```',
];
const FOREIGN = [
  'é',
  'Straße',
  'привет',
  'мир',
  '你好',
  '世界。',
  'こんにちは',
  'カタカナ',
  '안녕',
  'مرحبا',
  'שלום',
  'नमस्ते',
  'สวัสดี',
  'Ελλάδα',
  'e\u0301',
  'man\u0303ana',
  'cafe\u0301',
  'Tiếng',
  '𝒳',
  'a\u200db',
  '“quote”',
  '—',
];
const EMOJI = ['🙂', '❤️', '👍🏽', '👩‍👩‍👧', '🏳️‍🌈', '🇩🇪', '1️⃣'];
const SPECIALS = [
  '<|im_end|>',
  '<|im_start|>',
  '<|eot_id|>',
  '<|endoftext|>',
  '</s>',
  '<s>',
  '[INST]',
  '[/INST]',
  '<end_of_turn>',
  '<eos>',
  '<｜User｜>',
  '<｜end▁of▁sentence｜>',
  '<|end|>',
];
