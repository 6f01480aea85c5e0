// What templates make of contents and turns: those that change a content, open turns alike or prompt otherwise are told, and those of
// real families are not, whatever the contents are.
import { describe, expect, test } from 'vitest';
import { families } from '../../src/tokenizers/load.ts';
import { flags, talk, world } from './rows.ts';

const OF_QWEN = world('qwen');
/** As Qwen's, with what stands for the content, for the role and behind the header of a prompt. */
const template = ({ content = "m['content']", role = "m['role']", prompt = 'assistant\\n' } = {}): string =>
  `{% for m in messages %}{{ '<|im_start|>' + ${role} + '\\n' + ${content} + '<|im_end|>\\n' }}{% endfor %}` +
  `{% if add_generation_prompt %}{{ '<|im_start|>${prompt}' }}{% endif %}`;
const of = (given: Parameters<typeof template>[0]) => world('qwen', template(given));
const NEW = ['content-changed', 'turns-alike', 'other-generation-prompt'];
const said = (value: unknown, options: Parameters<typeof flags>[1]): string[] =>
  flags(value, options).filter((id) => NEW.includes(id));

const LINES = { messages: talk('The answer is 7.\nAdd three to four.', 'What is 3 plus 4?\nExplain.') };

describe('a content that the template changes', () => {
  test.each([
    ['a slice', "m['content'][:12]"],
    ['the first line', "m['content'].split('\\n')[0]"],
    ['lower case', "m['content'].lower()"],
    ['a replaced word', "m['content'].replace('answer', 'result')"],
    ['the end alone', "m['content'][-10:]"],
  ])('%s', (_what, content) => {
    expect(said(LINES, of({ content }))).toEqual(['content-changed']);
  });

  test.each([
    ['as it is', "m['content']"],
    ['trimmed', "m['content'] | trim"],
    ['with its lines joined', "m['content'].replace('\\n', ' ')"],
  ])('is not one that is printed %s', (_what, content) => {
    expect(said(LINES, of({ content }))).toEqual([]);
  });

  test('is no thought, no image and no answer of a tool', () => {
    const content = "m['content'].split('</think>')[-1].replace('<image>', '')";
    const messages = talk('<think>Three and four.</think>It is 7.', '<image>What is it?');
    expect(said({ messages }, of({ content }))).toEqual([]);
    expect(said(LINES, of({ content }))).toEqual([]);
  });

  test('is told once, in a row of many turns that say the same', () => {
    const messages = Array.from({ length: 2_000 }, () => talk('Yes, it is so.', 'Is it so?')).flat();
    expect(said({ messages }, of({}))).toEqual([]);
    expect(
      said({ messages: [...messages, ...LINES.messages] }, of({ content: "m['content'][:14]" })),
    ).toEqual(['content-changed']);
  });
});

describe('turns', () => {
  test('that are opened alike', () => {
    expect(said(LINES, of({ role: "'user'", prompt: 'user\\n' }))).toEqual(['turns-alike']);
    expect(said({ messages: LINES.messages.slice(0, 1) }, of({ role: "'user'" }))).toEqual([]);
  });

  test.each([
    ['assistant:', true],
    ['model\\n', true],
    ['assistant\\n<think>\\n', false],
    ['assistant', false],
  ])('that a prompt opens with %s', (prompt, told) => {
    expect(said(LINES, of({ prompt }))).toEqual(told ? ['other-generation-prompt'] : []);
  });
});

test.each(families)('the template of %s does none of it', (family) => {
  const contents = [
    'Two\n\nlines.  Spaced',
    '  Blank around \n',
    'Ünï 漢字 🙂',
    'a < b & c > d',
    '{"a": [1]}',
    '# Head\n- item',
  ];
  for (const content of contents)
    expect(said({ messages: [...talk(content, content), ...talk('Fine.', content)] }, world(family))).toEqual(
      [],
    );
  expect(said(LINES, family === 'qwen' ? OF_QWEN : world(family))).toEqual([]);
});
