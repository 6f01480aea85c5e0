import { expect, test } from 'vitest';
import type { StripToken } from '../../../../src/check/property.ts';
import { flow } from '../../../../src/report/html/view/flow.ts';
import type { Role } from '../../../../src/vocabulary.ts';
import { HOSTILE, isHarmless } from '../page/hostile.ts';

const token = (text: string, role: Role, id = 7): StripToken => ({ text, id, role });
const chat = [
  token('Hi', 'prompt'),
  token(' there', 'prompt'),
  token('Yes', 'completion'),
  token('.', 'completion'),
  token('</s>', 'stop', 2),
  token('<pad>', 'padding', 0),
];
const trained = [false, false, true, true, false, false];

test('every token keeps its boundary, and its tool tip says place, id, role and training', () => {
  const { markup } = flow({ tokens: chat, trained, marks: [] });
  expect(markup.match(/<i title=/g)).toHaveLength(chat.length);
  expect(markup).toContain('<i title="1 · id 7 · prompt · not trained"><bdi>␣there</bdi></i>');
  expect(markup).toContain('<i title="2 · id 7 · completion · trained">');
});

test('what is trained has a class of its own, run by run', () => {
  const { markup } = flow({ tokens: chat, trained, marks: [] });
  expect([...markup.matchAll(/<span class="run ([^"]*)"/g)].map(([, name]) => name)).toEqual([
    'b-prompt',
    'b-completion on',
    'b-stop',
    'b-padding',
  ]);
});

test('a wrong token is marked', () => {
  expect(flow({ tokens: chat, trained, marks: [4] }).markup).toContain(
    '<mark title="4 · id 2 · stop · not trained">',
  );
});

test('a reader who hears it is told run by run', () => {
  const { markup } = flow({ tokens: chat, trained, marks: [] });
  const said = [...markup.matchAll(/<span class="sr-only">(.*?)<\/span>/g)].map(([, text]) => text);
  expect(said).toEqual([
    'prompt, 2 tokens, not trained: Hi there. ',
    'completion, 2 tokens, trained: Yes.. ',
    'stop, 1 token, not trained: &lt;/s&gt;. ',
    'padding, 1 token, not trained. ',
  ]);
});

test('a role is named where it begins, not where only the training changes', () => {
  const { markup } = flow({ tokens: chat.slice(0, 2), trained: [true, false], marks: [] });
  expect(markup.match(/<small>prompt<\/small>/g)).toHaveLength(1);
});

test('4,096 tokens stay under 100 bytes each and are heard in a few hundred characters', () => {
  const tokens = Array.from({ length: 4096 }, (_, at) =>
    token(' word', at < 4000 ? 'prompt' : 'completion', at),
  );
  const { markup } = flow({ tokens, trained: tokens.map(({ role }) => role === 'completion'), marks: [] });
  expect(markup.length / tokens.length).toBeLessThan(100);
  const said = [...markup.matchAll(/<span class="sr-only">(.*?)<\/span>/g)]
    .map(([, text = '']) => text)
    .join('');
  expect(said.length).toBeLessThan(800);
});

test('tokens without text show their id, and without either a dot', () => {
  const { markup } = flow({
    tokens: [{ id: 5, role: 'prompt' }, { role: 'prompt' }],
    trained: [],
    marks: [],
  });
  expect(markup).toContain('>5</i>');
  expect(markup).toContain('>·</i>');
});

test('hostile tokens do nothing', () => {
  const tokens = HOSTILE.map((text) => token(text, 'completion'));
  expect(isHarmless(flow({ tokens, trained: tokens.map(() => true), marks: [0] }).markup)).toBe(true);
});
