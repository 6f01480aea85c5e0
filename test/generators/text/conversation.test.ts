import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ConversationOptions,
  conversation,
  conversationLabels,
} from '../../../src/generators/text/conversation.ts';

const SEED = 20260104;

describe('generated conversations', () => {
  it.each(['user', 'assistant'] as const)('alternate and end with the %s', (endsWith) => {
    fc.assert(
      // Now and then three times over.
      fc.property(conversation({ endsWith, turns: { min: 2, max: 4 } }), (messages) => {
        const turns = messages[0]?.role === 'system' ? messages.slice(1) : messages;
        expect(turns.map(({ role }) => role)).toEqual(
          turns.map((_, at) => (at % 2 === 0 ? 'user' : 'assistant')),
        );
        expect(turns.at(-1)?.role).toBe(endsWith);
        const users = turns.filter(({ role }) => role === 'user').length;
        expect(users).toBeGreaterThanOrEqual(2);
        expect(users <= 4 || users % 3 === 0).toBe(true);
      }),
    );
  });

  it('have many turns now and then, where they may have several', () => {
    const many = (max: number): number =>
      fc
        .sample(conversation({ endsWith: 'user', turns: { min: 1, max } }), { seed: SEED, numRuns: 500 })
        .filter((messages) => conversationLabels(messages).includes('many turns')).length;
    expect(many(1)).toBe(0);
    expect(many(3)).toBeGreaterThan(0);
    expect(many(3)).toBeLessThan(50);
  });

  it('begin with a system message half of the time, now and then, or never', () => {
    const share = (options: Partial<ConversationOptions>): number => {
      const made = fc.sample(conversation({ endsWith: 'user', ...options }), { seed: SEED, numRuns: 500 });
      return made.filter(([first]) => first?.role === 'system').length / made.length;
    };
    expect(share({ system: true })).toBeGreaterThan(0.3);
    expect(share({ system: true })).toBeLessThan(0.7);
    const rare = share({ rarelySystem: true });
    expect(rare).toBeGreaterThan(0);
    expect(rare).toBeLessThan(0.15);
    expect(share({ system: false })).toBe(0);
    expect(share({ system: false, rarelySystem: true })).toBe(0);
  });

  it('have one turn and several often enough, and say so', () => {
    const made = fc.sample(conversation({ endsWith: 'assistant' }), { seed: SEED, numRuns: 500 });
    for (const label of ['one turn', 'several turns', 'system message', 'other scripts'])
      expect(
        made.filter((messages) => conversationLabels(messages).includes(label)).length,
        label,
      ).toBeGreaterThan(50);
  });

  it('take their contents from the given generator', () => {
    const [made] = fc.sample(conversation({ endsWith: 'user', content: fc.constant('x') }), 1);
    expect(new Set(made?.map(({ content }) => content))).toEqual(new Set(['x']));
  });

  it('shrink to one short question', () => {
    const found = fc.check(
      fc.property(conversation({ endsWith: 'user' }), (_messages) => false),
      { seed: SEED },
    );
    expect(found.counterexample?.[0]).toHaveLength(1);
    expect(found.counterexample?.[0]?.[0]?.content.length).toBeLessThanOrEqual(3);
  });
});
