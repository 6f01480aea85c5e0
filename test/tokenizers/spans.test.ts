import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conversation } from '../../src/generators/text/conversation.ts';
import { generationSpans, hasGenerationTags, renderChat } from '../../src/tokenizers/template.ts';
import type { Message } from '../../src/vocabulary.ts';
import { MARKED_TEMPLATES } from './marked-templates.ts';

const options = (messages: readonly Message[]) => ({
  messages,
  addGenerationPrompt: false,
  eosToken: '</s>',
});

describe('the spans of the assistant', () => {
  it('begin and end where the tags stand', () => {
    const made = generationSpans(
      MARKED_TEMPLATES.inline ?? '',
      options([
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Yo 🙂' },
      ]),
    );
    if ('problem' in made) throw new Error(made.problem);
    expect(made.text).toBe('<user>Hi\n<assistant>Yo 🙂</s>\n');
    expect(made.spans.map(([start, end]) => made.text.slice(start, end))).toEqual(['Yo 🙂</s>']);
  });

  it.each(Object.entries(MARKED_TEMPLATES))('are one a turn and hold its content: %s', (_, template) => {
    fc.assert(
      fc.property(conversation({ endsWith: 'assistant' }), (messages) => {
        const made = generationSpans(template, options(messages));
        if ('problem' in made) throw new Error(made.problem);
        const answers = messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
        expect(made.spans).toHaveLength(answers.length);
        for (const [at, [start, end]] of made.spans.entries())
          expect(made.text.slice(start, end)).toContain(answers[at]);
      }),
    );
  });

  it('are kept apart from marks in the conversation itself', () => {
    const content = 'a\ue0a0b\ue0a1c';
    const made = generationSpans(MARKED_TEMPLATES.inline ?? '', options([{ role: 'assistant', content }]));
    expect(made).toEqual({ text: `<assistant>${content}</s>\n`, spans: [[11, 20]] });
  });

  it('are none in a template without tags, whose text stays as it is', () => {
    const template = '{# {% generation %} #}{% for m in messages %}{{ m.content }}{% endfor %}';
    const given = options([{ role: 'assistant', content: 'x' }]);
    expect(hasGenerationTags(template)).toBe(false);
    expect(hasGenerationTags('{%- endgeneration -%}')).toBe(true);
    expect(generationSpans(template, given)).toEqual({ text: 'x', spans: [] });
    expect(renderChat(template, given)).toEqual({ text: 'x' });
  });

  it('are a problem where the template refuses', () => {
    const made = generationSpans("{{ raise_exception('no') }}", options([]));
    expect(made).toEqual({ problem: 'The chat template refuses the conversation: no', raised: true });
  });
});
