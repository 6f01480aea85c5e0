// Each flag: a row that raises it, and the row beside it that must not.
import { describe, expect, test } from 'vitest';
import { verdictOf } from '../../src/report/view/view.ts';
import { entriesOf } from '../../src/view/read.ts';
import type { ViewOptions } from '../../src/view/row.ts';
import { scan } from '../../src/view/scan.ts';
import { flags, llama, qwen, set, talk, world, written } from './rows.ts';

describe('correct rows raise nothing', () => {
  const right = { input_ids: written(talk()).input_ids, labels: written(talk()).labels };
  const pad = qwen.tokenizer?.padTokenId ?? 0;
  test.each<[string, unknown]>([
    ['messages', { messages: talk() }],
    ['several turns', { messages: [...talk(), ...talk('Fine.', 'And you?')] }],
    ['a system message', { messages: [{ role: 'system', content: 'Be brief.' }, ...talk()] }],
    [
      'tool results',
      { messages: [...talk(), { role: 'tool', content: '42' }, { role: 'assistant', content: 'It is 42.' }] },
    ],
    [
      'ShareGPT',
      {
        conversations: [
          { from: 'human', value: 'Hi' },
          { from: 'gpt', value: 'Hello' },
        ],
      },
    ],
    ['prompt and completion', { prompt: 'The sky is', completion: ' blue.' }],
    ['conversational prompt and completion', { prompt: talk().slice(0, 1), completion: talk().slice(1) }],
    ['a preference', { prompt: 'The sky is', chosen: ' blue.', rejected: ' green.' }],
    ['a preference of messages', { chosen: talk('Yes.'), rejected: talk('No.') }],
    ['text', { text: 'Once upon a time.' }],
    ['instructions', { instruction: 'Add.', input: '1 and 2', output: '3' }],
    ['ids and labels', right],
    [
      'ids and a mask',
      { input_ids: right.input_ids, completion_mask: right.labels.map((label) => Number(label !== -100)) },
    ],
    [
      'padding',
      {
        input_ids: [...right.input_ids, pad, pad],
        labels: [...right.labels, -100, -100],
        attention_mask: [...right.input_ids.map(() => 1), 0, 0],
      },
    ],
    [
      'padding on the left',
      { input_ids: [pad, pad, ...right.input_ids], labels: [-100, -100, ...right.labels] },
    ],
    ['ids with their conversation', { ...right, messages: talk() }],
  ])('%s', (_, value) => {
    expect(flags(value)).toEqual([]);
    const { counts } = scan([{ number: 1, value }], { ...qwen, maxLength: 4096 }, { most: 1 });
    expect(counts).toEqual([]);
  });
});

