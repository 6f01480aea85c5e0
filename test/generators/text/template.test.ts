import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conversation } from '../../../src/generators/text/conversation.ts';
import { FAMILY_SHAPES, templateOf, templateSource } from '../../../src/generators/text/template.ts';
import { checkTemplate, renderChat, templateTokens } from '../../../src/tokenizers/template.ts';
import type { Message } from '../../../src/vocabulary.ts';
import { familyFolders, loaded } from '../../tokenizers/folders.ts';

const SEED = 20260105;
const made = fc.sample(templateSource(), { seed: SEED, numRuns: 1000 });
const TOKENS = { bosToken: '<s>', eosToken: '</s>' };

function render(
  source: string,
  messages: readonly Message[],
  addGenerationPrompt: boolean,
): string | undefined {
  const rendered = renderChat(source, { messages, addGenerationPrompt, ...TOKENS });
  if ('text' in rendered) return rendered.text;
  expect(rendered.raised, rendered.problem).toBe(true);
  return undefined;
}

describe('generated templates', () => {
  it('compile', () => {
    for (const { source } of made) expect(checkTemplate(source)).toEqual({});
  });

  it('have every trait often enough', () => {
    const traits = new Map<string, number>();
    for (const trait of made.flatMap((one) => one.traits)) traits.set(trait, (traits.get(trait) ?? 0) + 1);
    expect([...traits.keys()].sort()).toEqual(ALL_TRAITS);
    for (const [trait, count] of traits) expect(count, trait).toBeGreaterThan(20);
  });

  it('render every conversation, unless they refuse system messages', () => {
    fc.assert(
      fc.property(
        templateSource(),
        conversation({ endsWith: 'assistant' }),
        ({ source, traits }, messages) => {
          const text = render(source, messages, false);
          const refused = traits.includes('system refused') && messages[0]?.role === 'system';
          expect(text === undefined).toBe(refused);
        },
      ),
    );
  });

  it('continue their generation prompt, unless it opens a thought', () => {
    fc.assert(
      fc.property(
        templateSource(),
        conversation({ endsWith: 'assistant' }),
        ({ source, traits }, messages) => {
          const prompt = render(source, messages.slice(0, -1), true);
          const whole = render(source, messages, false);
          if (prompt === undefined || whole === undefined) return;
          const last = messages.at(-1)?.content ?? '';
          if (traits.includes('generation prompt opens a thought')) {
            if (!last.startsWith('<think>')) expect(whole.startsWith(prompt)).toBe(false);
          } else expect(whole.startsWith(prompt)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('end an answer with eos_token, whatever stands behind it', () => {
    const messages: Message[] = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Yo' },
    ];
    for (const { source, traits } of made) {
      const text = render(source, messages, false) ?? '';
      expect(text.endsWith(traits.includes('newline after the stop token') ? 'Yo</s>\n' : 'Yo</s>')).toBe(
        true,
      );
      expect(text.startsWith('<s>')).toBe(traits.includes('bos in the template'));
    }
  });

  it('drop the thoughts of earlier answers where they rewrite history', () => {
    const thought = '<think>\nhm\n</think>\n\nYes';
    const chat: Message[] = ['Hi', thought, 'And?', thought].map((content, at) => ({
      role: at % 2 === 0 ? 'user' : 'assistant',
      content,
    }));
    for (const { source, traits } of made) {
      const thoughts = (render(source, chat, false) ?? '').split('hm').length - 1;
      expect(thoughts).toBe(traits.includes('history thoughts dropped') ? 1 : 2);
    }
  });

  // Gemma's tokenizer ends the text with another token than the turn.
  it.each(['llama3', 'qwen', 'mistral', 'phi'])(
    'of the shape of %s render as its own template does',
    (name) => {
      const tokenizer = loaded(familyFolders[name] ?? '');
      const shape = FAMILY_SHAPES[name];
      if (shape === undefined) throw new Error(`no shape ${name}`);
      // A tokenizer's end-of-text token closes the turn in these families; in Phi's it is <|end|>.
      const tokens = { ...templateTokens(tokenizer), ...(name === 'phi' ? { eosToken: '<|end|>' } : {}) };
      fc.assert(
        fc.property(
          conversation({ endsWith: 'assistant' }),
          fc.boolean(),
          (messages, addGenerationPrompt) => {
            const options = { messages, addGenerationPrompt, ...tokens };
            expect(renderChat(templateOf(shape, []).source, options)).toEqual(
              renderChat(tokenizer.chatTemplate ?? '', options),
            );
          },
        ),
      );
    },
  );
});

const ALL_TRAITS = [
  'bos in the template',
  'content trimmed',
  'content verbatim',
  'empty generation prompt',
  'generation prompt opens a thought',
  'history kept',
  'history thoughts dropped',
  'newline after the stop token',
  'no bos in the template',
  'nothing after the stop token',
  'shape of deepseek',
  'shape of gemma',
  'shape of llama3',
  'shape of mistral',
  'shape of phi',
  'shape of qwen',
  'strict roles',
  'system default turn',
  'system dropped',
  'system merged',
  'system merged into the last user turn',
  'system own turn',
  'system refused',
];
