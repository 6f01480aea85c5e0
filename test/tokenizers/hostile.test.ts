// Templates and tokenizers that somebody has sent us: each is answered with a sentence, while everything here is synchronous,
// so that what does not come to an end would hang this file.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { familyFolder, loadTokenizer } from '../../src/tokenizers/load.ts';
import { checkTemplate, renderChat } from '../../src/tokenizers/template.ts';

const NO_END = 'does not come to an end on the conversation';
/** Of a bound on its memory and one on its time, whichever comes first on this machine. */
const EITHER = /does not come to an end on|fails on/;
const render = (template: string, content = 'Hello.') =>
  renderChat(template, { messages: [{ role: 'user', content }], addGenerationPrompt: true });

describe('a chat template', () => {
  test.each([
    ['loops in loops', loops('{% set x = 1 %}', 4), NO_END],
    [
      'a loop that a macro calls again',
      '{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}',
      'fails on',
    ],
    ['two calls of each, deep enough', doublingMacros(40), EITHER],
    ['a long range', '{{ range(10 ** 12) }}', /range\(\) of 1000000000000 is longer than the 100000/],
    ['a range without an end', '{{ range(10 ** 300) }}', 'is longer than the 100000'],
    ['a range that is joined', '{{ range(300000000) | join }}', /range\(\) of 300000000 /],
    ['a text twice as long each time', grown('""', 's ~ s ~ "ab"', 60), 'it makes a text of'],
    ['a list twice as long each time', grown('[1]', 's + s', 60), EITHER],
    ['lists of themselves as JSON', nested('[s, s]', 's | tojson'), EITHER],
    ['lists of themselves as text', nested('[s, s]', "'' ~ s"), EITHER],
    ['objects of themselves as JSON', nested('{"a": s, "b": s}', 's | tojson'), EITHER],
    ['loops over a list with a name', `{% set r = range(3000) %}${over('r', 3)}`, NO_END],
    [
      'many long texts',
      `{% set n = namespace(l=[]) %}${loops('{% set n.l = n.l + [messages[0].content ~ n.l | length] %}', 2)}`,
      EITHER,
    ],
    [
      'many long lists',
      `{% set n = namespace(l=[]) %}${loops('{% set n.l = n.l + [range(100000)] %}', 1)}`,
      EITHER,
    ],
    ['an indent of a billion', '{{ {"a": [1]} | tojson(indent=1000000000) }}', 'fails on'],
  ])('%s', (_, template, words) => {
    expect(render(template)).toEqual({ problem: expect.stringMatching(words) });
  });

  test('one that does not come to an end is not loaded, and is waited for once', () => {
    const template = loops('{% set x = 2 %}', 3);
    expect(checkTemplate(template).problem).toContain('does not come to an end on a conversation of two');
    for (let again = 0; again < 1_000; again++) render(template);
  });

  test('what is long because its conversation is long is rendered', () => {
    const content = 'word '.repeat(400_000);
    const template = '{% for m in messages %}<|{{ m.role }}|>{{ m.content | trim }}{% endfor %}';
    expect(render(template, content)).toEqual({ text: `<|user|>${content.trim()}` });
    const messages = Array.from({ length: 500 }, (_, at) => ({
      role: 'user' as const,
      content: `message ${at}`,
    }));
    const slices = '{% for m in messages %}{{ messages[loop.index0:][0].content }};{% endfor %}';
    expect(renderChat(slices, { messages, addGenerationPrompt: false })).toEqual({
      text: messages.map(({ content }) => `${content};`).join(''),
    });
  });

  test('a range counts as in Python', () => {
    expect(
      render(
        '{{ range(3) | list }}{{ range(2, 9, 3) | list }}{{ range(3, 0, -2) | list }}{{ range(3, 0) | list }}',
      ),
    ).toEqual(render('{{ [0, 1, 2] }}{{ [2, 5, 8] }}{{ [3, 1] }}{{ [] }}'));
  });

  test('a long one that does not compile: its line is named where it is soon found', () => {
    const lines = (count: number): string => '{{ messages }}\n'.repeat(count);
    expect(checkTemplate(`${lines(50)}{% if %}`).problem).toContain('line 51 ({% if %})');
    expect(checkTemplate(`${lines(50_000)}{% if %}${lines(50_000)}`).problem).toMatch(/^it does not compile/);
    expect(checkTemplate(lines(1_000_000)).problem).toContain('no template has more than');
  });

  test('brackets without end are a sentence', () => {
    expect(checkTemplate(`{{ ${'('.repeat(200_000)} }}`).problem).toContain('does not compile');
    expect(checkTemplate('{% if a %}'.repeat(100_000)).problem).toContain('does not compile');
  });
});

