// Data whose messages have train flags: whether the script reads them is not known, so that an answer that is turned off
// may be trained or not. Everything else is as without flags.
import { describe, expect, test } from 'vitest';
import { spansOf } from '../../../src/trace/spans/spans.ts';
import { writerOf } from '../../../src/view/writer.ts';
import { familyFolders, loaded } from '../../tokenizers/folders.ts';
import { chatLabels, contradictions, labelled, padded, worldOf } from './span-rows.ts';

const PADDING = { left: 0, right: 0, pad: 0, attention: 'mask' } as const;

describe.each(['qwen', 'llama3', 'gemma'])('%s', (name) => {
  const tokenizer = loaded(familyFolders[name] ?? '');
  const writer = writerOf(tokenizer, tokenizer.chatTemplate ?? '');
  const messages = [
    { role: 'user', content: 'One?' },
    { role: 'assistant', content: 'First.' },
    { role: 'user', content: 'Two?' },
    { role: 'assistant', content: 'Second.' },
  ] as const;
  const flagged = messages.map((message, at) => (at === 1 ? { ...message, loss: false } : message));
  const all = chatLabels(writer, messages);
  const read = chatLabels(writer, flagged);
  const columns = (trained: readonly boolean[] = []): number[] => {
    const spans = spansOf(padded(all?.ids ?? [], PADDING), worldOf(tokenizer, [{ messages: flagged }]));
    expect(spans.origin.kind).toBe('dataset');
    return contradictions(spans, labelled(trained, PADDING));
  };

  test('a script that reads the flags and one that does not are both right', () => {
    expect(read?.trained).not.toEqual(all?.trained);
    expect(columns(all?.trained)).toEqual([]);
    expect(columns(read?.trained)).toEqual([]);
  });

  test('a question that is trained is wrong, and so is an answer without a flag that is not', () => {
    expect(columns(all?.trained.map(() => true))).not.toEqual([]);
    expect(columns(all?.trained.map(() => false))).not.toEqual([]);
  });
});
