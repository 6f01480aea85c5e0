// What a row's texts and positions say of its way into the data set: each note with rows that raise it, and rows that look alike.
import { describe, expect, test } from 'vitest';
import { flags, llama, qwen, talk, written } from './rows.ts';

const LONG = 'A sentence that is long enough to be no chance.';
const said = (...texts: readonly (readonly [role: string, content: unknown])[]) => ({
  messages: texts.map(([role, content]) => ({ role, content })),
});

describe.each<[string, readonly unknown[], readonly unknown[]]>([
  [
    'mojibake',
    [
      { messages: talk('It â€™s fine.') },
      { messages: talk('Yes.', 'Ist das schÃ¶n?') },
      { prompt: 'Name a drink.', completion: ' CafÃ© au lait' },
      { text: 'Two � three' },
    ],
    [{ messages: talk('À la carte, “naïve”, São Paulo, 5 °C, IRMÃ.') }, { text: 'Âge, ÂNCORA' }],
  ],
  [
    'escaped-text',
    [
      { messages: talk('One\\nTwo\\n\\n- three') },
      { messages: talk('if a &lt; b &amp;&amp; c: pass') },
      { prompt: 'List.', completion: 'A\\n1. b\\n2. c' },
    ],
    [
      { messages: talk('The gradient \\nabla f \\neq 0 and \\nu') },
      { messages: talk('print("a\\n")\nprint("b\\n")') },
      { messages: talk('<p>a &lt; b &amp; c</p>') },
      { messages: talk('AT&amp;T') },
    ],
  ],
  [
    'missing-value',
    [
      { messages: talk('nan') },
      { messages: talk('Yes.', 'null') },
      { prompt: 'Who?', completion: ' undefined' },
    ],
    [{ messages: talk('None') }, { messages: talk('The value is null.') }],
  ],
  [
    'thought-open',
    [{ messages: talk('<think>Let me see. The sky') }, { messages: talk('\n<thinking>So') }],
    [{ messages: talk('<think>Let me see.</think>Blue.') }, { messages: talk('Write <think> first.') }],
  ],
  [
    'answer-repeats-prompt',
    [{ messages: talk(`${LONG} Indeed.`, LONG) }, { prompt: LONG, completion: `${LONG} Indeed.` }],
    [{ messages: talk('Hi there!', 'Hi') }, { messages: talk(LONG, LONG) }],
  ],
  [
    'prompt-ends-with-answer',
    [{ messages: talk(LONG, `Say it. ${LONG}`) }, { prompt: `Q: ${LONG}`, completion: LONG }],
    [{ messages: talk('yes', 'Is it yes') }, { messages: talk(LONG, `${LONG} Say that.`) }],
  ],
  [
    'roles-out-of-order',
    [
      said(['user', 'Hi'], ['user', 'Are you there?'], ['assistant', 'Yes.']),
      said(
        ['user', 'Hi'],
        ['assistant', 'Yes?'],
        ['system', 'Be brief.'],
        ['user', 'Go'],
        ['assistant', 'On.'],
      ),
      { messages: [...talk(), { role: 'user', content: 'And now?' }] },
      { messages: [...talk(), { role: 'assistant', content: 'And more.' }] },
    ],
    [
      said(['system', 'Be brief.'], ['user', 'Hi'], ['assistant', 'Yes?']),
      said(['assistant', 'Welcome!'], ['user', 'Hi'], ['assistant', 'Yes?']),
      said(['user', 'Add.'], ['assistant', 'Calling.'], ['tool', '3'], ['assistant', 'It is 3.']),
    ],
  ],
  [
    'content-no-text',
    [said(['user', 'How many?'], ['assistant', 42]), said(['user', true], ['assistant', 'Yes.'])],
    [{ messages: talk('42') }, said(['user', [{ type: 'text', text: 'Hi' }]], ['assistant', 'Yes?'])],
  ],
])('%s', (id, wrong, right) => {
  test.each(wrong.map((row) => [JSON.stringify(row), row]))('is said of %s', (_, row) => {
    expect(flags(row)).toContain(id);
    expect(flags(row)).not.toContain('empty-answer');
  });
  test.each(right.map((row) => [JSON.stringify(row), row]))('is not said of %s', (_, row) => {
    expect(flags(row)).not.toContain(id);
  });
});

