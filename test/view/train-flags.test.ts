// Train flags of messages: which answers are trained, and what is wrong or odd about the flags.
import { describe, expect, test } from 'vitest';
import { entriesOf } from '../../src/view/read.ts';
import type { ViewOptions } from '../../src/view/row.ts';
import { scan } from '../../src/view/scan.ts';
import { flags, llama, qwen, talk, world, written } from './rows.ts';

/** What of a row is trained, as text. */
function trained(value: unknown, options: ViewOptions = qwen): string {
  const row = scan([{ number: 1, value }], options, { most: 1 }).kept[0]?.row;
  return options.tokenizer?.decode(row?.ids.filter((_, at) => row.trained[at]) ?? []) ?? '';
}

const two = (first: object, second: object = {}, user: object = {}) => [
  { role: 'user', content: 'One?', ...user },
  { role: 'assistant', content: 'First.', ...first },
  { role: 'user', content: 'Two?' },
  { role: 'assistant', content: 'Second.', ...second },
];
const BOTH = 'First.<|im_end|>Second.<|im_end|>';
const SECOND = 'Second.<|im_end|>';

describe('a flagged-off answer is not trained', () => {
  test.each<[string, object]>([
    ['axolotl, train', { train: false }],
    ['axolotl, training', { training: false }],
    ['ms-swift, loss', { loss: false }],
    ['ms-swift, loss_scale', { loss_scale: 0 }],
    ['OpenAI, weight', { weight: 0 }],
    ['a float', { weight: 0.0 }],
    ['learn', { learn: 0 }],
  ])('%s', (_, off) => {
    const messages = two(off);
    expect(trained({ messages })).toBe(SECOND);
    expect(flags({ messages })).toEqual([]);
    // llama3 writes its stop token, and nothing behind it.
    expect(trained({ messages }, llama)).toBe('Second.<|eot_id|>');
  });

  test('in ShareGPT, in a completion, and where the template marks its answers', () => {
    const conversations = two({}).map(({ role, content }, at) => ({
      from: role === 'user' ? 'human' : 'gpt',
      value: content,
      train: at === 3,
    }));
    expect(trained({ conversations })).toBe(SECOND);
    const [prompt, ...completion] = two({ train: false });
    expect(trained({ prompt: [prompt], completion })).toBe(SECOND);
    const marked = world(
      'qwen',
      `{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}{% generation %}{{ m.content }}<|im_end|>\n{% endgeneration %}{% else %}{{ m.content }}<|im_end|>\n{% endif %}{% endfor %}`,
    );
    expect(trained({ messages: two({ train: false }) }, marked)).toBe(`${SECOND}\n`);
    expect(trained({ messages: two({}, { train: false }) }, marked)).toBe('First.<|im_end|>\n');
  });

  test('in a column of its own', () => {
    expect(trained({ messages: two({}), loss_mask: [0, 0, 0, 1] })).toBe(SECOND);
    expect(trained({ messages: two({}), loss_mask: [0, 1] })).toBe(BOTH);
  });
});

describe('whoever is not flagged off is trained as without flags', () => {
  test.each<[string, object, object]>([
    ['all on', { train: true }, { train: true }],
    ['one on', { weight: 1 }, {}],
    ['null is the default', { loss: null }, {}],
    ['a field that means something else', { loss: 'none of it', training: { epochs: 1 } }, {}],
  ])('%s', (_, first, second) => {
    expect(trained({ messages: two(first, second) })).toBe(BOTH);
  });

  test('with --train-on last, an earlier answer that is flagged on is trained as well', () => {
    const last: ViewOptions = { ...qwen, trainOn: 'last' };
    expect(trained({ messages: two({}) }, last)).toBe(SECOND);
    expect(trained({ messages: two({ train: true }) }, last)).toBe(BOTH);
    expect(trained({ messages: two({}, { train: false }) }, last)).toBe('');
  });

  test('--train-on all reads no flags, and says so', () => {
    const all: ViewOptions = { ...qwen, trainOn: 'all' };
    const value = { messages: two({ train: false }) };
    const seen = scan([{ number: 1, value }], all, { most: 1 });
    expect(seen.trained).toBe(seen.tokens);
    expect(seen.assumed.join()).toContain('not read');
  });
});

