import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { trajectory } from '../../../src/generators/rollouts/trajectory.ts';

const drawn = fc.sample(trajectory({ tokens: undefined, afterStop: true }), { numRuns: 500, seed: 1 });

describe('trajectory', () => {
  it('gives every sampled id a log-probability, and injected ids none', () => {
    for (const { role, ids, logprobs, finish_reason: why } of drawn.flatMap(({ turns }) => turns)) {
      expect(logprobs).toHaveLength(role === 'assistant' ? ids.length : 0);
      expect(logprobs.every((value) => value < 0 && Number(value.toFixed(2)) === value)).toBe(true);
      expect(why === 'none').toBe(role !== 'assistant');
    }
  });

  it('ends a turn with a stop token exactly where its finish reason says so', () => {
    for (const { turns, stops } of drawn)
      for (const { role, ids, finish_reason: why } of turns)
        if (role === 'assistant')
          expect(ids.filter((id) => stops.includes(id))).toHaveLength(why === 'stop' ? 1 : 0);
  });

  it('goes on without anything in between only where generation was interrupted', () => {
    for (const { turns } of drawn)
      for (const [at, { role, finish_reason: why }] of turns.entries())
        if (role === 'assistant' && turns[at + 1]?.role === 'assistant') expect(why).toBe('length');
  });

  it('leaves nothing behind a stop token where that is not asked for', () => {
    for (const { turns, stops } of fc.sample(trajectory({ tokens: undefined, afterStop: false }), 200))
      for (const { role, ids, finish_reason: why } of turns)
        if (role === 'assistant' && why === 'stop') expect(stops).toContain(ids.at(-1));
  });

  it('limits what tools say, and rewards turns, only where that is asked for', () => {
    expect(
      drawn.some(({ maxToolTokens, rewards }) => maxToolTokens !== undefined || rewards !== undefined),
    ).toBe(false);
    const asked = { tokens: undefined, afterStop: true, turnRewards: true } as const;
    const always = fc.sample(trajectory({ ...asked, toolLimit: 'always' }), { numRuns: 500, seed: 1 });
    const worth: number[] = [];
    for (const { turns, maxToolTokens, rewards = [] } of always) {
      expect(maxToolTokens).toBeGreaterThan(0);
      const injected = turns.map(({ role }) => role !== 'assistant');
      expect(rewards).toHaveLength(turns.length);
      expect(rewards.filter((reward, at) => injected[at] && reward !== 0)).toEqual([]);
      worth.push(...rewards.filter((_, at) => !injected[at]));
    }
    expect(new Set(worth.map(Math.sign))).toEqual(new Set([-1, 0, 1]));
    const sometimes = fc.sample(trajectory({ ...asked, toolLimit: 'sometimes' }), { numRuns: 500, seed: 1 });
    expect(new Set(sometimes.map(({ maxToolTokens }) => maxToolTokens))).toEqual(new Set([undefined, 1, 2]));
  });
});