describe('positions', () => {
  const one = written([{ role: 'system', content: 'Be brief.' }, ...talk()]);
  const two = {
    input_ids: [...one.input_ids, ...one.input_ids],
    labels: [...one.labels, ...one.labels],
  };
  const count = (length: number, start = 0): number[] => Array.from({ length }, (_, at) => at + start);
  const { length } = one.input_ids;
  const again = [...count(length), ...count(length)];

  test.each<[string, readonly string[], readonly number[]]>([
    ['those of each text', [], again],
    ['one after the other', ['positions-not-restarted'], count(2 * length)],
    ['a gap', ['positions-jump'], again.map((at, column) => (column < length - 2 ? at : at + 1))],
    ['all the same', ['positions-jump'], again.map((_, column) => (column === 0 ? 0 : 7))],
    ['from 1', ['positions-begin-late'], again.map((at) => at + 1)],
  ])('%s', (_, expected, position_ids) => {
    expect(flags({ ...two, position_ids })).toEqual(expected);
  });

  test('of one text, padded on either side, and of several axes', () => {
    const pad = qwen.tokenizer?.padTokenId ?? 0;
    const padded = {
      input_ids: [pad, pad, ...one.input_ids, pad],
      labels: [-100, -100, ...one.labels, -100],
      attention_mask: [0, 0, ...one.input_ids.map(() => 1), 0],
    };
    for (const filler of [0, 1])
      expect(flags({ ...padded, position_ids: [filler, filler, ...count(length), filler] })).toEqual([]);
    expect(flags({ ...one, position_ids: [count(length), count(length), count(length)] })).toEqual([]);
    expect(flags({ ...one, position_ids: count(length - 1) })).toEqual(['lengths-differ']);
  });

  test('a second text without a system message, told by its BOS', () => {
    const short = written(talk(), llama);
    const packed = {
      input_ids: [...short.input_ids, ...short.input_ids],
      labels: [...short.labels, ...short.labels],
    };
    const { length: width } = short.input_ids;
    expect(flags({ ...packed, position_ids: count(2 * width) }, llama)).toEqual(['positions-not-restarted']);
    expect(flags({ ...packed, position_ids: [...count(width), ...count(width)] }, llama)).toEqual([]);
  });
});

describe('what the template writes', () => {
  const row = written([{ role: 'system', content: 'Be brief.' }, ...talk('A longer answer.'), ...talk()]);
  const { input_ids, labels } = row;
  const stop = input_ids[row.stop];
  const trained = (holds: (at: number) => boolean) => input_ids.map((id, at) => (holds(at) ? id : -100));

  test('stop tokens alone are trained', () => {
    expect(flags({ input_ids, labels: trained((at) => input_ids[at] === stop) })).toEqual([
      'answers-untrained',
      'template-trained',
    ]);
  });

  test('the stop tokens of others, beside the answers', () => {
    expect(
      flags({ input_ids, labels: trained((at) => labels[at] !== -100 || input_ids[at] === stop) }),
    ).toEqual(['template-trained']);
  });

  test('the mark that opens an answer', () => {
    const opens = row.answers.map(({ from }) => from - 3);
    expect(flags({ input_ids, labels: trained((at) => labels[at] !== -100 || opens.includes(at)) })).toEqual([
      'template-trained',
    ]);
    expect(flags({ input_ids, labels })).toEqual([]);
  });

  test('what a system and a tool say, in a row of ids alone', () => {
    const system = input_ids.findIndex((id, at) => labels[at] === -100 && at > 2 && id !== stop);
    expect(flags({ input_ids, labels: trained((at) => labels[at] !== -100 || at === system) })).toEqual([
      'prompt-trained',
    ]);
    const tools = written(
      [
        ...talk('Calling.'),
        { role: 'tool', content: 'The result is three.' },
        { role: 'assistant', content: 'Three.' },
      ],
      llama,
    );
    const answers = tools.answers;
    const between = (answers[1]?.from ?? 0) - 7;
    expect(
      flags(
        {
          input_ids: tools.input_ids,
          labels: tools.input_ids.map((id, at) => (tools.labels[at] !== -100 || at === between ? id : -100)),
        },
        llama,
      ),
    ).toEqual(['prompt-trained']);
  });
});
