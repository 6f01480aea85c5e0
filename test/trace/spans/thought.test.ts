// An empty thought that the template writes before an answer: some trainers train it, some do not, and neither is blamed,
// whether the row is known by its data or by the template's marks.
import { describe, expect, test } from 'vitest';
import { spansOf, spanWorldOf } from '../../../src/trace/spans/spans.ts';
import { writerOf } from '../../../src/view/writer.ts';
import { familyFolders, loaded } from '../../tokenizers/folders.ts';
import { padded } from './span-rows.ts';

const chatTemplate =
  "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' }}{% if m['role'] == 'assistant' %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}" +
  "{{ m['content'] + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";
const tokenizer = { ...loaded(familyFolders.qwen ?? ''), chatTemplate };
const messages = [
  { role: 'user', content: 'How warm is it?' },
  { role: 'assistant', content: 'It is warm.' },
];
const writer = writerOf(tokenizer, chatTemplate);

describe.each([
  ['the data set', [{ messages }]],
  ['prompt and completion', [{ prompt: messages.slice(0, 1), completion: messages.slice(1) }]],
  ['the marks', undefined],
] as const)('known by %s', (_, values) => {
  test.each(['right', 'none'] as const)('either way is right, padding %s', (side) => {
    const rendered = writer.render(messages);
    if ('problem' in rendered) throw new Error(rendered.problem);
    const ids = tokenizer.encode(rendered.text);
    const dataset = values?.map((value, at) => ({ number: at + 1, value }));
    const pad = tokenizer.padTokenId ?? 0;
    const row = padded(ids, { left: 0, right: side === 'right' ? 2 : 0, pad, attention: 'mask' });
    const { expected, origin } = spansOf(row, spanWorldOf({ tokenizer, generations: [], dataset }));
    expect(origin.kind).toBe(values === undefined ? 'template' : 'dataset');
    const columns = (text: string): number[] => {
      const from = rendered.text.indexOf(text);
      const before = tokenizer.encode(rendered.text.slice(0, from)).length;
      const to = tokenizer.encode(rendered.text.slice(0, from + text.length)).length;
      return Array.from({ length: to - before }, (__, at) => before + at);
    };
    const of = (text: string): unknown[] => [...new Set(columns(text).map((at) => expected[at]))];
    expect(of('<think>\n\n</think>\n\n')).toEqual([undefined]);
    expect(of('It is warm.<|im_end|>')).toEqual([true]);
    expect(of('user\nHow warm is it?')).toEqual([false]);
    expect(of('<|im_start|>assistant')).toEqual([false]);
  });
});