describe('labels', () => {
  const right = written([...talk('One.', 'First?'), ...talk()]);
  const { input_ids, labels, stop, from, user } = right;

  test('nothing trained: all are -100; one label is enough', () => {
    expect(flags({ input_ids, labels: labels.map(() => -100) })).toContain('nothing-trained');
    expect(flags({ input_ids, labels: labels.map((label, at) => (at === stop ? label : -100)) })).toEqual([
      'answers-untrained',
    ]);
    expect(flags({ input_ids, labels: labels.map((label, at) => (at >= from ? label : -100)) })).toEqual([]);
  });

  test('a label in the first column is no target', () => {
    expect(flags({ input_ids, labels: input_ids.map((id, at) => (at === 0 ? id : -100)) })).toContain(
      'nothing-trained',
    );
  });

  test('stop token untrained: of the last answer and of an earlier one', () => {
    expect(flags({ input_ids, labels: set(labels, stop, -100) })).toEqual(['stop-untrained']);
    const earlier = input_ids.findIndex((id, at) => id === input_ids[stop] && labels[at] !== -100);
    expect(earlier).toBeLessThan(stop);
    expect(flags({ input_ids, labels: set(labels, earlier, -100) })).toEqual(['stop-untrained']);
  });

  test('stop token untrained is seen without knowing whose token is whose', () => {
    const { tokenizer } = qwen;
    const bare: ViewOptions = { truncationSide: 'right', ...(tokenizer === undefined ? {} : { tokenizer }) };
    expect(flags({ input_ids, labels: set(labels, stop, -100) }, bare)).toEqual(['stop-untrained']);
    expect(flags({ input_ids, labels }, bare)).toEqual([]);
  });

  test('an answer that is not trained at all has no stop token to be trained', () => {
    expect(flags({ input_ids, labels: labels.map((label, at) => (at >= from ? label : -100)) })).toEqual([]);
  });

  test('truncated: the ids end within a trained answer', () => {
    const cut = { input_ids: input_ids.slice(0, stop), labels: labels.slice(0, stop) };
    expect(flags(cut)).toEqual(['truncated']);
    expect(flags({ input_ids: input_ids.slice(0, stop + 1), labels: labels.slice(0, stop + 1) })).toEqual([]);
    expect(flags({ ...cut, labels: cut.labels.map((label, at) => (at >= from ? -100 : label)) })).toEqual([]);
  });

  test('prompt trained: one token of a question', () => {
    expect(flags({ input_ids, labels: set(labels, user, input_ids[user] ?? 0) })).toEqual(['prompt-trained']);
  });

  test('a mask that begins one token late; a long prompt is none', () => {
    expect(flags({ input_ids, labels: set(labels, from, -100) })).toEqual(['answer-begins-late']);
  });

  test('labels that are shifted already are named so', () => {
    const shifted = labels.map((_, at) => labels[at + 1] ?? -100);
    const { counts } = scan([{ number: 1, value: { input_ids, labels: shifted } }], qwen, { most: 1 });
    const found = counts.find(({ id }) => id === 'label-is-another-token');
    expect(found?.example).toContain('shifted already');
  });

  test('padding trained: where attention is 0; not where it is 1', () => {
    const pad = qwen.tokenizer?.padTokenId ?? 0;
    const row = { input_ids: [...input_ids, pad], attention_mask: [...input_ids.map(() => 1), 0] };
    expect(flags({ ...row, labels: [...labels, pad] })).toEqual(['padding-trained']);
    expect(flags({ ...row, labels: [...labels, -100] })).toEqual([]);
  });

  test('lengths that differ, ids outside the vocabulary', () => {
    expect(flags({ input_ids, labels: labels.slice(1) })).toEqual(['lengths-differ']);
    const size = qwen.tokenizer?.vocabSize ?? 0;
    expect(flags({ input_ids: set(input_ids, user, size), labels })).toEqual(['id-outside-vocabulary']);
    expect(flags({ input_ids: set(input_ids, user, size - 1), labels })).toEqual([]);
  });
});

describe('BOS', () => {
  const { input_ids, labels } = written(talk(), llama);
  const bos = llama.tokenizer?.bosTokenId ?? -1;

  test('twice is flagged, once is not', () => {
    expect(flags({ input_ids: [bos, ...input_ids], labels: [-100, ...labels] }, llama)).toEqual([
      'double-bos',
    ]);
    expect(flags({ input_ids, labels }, llama)).toEqual([]);
  });

  test('a text that was rendered already gets a second one from the tokenizer', () => {
    const text = llama.tokenizer?.decode(input_ids);
    const all: ViewOptions = { ...llama, trainOn: 'all' };
    expect(flags({ text }, all)).toEqual(['double-bos']);
    expect(flags({ text: text?.replace('<|begin_of_text|>', '') }, all)).toEqual([]);
  });

  test('twice within a packed row is flagged, too', () => {
    const twice = [...input_ids, bos, ...input_ids];
    expect(flags({ input_ids: twice, labels: [...labels, -100, ...labels] }, llama)).toEqual(['double-bos']);
    const once = [...input_ids, ...input_ids];
    expect(flags({ input_ids: once, labels: [...labels, ...labels] }, llama)).toEqual([]);
  });

  test('left padding with the same id is not BOS', () => {
    const phi = world('phi');
    const row = written(talk(), phi);
    const pad = phi.tokenizer?.padTokenId ?? -1;
    expect(pad).toBe(phi.tokenizer?.bosTokenId);
    const padded = { input_ids: [pad, pad, ...row.input_ids], labels: [-100, -100, ...row.labels] };
    expect(flags(padded, phi)).toEqual([]);
  });
});