describe('a tokenizer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof tokenizers '));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function changed(name: string, change: (tokenizer: Record<string, unknown>) => void): string {
    const own = join(folder, name);
    cpSync(familyFolder('qwen'), own, { recursive: true });
    const file = join(own, 'tokenizer.json');
    const tokenizer = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    change(tokenizer);
    writeFileSync(file, JSON.stringify(tokenizer));
    return own;
  }

  const split = (pattern: string) => (tokenizer: Record<string, unknown>) => {
    tokenizer.pre_tokenizer = {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
      ],
    };
  };

  test('a copy of a good one is as good', () => {
    const own = loadTokenizer(changed('copy', () => {}));
    const ours = loadTokenizer(familyFolder('qwen'));
    if ('problem' in own || 'problem' in ours) throw new Error('it must load');
    const ids = ours.tokenizer.encode('Hello, 13 worlds!');
    expect(own.tokenizer.encode('Hello, 13 worlds!')).toEqual(ids);
    expect(own.tokenizer.decode(ids)).toBe('Hello, 13 worlds!');
    expect(own.tokenizer.specialIds).toEqual(ours.tokenizer.specialIds);
  });

  test.each([
    ['on a few letters', '(a+)+\\u0000'],
    ['on a few spaces', '(\\s+)+\\u0000'],
  ])('a regular expression that backtracks %s is refused', (name, pattern) => {
    expect(loadTokenizer(changed(name, split(pattern)))).toEqual({
      problem: expect.stringContaining('look for a regular expression in its tokenizer.json that backtracks'),
    });
  });

  test('one that backtracks on no word of ours ends the command in a sentence, each time', () => {
    const loaded = loadTokenizer(changed('late', split('(z+)+\\u0000|\\w+')));
    if ('problem' in loaded) throw new Error(loaded.problem);
    for (let again = 0; again < 3; again++)
      expect(() => loaded.tokenizer.encode(`${'z'.repeat(48)}!`)).toThrow(
        'does not come to an end on a text of 49 characters',
      );
  });

  test('an added token of five million characters', () => {
    const own = changed('token', (tokenizer) => {
      const [first] = tokenizer.added_tokens as object[];
      (tokenizer.added_tokens as object[]).push({ ...first, id: 5_000, content: 'x'.repeat(5_000_000) });
    });
    const loaded = loadTokenizer(own);
    if (!('problem' in loaded)) expect(loaded.tokenizer.encode('Hello').length).toBeGreaterThan(0);
    else expect(loaded.problem).toContain('look at its added tokens');
  });
});

function loops(body: string, deep: number): string {
  const begin = Array.from({ length: deep }, (_, at) => `{% for i${at} in range(100000) %}`).join('');
  return `${begin}${body}${'{% endfor %}'.repeat(deep)}`;
}

function grown(first: string, next: string, times: number): string {
  return `{% set s = ${first} %}${`{% set s = ${next} %}`.repeat(times)}{{ s | length }}`;
}

function nested(twice: string, shown: string): string {
  return `{% set s = [1] %}${`{% set s = ${twice} %}`.repeat(60)}{{ ${shown} }}`;
}

function over(list: string, depth: number): string {
  return `{% for x in ${list} %}`.repeat(depth) + '{% endfor %}'.repeat(depth);
}

function doublingMacros(count: number): string {
  const macros = Array.from(
    { length: count },
    (_, at) => `{% macro f${at + 1}() %}{{ f${at}() }}{{ f${at}() }}{% endmacro %}`,
  );
  return `{% macro f0() %}x{% endmacro %}${macros.join('')}{{ f${count}() }}`;
}
