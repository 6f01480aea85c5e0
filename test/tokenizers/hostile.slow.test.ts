// Templates and tokenizers that somebody has sent us: each is answered with a sentence, while everything here is synchronous,
// so that what does not come to an end would hang this file.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { familyFolder, loadTokenizer } from '../../src/tokenizers/load.ts';
import { checkTemplate, renderChat } from '../../src/tokenizers/template.ts';

const NO_END = 'does not come to an end on the conversation';
const PUT_TOGETHER = 'it puts too long texts together in one operation';
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
    ['a long text that is looked for in a long one', twoLong('{{ n.part in n.text }}'), PUT_TOGETHER],
    ['a long text that a long one is split at', twoLong('{{ n.text.split(n.part) }}'), PUT_TOGETHER],
    ['a long text between many', twoLong('{{ range(1000) | join(n.text) }}'), PUT_TOGETHER],
    ['a long text between letters', twoLong('{{ n.text | join(n.part) }}'), PUT_TOGETHER],
    ['a long text for each letter', twoLong("{{ n.text | replace('a', n.part) }}"), PUT_TOGETHER],
    ['the same as a method', twoLong("{{ n.text.replace('a', n.part) }}"), PUT_TOGETHER],
    [
      'the same in a block',
      twoLong("{% filter replace('a', n.part) %}{{ n.text }}{% endfilter %}"),
      PUT_TOGETHER,
    ],
    [
      'a long separator in JSON',
      twoLong("{{ range(1000) | tojson(separators=(n.text, ':')) }}"),
      PUT_TOGETHER,
    ],
    ['an indent of half a billion', "{{ 'a\\na' | indent(530000000) }}", PUT_TOGETHER],
    [
      'a long text in many places',
      twoLong(
        '{% set l = [n.text, n.text, n.text, n.text] %}{{ (l + l + l + l + l + l + l + l + l + l) | tojson | length }}',
      ),
      PUT_TOGETHER,
    ],
    ['a refusal of many lines', "{{ raise_exception('no\n\nx') }}", /conversation: no x$/],
    [
      'a refusal of half a million characters',
      twoLong('{{ raise_exception(n.text) }}'),
      /a… \(524,288 characters\)$/,
    ],
    ['an indent of a billion', '{{ {"a": [1]} | tojson(indent=1000000000) }}', 'fails on'],
  ])('%s', (_, template, words) => {
    expect(render(template)).toMatchObject({ problem: expect.stringMatching(words) });
  });

  test('one that does not come to an end is not loaded, and is waited for once', () => {
    const template = loops('{% set x = 2 %}', 3);
    expect(checkTemplate(template).problem).toContain('does not come to an end on a conversation of two');
    for (let again = 0; again < 1_000; again++) render(template);
  });

  test('one whose every rendering is within its deadline, and all of them are not', () => {
    const template = '{% for a in range(100) %}{% for b in range(1000) %}{% endfor %}{% endfor %}x';
    expect(render(template)).toEqual({ text: 'x' });
    let ended: unknown;
    for (let again = 0; again < 1_000 && ended === undefined; again++) {
      // Another conversation each time: what was rendered once is not rendered again.
      const rendered = render(template, `${again}`);
      if ('problem' in rendered) ended = rendered.problem;
    }
    expect(ended).toContain(NO_END);
  });

  test('what long conversations are asked for is no long operation', () => {
    const content = 'word '.repeat(400_000);
    for (const template of [
      "{{ messages[0].content.split('</think>')[-1] }}",
      "{{ messages[0].content | replace('<|im_start|>', '') }}",
      '{% macro of(text, more) %}{{ text }}{% endmacro %}{{ of(messages[0].content, messages[0].content) }}',
      "{{ messages[0].content if '<tool_response>' not in messages[0].content }}",
      '{{ messages[0].content | default(messages[0].content) }}',
      "{{ messages[0].get('content', messages[0].content) }}",
      '{{ messages[0].content if messages[0].content.startswith(messages[0].content) }}',
      '{{ messages[0].content if messages[0] in messages }}',
      '{{ messages[0].content if messages[0].content not in [] }}',
      '{{ messages[0].content[-60000:] if messages[0].content[-60000:] in messages[0].content[:60000] }}{{ messages[0].content[60000:] }}',
      "{{ messages[0].content.replace(messages[0].content[:2000] ~ 'x', '') }}",
      "{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | join('\n') }}",
    ])
      expect(render(template, content), template).toEqual({ text: content });
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
    expect(checkTemplate(`${lines(3_000)}{% if %}${lines(3_000)}`).problem).toMatch(/^it does not compile/);
    expect(checkTemplate(lines(1_000_000)).problem).toContain('no template has more than');
  });

  test('brackets without end are a sentence', () => {
    expect(checkTemplate(`{{ ${'('.repeat(90_000)} }}`).problem).toContain('does not compile');
    expect(checkTemplate('{% if a %}'.repeat(9_000)).problem).toContain('does not compile');
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

  test.each<[string, (tokenizer: Record<string, unknown>) => void, string]>([
    [
      'an added token of five million characters',
      (tokenizer) => {
        const [first] = tokenizer.added_tokens as object[];
        (tokenizer.added_tokens as object[]).push({ ...first, id: 5_000, content: 'x'.repeat(5_000_000) });
      },
      'characters of added tokens; 2,097,152 are read at most',
    ],
    [
      'many long tokens',
      (tokenizer) => {
        const tokens = Array.from({ length: 50_000 }, (_, id) => [String(id).padStart(100, '_'), 0]);
        tokenizer.model = { type: 'Unigram', unk_id: 0, vocab: tokens };
      },
      'characters of vocabulary; 4,194,304 are read at most',
    ],
    [
      'a long replacement',
      (tokenizer) => {
        tokenizer.normalizer = { type: 'Replace', pattern: { String: 'Z' }, content: 'y'.repeat(9_000_000) };
      },
      'characters of normalizer; 100,000 are read at most',
    ],
    [
      'many rules',
      (tokenizer) => {
        const rule = { type: 'Replace', pattern: { String: 'q' }, content: 'x' };
        tokenizer.decoder = { type: 'Sequence', decoders: Array.from({ length: 20_000 }, () => rule) };
      },
      'characters of decoder; 100,000 are read at most',
    ],
    [
      'pieces of no length',
      (tokenizer) => {
        const none = { type: 'FixedLength', length: 0 };
        tokenizer.pre_tokenizer = { type: 'Sequence', pretokenizers: [none] };
      },
      'has a pre_tokenizer that cuts a text into pieces of no length',
    ],
  ])('%s: it is not even made ready', (name, change, words) => {
    expect(loadTokenizer(changed(name, change))).toEqual({ problem: expect.stringContaining(words) });
  });

  test("SentencePiece's table of characters is no rule, however long", () => {
    const table = { type: 'Precompiled', precompiled_charsmap: 'A'.repeat(1_000_000) };
    const own = changed('table', (tokenizer) => {
      tokenizer.normalizer = { type: 'Sequence', normalizers: [table, { type: 'NFC' }] };
    });
    expect(loadTokenizer(own)).toHaveProperty('tokenizer');
  });

  test('one that fails on a text, or has no id for a piece of it, says on what', () => {
    const unknown = changed('unknown', (tokenizer) => {
      tokenizer.model = {
        type: 'WordPiece',
        vocab: { a: 0, '##a': 1 },
        continuing_subword_prefix: '##',
        max_input_chars_per_word: 100,
      };
      tokenizer.pre_tokenizer = { type: 'Whitespace' };
      tokenizer.added_tokens = [];
    });
    const loaded = loadTokenizer(unknown);
    expect(loaded).toEqual({ problem: expect.stringContaining('has no unk_token') });
    const growing = loadTokenizer(
      changed('growing', (tokenizer) => {
        const times = (pattern: string, content: string) => ({
          type: 'Replace',
          pattern: { String: pattern },
          content,
        });
        tokenizer.normalizer = {
          type: 'Sequence',
          normalizers: [
            times('Ж', 'Ѣ'.repeat(9_000)),
            times('Ѣ', 'Ѳ'.repeat(9_000)),
            times('Ѳ', 'Ѳ'.repeat(9_000)),
          ],
        };
      }),
    );
    if ('problem' in growing) throw new Error(growing.problem);
    for (let again = 0; again < 3; again++)
      expect(() => growing.tokenizer.encode('Ж')).toThrow(
        'fails on a text of 1 characters (Invalid string length)',
      );
  });

  test('one whose every text is within its deadline, and all of them are not', () => {
    const loaded = loadTokenizer(changed('slow', split('(?:z{1,3}){13}\\u0000|\\w+')));
    if ('problem' in loaded) throw new Error(loaded.problem);
    expect(() => {
      for (let again = 0; again < 1_000; again++) loaded.tokenizer.encode(`${'z'.repeat(28)}!${again}`);
    }).toThrow(/does not come to an end on a text of \d+ characters/);
  });
});

function loops(body: string, deep: number): string {
  const begin = Array.from({ length: deep }, (_, at) => `{% for i${at} in range(100000) %}`).join('');
  return `${begin}${body}${'{% endfor %}'.repeat(deep)}`;
}

function twoLong(shown: string): string {
  const double = '{% for i in range(16) %}{% set n.part = n.part ~ n.part %}{% endfor %}';
  return `{% set n = namespace(part='aaaa') %}${double}{% set n.text = n.part ~ n.part %}${shown}`;
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