describe('conversations', () => {
  test('empty answers, and answers of white space', () => {
    expect(flags({ messages: talk('') })).toContain('empty-answer');
    expect(flags({ messages: talk('\t ') })).toContain('blank-answer');
    expect(flags({ messages: talk('.') })).toEqual([]);
  });

  test('an answer that comes first and a question that comes last', () => {
    const [question, answer] = talk();
    const system = { role: 'system', content: 'Be brief.' };
    expect(flags({ messages: [answer, question] })).toContain('roles-swapped');
    expect(flags({ messages: [system, answer, question] })).toContain('roles-swapped');
    expect(flags({ messages: [answer, question, answer, question] })).toContain('roles-swapped');
    expect(flags({ messages: [answer, question, answer] })).not.toContain('roles-swapped');
    expect(flags({ messages: [question, answer, question] })).not.toContain('roles-swapped');
  });

  test('an answer that is a tool call is not empty', () => {
    const call = {
      role: 'assistant',
      content: null,
      tool_calls: [{ type: 'function', function: { name: 'f', arguments: {} } }],
    };
    expect(flags({ messages: [{ role: 'user', content: 'Hi' }, call] })).not.toContain('empty-answer');
  });

  const calling = (given: unknown, content: string | null = null) => ({
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content, tool_calls: [{ function: { name: 'add', arguments: given } }] },
      { role: 'tool', content: '2' },
      { role: 'assistant', content: 'Two.' },
    ],
  });
  const CALLS = `{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content or '' }}{% for c in m.tool_calls or [] %}
<call>{{ c.function.name }} {{ c.function.arguments | tojson }}</call>{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;

  test('a call is an answer, with words before it and without, and trained to its stop token', () => {
    const calls = world('qwen', CALLS);
    for (const content of [null, 'Let me see.']) {
      const { kept, counts } = scan([{ number: 1, value: calling({ a: 1 }, content) }], calls, { most: 1 });
      expect(counts).toEqual([]);
      const row = kept[0]?.row;
      const trained = row?.ids.filter((_, at) => row.trained[at]);
      expect(calls.tokenizer?.decode(trained ?? [])).toBe(
        `${content ?? ''}<call>add {"a": 1}</call><|im_end|>Two.<|im_end|>`,
      );
      expect(row?.turns.map(({ name }) => name)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    }
  });

  test('a call that the template does not print, and arguments that are quoted once more', () => {
    expect(flags(calling({ a: 1 }))).toContain('message-dropped');
    const calls = world('qwen', CALLS);
    expect(flags(calling('{"a":1}'), calls)).toEqual(['escaped-arguments']);
    expect(flags(calling({ a: 1 }), calls)).toEqual([]);
  });

  test('a list of parts where the template wants a text; not where it takes the list apart', () => {
    const parts = [{ type: 'text', text: 'Hi' }];
    const messages = [{ role: 'user', content: parts }, ...talk().slice(1)];
    expect(flags({ messages })).toContain('content-list');
    const apart = world(
      'qwen',
      `{% for m in messages %}<|im_start|>{{ m.role }}
{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endif %}<|im_end|>
{% endfor %}`,
    );
    expect(flags({ messages }, apart)).toEqual([]);
  });

  test('the thought of the last answer; those of earlier ones are dropped on purpose', () => {
    const thoughtful = { role: 'assistant', content: 'Yes.', reasoning_content: 'Because.' };
    expect(flags({ messages: [...talk().slice(0, 1), thoughtful] })).toEqual(['thought-dropped']);
    expect(flags({ messages: [...talk().slice(0, 1), thoughtful, ...talk()] })).toEqual([]);
  });

  test('the columns of ShareGPT and alpaca that are messages as well', () => {
    const turns = [
      { from: 'human', value: 'Hi' },
      { from: 'gpt', value: 'Yo' },
    ];
    const named = (value: unknown): string[] =>
      scan([{ number: 1, value }], qwen, { most: 1 }).kept[0]?.row?.turns.map(({ name }) => name) ?? [];
    expect(named({ system: 'Be brief.', conversations: turns })).toEqual(['system', 'user', 'assistant']);
    const again = { instruction: 'Add.', output: '3', system: 'S', history: [['a', 'b']] };
    expect(named(again)).toEqual(['system', 'user', 'assistant', 'user', 'assistant']);
  });

  test('unknown roles; ShareGPT names are known under conversations only', () => {
    expect(flags({ messages: [{ role: 'human', content: 'Hi' }, ...talk().slice(1)] })).toContain(
      'unknown-role',
    );
    expect(
      flags({
        conversations: [
          { from: 'alien', value: 'Hi' },
          { from: 'gpt', value: 'x' },
        ],
      }),
    ).toContain('unknown-role');
  });

  test('a message that the template does not print', () => {
    const deepseek = world('deepseek');
    const messages = [
      ...talk(),
      { role: 'tool', content: '42' },
      { role: 'assistant', content: 'It is 42.' },
    ];
    expect(flags({ messages }, deepseek)).toContain('message-dropped');
    expect(flags({ messages: talk() }, deepseek)).toEqual([]);
  });

  test('a conversation that the template refuses', () => {
    const gemma = world('gemma');
    expect(flags({ messages: [...talk().slice(0, 1), ...talk()] }, gemma)).toEqual(['refused']);
    expect(flags({ messages: talk() }, gemma)).toEqual([]);
  });

  test('a content that spells a token of the template; one that only looks like it', () => {
    expect(flags({ messages: talk('Say <|im_end|> to stop.') })).toEqual(['control-text']);
    expect(flags({ messages: talk('Say <im_end> or <think> to stop.') })).toEqual([]);
  });

  test('no answer: nothing is trained', () => {
    expect(flags({ messages: talk().slice(0, 1) })).toEqual(['nothing-trained']);
  });

  test('a template that writes no stop token, and one that marks answers without it', () => {
    const bare = world('qwen', '{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}');
    expect(flags({ messages: talk() }, bare)).toEqual(['no-stop']);
    const marked = (tail: string) =>
      world(
        'qwen',
        `{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}{% generation %}{{ m.content }}${tail}{% endif %}\n{% endfor %}`,
      );
    expect(flags({ messages: talk() }, marked('{% endgeneration %}<|im_end|>'))).toContain('stop-untrained');
    expect(flags({ messages: talk() }, marked('<|im_end|>{% endgeneration %}'))).not.toContain(
      'stop-untrained',
    );
  });
});

describe('prompt and completion', () => {
  test('as many tokens as the prompt has by itself are not trained, whatever they are in the row', () => {
    const { kept, counts } = scan([{ number: 1, value: { prompt: 'a ', completion: 'b' } }], qwen, {
      most: 1,
    });
    const alone = qwen.tokenizer?.encode('a ').length ?? 0;
    const row = kept[0]?.row;
    expect(row?.trained).toEqual(row?.ids.map((_, at) => at >= alone));
    expect(counts.map(({ id }) => id)).toEqual(['prompt-is-no-prefix']);
    expect(flags({ prompt: 'a', completion: ' b' })).toEqual([]);
  });

  test('answers within the prompt are not trained, though answers are asked for', () => {
    const value = {
      prompt: [...talk('First.'), { role: 'user', content: 'x' }],
      completion: talk().slice(1),
    };
    const { kept } = scan([{ number: 1, value }], { ...qwen, trainOn: 'assistant' }, { most: 1 });
    const row = kept[0]?.row;
    const trained = row?.ids.filter((_, at) => row.trained[at]) ?? [];
    expect(qwen.tokenizer?.decode(trained)).toBe('Hello there!<|im_end|>');
  });
});

describe('ids and text that do not meet', () => {
  test('a token that ends the header and begins the answer', () => {
    const merging = world(
      'qwen',
      '{% for m in messages %}{{ m.role }}: {{ m.content }}<|im_end|>{% endfor %}',
    );
    expect(flags({ messages: talk('a cat') }, merging)).toEqual(['straddles']);
    expect(flags({ messages: talk('Hello') }, merging)).not.toContain('straddles');
  });

  test('ids of another template than the one that is given', () => {
    const { input_ids } = written(talk());
    const other = written([{ role: 'system', content: 'Be brief.' }, ...talk()]);
    const row = { input_ids: other.input_ids, messages: talk() };
    expect(flags(row)).toContain('ids-are-of-another-rendering');
    expect(flags({ input_ids, messages: talk() })).toEqual([]);
    // Cut short, they are still of it.
    expect(flags({ input_ids: input_ids.slice(0, -2), messages: talk() })).not.toContain(
      'ids-are-of-another-rendering',
    );
  });
});

describe('the length limit', () => {
  const messages = talk('one two three four five six seven');
  const { input_ids, stop } = written(messages);

  test('flags a row that is cut within an answer, and not one that fits', () => {
    const at = (maxLength: number): string[] => flags({ messages }, { ...qwen, maxLength });
    expect(at(stop)).toEqual(['truncated', 'cut']);
    expect(at(stop + 1)).toEqual(['cut']);
    expect(at(input_ids.length)).toEqual([]);
  });

  test('says that nothing is trained where the answer is lost whole', () => {
    expect(flags({ messages }, { ...qwen, maxLength: 3 })).toEqual(['nothing-trained', 'cut']);
  });

  test('cuts on the left where asked', () => {
    expect(flags({ messages }, { ...qwen, maxLength: input_ids.length - 3, truncationSide: 'left' })).toEqual(
      ['cut'],
    );
  });
});

describe('rows that are too long', () => {
  const LONG = 'a'.repeat(2 ** 21 + 1);
  test.each<[string, unknown]>([
    ['text', { text: LONG }],
    ['a prompt and its completion', { prompt: LONG.slice(0, 9), completion: LONG }],
    ['messages', { messages: talk(LONG) }],
    ['tools', { messages: talk(), tools: [{ type: 'function', function: { name: LONG } }] }],
  ])('%s: none of it is judged, and it is said', (_, value) => {
    const seen = scan([{ number: 1, value }], qwen, { most: 1 });
    expect(seen.counts.map(({ id }) => id)).toEqual(['too-long']);
    expect([seen.flagged, seen.unread]).toEqual([1, 1]);
    expect(verdictOf(seen)).toBe('✗ 1 of 1 row is flagged.');
  });

  test('a line that is not even read', () => {
    const lines = Buffer.from(`{"text": "${'a'.repeat(2 ** 23)}"}\n{"text": "a"}\n`);
    const seen = scan(entriesOf(lines), qwen, { most: 2 });
    expect(seen.counts.map(({ id, first }) => [id, ...first])).toEqual([['too-long', 1]]);
    expect(seen.tokens).toBeGreaterThan(0);
  });

  test('what stands beside the texts is not counted', () => {
    expect(flags({ messages: talk(), note: LONG })).toEqual([]);
  });
});

describe('long rows', () => {
  const LENGTH = 300_000;
  const all = (value: number): number[] => new Array<number>(LENGTH).fill(value);
  test.each<[string, unknown, ViewOptions | undefined, string]>([
    ['ids of another tokenizer', { input_ids: all(999_999) }, qwen, 'id-outside-vocabulary'],
    ['ids below 0', { input_ids: all(-1) }, undefined, 'id-outside-vocabulary'],
    ['other labels', { input_ids: all(7), labels: all(8) }, qwen, 'label-is-another-token'],
    [
      'padding that is trained',
      { input_ids: all(7), labels: all(7), attention_mask: all(0) },
      qwen,
      'padding-trained',
    ],
  ])('of which every column is wrong: %s', (_, value, options, flag) => {
    expect(flags(value, options ?? { truncationSide: 'right' })).toContain(flag);
  });

  test('of ten thousands of turns, none of which ends', () => {
    const turn = qwen.tokenizer?.encode('<|im_start|>assistant\nok') ?? [];
    const input_ids = Array.from({ length: 50_000 }, () => turn).flat();
    expect(flags({ input_ids, labels: input_ids.map(() => -100) })).toEqual(['nothing-trained']);
  });
});

describe('rows that are none', () => {
  test.each<[string, unknown, string]>([
    ['a number', 5, 'not an object'],
    ['null', null, 'null'],
    ['no known key', { question: 'a', answer: 'b' }, 'question, answer'],
    ['a prompt alone', { prompt: 'x' }, 'no completion'],
    ['a batch', { input_ids: [[1]] }, 'batch'],
    ['messages that are text', { messages: '[]' }, 'json.loads'],
    ['messages without content', { messages: [{ role: 'user' }] }, 'no content'],
    ['mixed prompt and completion', { prompt: 'x', completion: talk() }, 'one is text'],
  ])('%s is named', (_, value, words) => {
    const { counts } = scan([{ number: 1, value }], qwen, { most: 1 });
    expect(counts.map(({ id }) => id)).toEqual(['unread']);
    expect(counts[0]?.example).toContain(words);
  });

  test('text without a tokenizer says what to do', () => {
    const { counts } = scan(
      [{ number: 1, value: { messages: talk() } }],
      { truncationSide: 'right' },
      { most: 1 },
    );
    expect(counts[0]?.example).toContain('save_pretrained');
  });
});
