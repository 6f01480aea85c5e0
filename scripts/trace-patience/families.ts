// Hand-written families of rows, each of one thing that has broken the reading of a row: what is short, long, alike, or looks
// like what stands around it. Rows are choices (a Sketch), written in a script's own form by rows.ts.
import type { Exchange, Sketch } from '../../src/generators/rows/dataset/kinds.ts';

export type Family = readonly Sketch[];

const turn = (user: string, answer: string, worse = 'I would rather not say'): Exchange => ({
  user,
  answer,
  // Of two answers that are alike, neither is the better one.
  worse: worse === answer ? `${worse} so` : worse,
});
const row = (user: string, answer: string, worse?: string): Sketch => ({
  exchanges: [turn(user, answer, worse)],
});
const times = (count: number, make: (at: number) => Sketch): Family =>
  Array.from({ length: count }, (_, at) => make(at));
/** About three tokens each. */
const long = (words: number): string =>
  Array.from({ length: words }, (_, at) => ['river', 'stone', 'light', 'winter'][at % 4]).join(' ');

export const FAMILIES: Readonly<Record<string, Family>> = {
  'empty and one-token answers': [
    row('Say nothing.', ''),
    row('One letter, please.', 'a'),
    row('How many?', '4', ''),
    row('Again nothing.', '', '.'),
    row('Who?', 'I'),
    row('End it.', '.', 'a'),
    row('Nothing at all, and nothing else', '', ' '),
    row('0 or 1', '0', '1'),
  ],
  'answers that repeat the prompt': [
    row('the sea is blue', 'the sea is blue', 'the sea is blue and the sea is blue'),
    row('a a a a a a', 'a a a a a a', 'a a a'),
    row('Repeat: yes yes yes', 'yes yes yes', 'yes'),
    row('four', 'four', 'four four'),
    row('two plus two is four', 'four', 'two'),
    row('abab', 'ababab', 'abab'),
    row('The sea is', ' The sea is', 'The sea is'),
  ],
  'prompts hundreds of times as long as answers': [
    row(long(70), 'a'),
    row('hi', 'hello'),
    row(long(36), '4'),
    row(long(66), ''),
    row(long(17), 'no'),
    row(long(33), 'I', 'a'),
    row('x', long(30)),
    row('1', long(12), '1'),
  ],
  'text of special tokens in what a user says': [
    row('What does <|im_start|> mean?', 'It begins a turn.'),
    row('<|im_start|>assistant\nyes<|im_end|>\n', 'no'),
    row('<|im_start|>', 'a'),
    row('Copy <|fim_prefix|> and <pad> and <s>', 'I do not.'),
    row('<|begin_of_text|><|start_header_id|>user<|end_header_id|>', 'That is another model.'),
    row('[INST] hello [/INST] <start_of_turn>model', 'Hello.', '[INST]'),
    row('<think>\n\n</think>', 'I thought.'),
  ],
  'end of text inside what a user says': [
    row('He wrote <|im_end|> and went on.', 'So he did.'),
    row('<|endoftext|>', 'a'),
    row('first<|endoftext|>second<|endoftext|>third', 'Three texts.'),
    row('ends with it <|im_end|>', 'ends without it'),
    row('</s> <eos> <|eot_id|> <end_of_turn>', 'Four of them.'),
    row('<|im_end|><|im_end|><|im_end|>', '', 'a'),
    row('<|endoftext|> begins with it', 'yes'),
  ],
  'emoji and combining characters': [
    row('🙂', '🙃'),
    row('👩‍👩‍👧‍👦 is one family', '👍🏽', '👎🏿'),
    row('e\u0301 or \u00e9?', 'e\u0301', '\u00e9'),
    row('Z\u0361\u0489a\u030a\u0327lgo', 'n\u0303o\u0302t\u0323 again'),
    row('🇳🇴🇧🇷🏴‍☠️', 'three flags 🏳️‍🌈'),
    row('zero\u200bwidth\u200djoin\ufeff', '\u200b', 'a\u200b'),
    row('\u{1d54f}\u{20000}', '\u{1d552}'),
  ],
  'other scripts, and those from right to left': [
    row('ما هو لون البحر؟', 'أزرق'),
    row('שלום עולם', 'שָׁלוֹם', 'עולם'),
    row('大海是什么颜色的？', '蓝色。', '红'),
    row('한국어로 답해 줘', '네', '아니요'),
    row('ภาษาไทยไม่มีช่องว่าง', 'ใช่'),
    row('Смешать English и русский', 'нет', 'да'),
    row('\u202eright to left\u202c and back', '\u200f١٢٣\u200f'),
    row('हिन्दी में', 'क्षत्रिय'),
  ],
  'white space and newlines at the edges': [
    row('\n\nfirst', '\nnewline first'),
    row('  two spaces  ', '  two spaces  ', ' '),
    row('tab\t', '\tx\t', '\t'),
    row('ends in a newline\n', 'ends in newlines\n\n\n'),
    row('carriage\r\nreturn', 'a\r\nb\r\n'),
    row('only a newline is the answer', '\n', '\n\n'),
    row('only a space', ' ', '  '),
    row('\u00a0no-break\u00a0', '\u3000wide\u3000'),
  ],
  'several turns': [
    { exchanges: [turn('a', 'b'), turn('c', 'd'), turn('e', 'f')] },
    { exchanges: [turn('yes', 'yes'), turn('yes', 'yes'), turn('yes', 'yes', 'no')] },
    { exchanges: [turn('one', ''), turn('two', 'three')] },
    { exchanges: [turn('q', long(10)), turn('and?', 'a')] },
    { exchanges: [turn('Count.', '1'), turn('On.', '2'), turn('On.', '3'), turn('On.', '4')] },
    { exchanges: [turn('say a', 'a\n'), turn('\nsay b', '\nb')] },
  ],
  'system messages': [
    { system: 'Be brief.', exchanges: [turn('Name a colour.', 'red')] },
    { system: 'assistant', exchanges: [turn('user', 'system')] },
    { system: long(20), exchanges: [turn('a', 'b'), turn('c', 'd')] },
    { system: '\n', exchanges: [turn('What is set?', 'a newline')] },
    { system: 'Never write <|im_end|>.', exchanges: [turn('Why?', 'I was told so.')] },
    row('no system here', 'none'),
  ],
  'the same row many times': times(10, () => row('The same again', 'and again')),
  'answers that look like headers': [
    row('Who speaks?', 'assistant'),
    row('Next line', 'assistant\n'),
    row('Both', 'user\nHello\nassistant\nHi'),
    row('Old style', '### Assistant: yes\n### Human: no', '### Human:'),
    row('Roles', 'system', 'user'),
    row('assistant\n', 'assistant\nassistant\n', 'assistant'),
    row('Q: a?', 'A: a\nQ: b?', 'A:'),
    row('prompt', 'completion:', 'prompt:'),
  ],
  'JSON, code and numbers': [
    row('{"role": "user"}', '{"role": "assistant", "content": "\\n"}', '{}'),
    row('A function', 'def f(x):\n    return x\n', 'def f(x):\n\treturn'),
    row('2^64', '18446744073709551616', '18446744073709551615'),
    row('3.14159', '2.71828', '-2.7e-8'),
    row('1 000 000', '1,000,000', '1.000.000'),
    row('```js\nlet a = `b`;\n```', '```\n```', '```'),
    row('{% if messages %}{{ x }}{% endif %}', '{{ messages[0] }}', '{# #}'),
    row('<a href="#">&amp;</a>', '\\u0041\\n\\\\', '\\'),
  ],
  'a single row': [row('Only one', 'row there is')],
  'two rows of one length': [row('one two', 'three', 'fours'), row('two one', 'seven', 'eight')],
  'one prompt with other answers': [
    row('Name a number.', 'one', 'two'),
    row('Name a number.', 'two', 'one'),
    row('Name a number.', 'one two', 'two'),
    row('Name a number.', 'two', 'three'),
    row('Name a number', '.', 'a'),
    row('Name a number.', '', 'one'),
    row('Name a', ' number.', ' thing'),
    row('Name a number.', 'one', 'three'),
  ],
};
