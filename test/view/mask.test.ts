// The mask of a conversation: what decodes from the trained tokens is what the assistant said, and its stop token.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { conversation } from '../../src/generators/text/conversation.ts';
import { FAMILY_SHAPES, templateOf, templateSource } from '../../src/generators/text/template.ts';
import { anyContent, plainContent } from '../../src/generators/text/text.ts';
import { generationSpans, templateTokens } from '../../src/tokenizers/template.ts';
import { chatRow } from '../../src/view/chat.ts';
import type { TokenRow } from '../../src/view/row.ts';
import type { ChatShape } from '../../src/view/shape/shapes.ts';
import { writerOf } from '../../src/view/writer.ts';
import type { Message } from '../../src/vocabulary.ts';
import { familyFolders, loaded, tokenizerFolders } from '../tokenizers/folders.ts';
import { MARKED_TEMPLATES } from '../tokenizers/marked-templates.ts';

/** Other cases each time, for each of the families: so many are seconds. */
const RUNS = { numRuns: 50 };

const shapeOf = (messages: readonly Message[]): ChatShape => ({
  kind: 'chat',
  form: 'messages',
  messages: messages.map((message) => ({ ...message })),
});

/** Texts of the runs of trained tokens. */
function trainedTexts(folder: string, row: TokenRow): string[] {
  const texts: number[][] = [];
  for (const [at, id] of row.ids.entries()) {
    if (!row.trained[at]) continue;
    if (at === 0 || !row.trained[at - 1]) texts.push([]);
    texts.at(-1)?.push(id);
  }
  return texts.map((ids) => loaded(folder).decode(ids));
}

const dialogues = (content = plainContent()): fc.Arbitrary<Message[]> =>
  conversation({ endsWith: 'assistant', turns: { min: 1, max: 3 }, content });

describe.each(Object.entries(tokenizerFolders))('%s', (name, folder) => {
  const tokenizer = loaded(folder);
  const writer = writerOf(tokenizer, tokenizer.chatTemplate ?? '');
  const stop = writer.stop ?? '';

  test('trains the words of the assistant and the stop token behind them, and nothing else', () => {
    fc.assert(
      fc.property(dialogues(), (messages) => {
        const { row, faults } = chatRow(shapeOf(messages), writer, {
          tokenizer,
          writer,
          truncationSide: 'right',
        });
        fc.pre(!faults.some(({ id }) => id === 'refused'));
        if (row === undefined) throw new Error(JSON.stringify(faults));
        expect(row.ids).toEqual(tokenizer.encode(textOf(writer, messages)));
        // A token that is half header is trained whole; the words are then not to be had alone.
        if (row.straddles.length > 0) return;
        const trim = /llama3|gemma/.test(name);
        const said = messages
          .filter(({ role }) => role === 'assistant')
          .map(({ content }) => (trim ? content.trim() : content) + stop);
        const composed = (texts: readonly string[]): string[] =>
          texts.map((text) => text.normalize('NFC').replace(/^ +/, ''));
        expect(composed(trainedTexts(folder, row))).toEqual(composed(said));
      }),
      RUNS,
    );
  });

  test('places every token of contents that spell special tokens, too', () => {
    fc.assert(
      fc.property(dialogues(anyContent(tokenizer)), (messages) => {
        const { row, faults } = chatRow(shapeOf(messages), writer, {
          tokenizer,
          writer,
          truncationSide: 'right',
        });
        fc.pre(!faults.some(({ id }) => id === 'refused'));
        expect(faults.map(({ id }) => id)).not.toContain('unplaced');
        expect(row?.turns.at(-1)?.to).toBe(row?.ids.length);
        const answers = messages.filter(({ role }) => role === 'assistant').length;
        expect(row?.answers).toHaveLength(answers);
        expect(row?.answers.every((answer) => answer.stop !== undefined)).toBe(true);
      }),
      RUNS,
    );
  });

  test('finds the answers in the rendering of any template', () => {
    fc.assert(
      fc.property(dialogues(), templateSource(), (messages, { source }) => {
        const other = writerOf(tokenizer, source);
        const { row, faults } = chatRow(shapeOf(messages), other, {
          tokenizer,
          writer: other,
          truncationSide: 'right',
        });
        fc.pre(!faults.some(({ id }) => id === 'refused'));
        expect(faults.map(({ id }) => id)).not.toContain('unplaced');
        expect(row?.answers).toHaveLength(messages.filter(({ role }) => role === 'assistant').length);
      }),
      RUNS,
    );
  });

  test.each(Object.entries(MARKED_TEMPLATES))(
    'a template that marks answers %s is trained as it marks them',
    (_, source) => {
      const other = writerOf(tokenizer, source);
      fc.assert(
        fc.property(dialogues(), (messages) => {
          const { row, faults } = chatRow(shapeOf(messages), other, {
            tokenizer,
            writer: other,
            truncationSide: 'right',
          });
          if (row === undefined) throw new Error(JSON.stringify(faults));
          const marked = generationSpans(source, {
            messages,
            addGenerationPrompt: false,
            ...templateTokens(tokenizer),
          });
          if ('problem' in marked) throw new Error(marked.problem);
          if (row.straddles.length > 0) return;
          const plain = (text: string): string => text.normalize('NFC').replace(/^ +/, '');
          // Marks around nothing but spaces may be trained or not: there is no word in them.
          const words = (texts: readonly string[]): string[] =>
            texts.map(plain).filter((text) => text.trim() !== '');
          expect(words(trainedTexts(folder, row))).toEqual(
            words(marked.spans.map(([from, to]) => marked.text.slice(from, to))),
          );
        }),
        RUNS,
      );
    },
  );
});

describe('thoughts that the template drops from earlier answers', () => {
  const folder = familyFolders.deepseek ?? '';
  const tokenizer = loaded(folder);
  const writer = writerOf(tokenizer, templateOf(FAMILY_SHAPES.deepseek ?? never(), []).source);

  test('are not looked for', () => {
    const messages: Message[] = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: '<think>why</think>yes' },
      { role: 'user', content: 'b' },
      { role: 'assistant', content: '<think>hm</think>no' },
    ];
    const { row } = chatRow(shapeOf(messages), writer, { tokenizer, writer, truncationSide: 'right' });
    if (row === undefined) throw new Error('no row');
    const stop = writer.stop ?? '';
    expect(trainedTexts(folder, row)).toEqual([`yes${stop}`, `<think>hm</think>no${stop}`]);
  });
});

function never(): never {
  throw new Error('no such family');
}

function textOf(writer: ReturnType<typeof writerOf>, messages: readonly Message[]): string {
  const rendered = writer.render(messages.map((message) => ({ ...message })));
  return 'text' in rendered ? rendered.text : '';
}