test('characters of a content, as axolotl counts them', () => {
  const content = "I'm doing very well, thank you!";
  const train_detail = [
    { begin_offset: 0, end_offset: 8, train: false },
    { begin_offset: 9, end_offset: 18, train: true },
    { begin_offset: 19, end_offset: 30, train: false },
  ];
  const messages = [talk()[0], { role: 'assistant', content, train_detail }];
  expect(trained({ messages })).toBe(' very well<|im_end|>');
  expect(flags({ messages })).toEqual([]);
  const cut = [{ begin_offset: 9, train: true }];
  expect(flags({ messages: [talk()[0], { role: 'assistant', content, train_detail: cut }] })).toEqual([
    'odd-train-flag',
  ]);
});

describe('what is wrong or odd', () => {
  test.each<[string, object, string[]]>([
    ['the text false', { train: 'false' }, ['text-train-flag']],
    ['the text False', { loss: 'False' }, ['text-train-flag']],
    ['the text 0', { weight: '0' }, ['text-train-flag']],
    ['the text no', { learn: 'no' }, ['text-train-flag']],
    ['the text true', { train: 'true' }, ['odd-train-flag']],
    ['null', { train: null }, ['odd-train-flag']],
    ['a half', { weight: 0.5 }, ['odd-train-flag']],
    ['two flags that disagree', { train: true, weight: 0 }, ['odd-train-flag']],
    ['two flags that agree', { train: true, weight: 1 }, []],
    ['true', { train: true }, []],
  ])('%s', (_, first, expected) => {
    expect(flags({ messages: two(first) })).toEqual(expected);
  });

  test('a text that spells no is shown as trained, as Python takes it', () => {
    expect(trained({ messages: two({ train: 'false' }) })).toBe(BOTH);
  });

  test('a message of the user that is flagged on, not one that is flagged off or null', () => {
    expect(flags({ messages: two({}, {}, { train: true }) })).toEqual(['prompt-flagged']);
    expect(trained({ messages: two({}, {}, { train: true }) })).toBe(BOTH);
    expect(flags({ messages: two({}, {}, { train: false }) })).toEqual([]);
    expect(flags({ messages: two({}, {}, { train: null }) })).toEqual([]);
  });

  test('flags that leave nothing trained', () => {
    const messages = two({ loss: false }, { loss: false });
    const { counts } = scan([{ number: 1, value: { messages } }], qwen, { most: 1 });
    expect(counts.map(({ id }) => id)).toEqual(['nothing-trained']);
    expect(counts[0]?.example).toContain('train flags');
  });

  test('only some rows have flags: the others are noted', () => {
    const rows = [{ messages: two({}) }, { messages: two({ train: false }) }, { text: 'a' }];
    const read = entriesOf(Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n')));
    const seen = scan(read, qwen, { most: 3 });
    expect(seen.counts.map(({ id, first }) => [id, ...first])).toEqual([['no-train-flags', 1]]);
    expect(seen.flagged).toBe(0);
    expect(flags({ messages: two({}) })).toEqual([]);
  });

  test('the flag is named among what was assumed', () => {
    const { assumed } = scan([{ number: 1, value: { messages: two({ loss: false }) } }], qwen, { most: 1 });
    expect(assumed.join('\n')).toMatch(/"loss" \(ms-swift\)/);
  });
});

describe('labels beside messages with flags', () => {
  const whole = written(two({}) as Parameters<typeof written>[0]);
  const [first] = whole.answers;
  const without = whole.labels.map((label, at) =>
    first !== undefined && at >= first.from && at < first.to ? -100 : label,
  );
  const { input_ids } = whole;
  const row = (labels: readonly number[], flag: object) => ({ input_ids, labels, messages: two(flag) });

  test('must be what the flags say', () => {
    expect(flags(row(without, { train: false }))).toEqual([]);
    expect(flags(row(whole.labels, { train: true }))).toEqual([]);
    expect(flags(row(whole.labels, { train: false }))).toEqual(['not-as-flagged']);
    expect(flags(row(without, { train: true }))).toEqual(['not-as-flagged']);
    expect(flags(row(without, {}))).toEqual([]);
  });

  test('--train-on is the convention of those that have none', () => {
    const answers: ViewOptions = { ...qwen, trainOn: 'assistant' };
    expect(flags(row(without, { train: false }), answers)).toEqual([]);
    expect(flags(row(without, {}), answers)).toEqual(['not-as-declared']);
  });

  test('without labels, the conversation and its flags say what is trained', () => {
    const value = { input_ids, messages: two({ train: false }) };
    expect(trained(value)).toBe(SECOND);
  });
});
