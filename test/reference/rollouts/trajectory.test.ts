import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutTools, ownTurns, placeTurns, turnTokens } from '../../../src/reference/index.ts';
import type { Turn } from '../../../src/vocabulary.ts';

const said = (...ids: number[]): Turn => ({
  role: 'assistant',
  ids,
  logprobs: ids.map(() => -1),
  finish_reason: 'stop',
});
const tool = (...ids: number[]): Turn => ({ role: 'tool', ids, logprobs: [], finish_reason: 'none' });
const parts = (row: readonly number[], turns: readonly Turn[]) =>
  placeTurns(row, [1], turns, [2])[0]?.map(({ part, turn }) => `${turn} ${part}`);

describe('placeTurns', () => {
  const turns = [said(5, 2, 6), tool(2, 7), said(8)];

  it('says what each token is; a stop token that was injected is none', () => {
    expect(parts([1, 5, 2, 6, 2, 7, 8], turns)).toEqual([
      '-1 prompt',
      '0 sampled',
      '0 stop',
      '0 after stop',
      '1 injected',
      '1 injected',
      '2 sampled',
    ]);
  });

  it('accepts a row without what stands behind a stop, and one that ends with an earlier turn', () => {
    expect(parts([1, 5, 2, 2, 7, 8], turns)).toHaveLength(6);
    expect(parts([1, 5, 2], turns)).toEqual(['-1 prompt', '0 sampled', '0 stop']);
    expect(parts([1], turns)).toEqual(['-1 prompt']);
  });

  it('says all readings of a row whose turn goes on like the next', () => {
    const alike = [said(2, 7), tool(7), said(7)];
    expect(placeTurns([1, 2, 7, 7], [1], alike, [2])).toHaveLength(2);
    expect(placeTurns([1, 2], [1], alike, [2])).toHaveLength(1);
  });

  it.each([
    ['a token lost', [1, 5, 2, 7, 8]],
    ['a token added', [1, 5, 2, 2, 7, 8, 2]],
    ['a turn broken off', [1, 5, 2, 2]],
    ['a prompt lost', [5, 2, 2, 7, 8]],
    ['a turn skipped', [1, 5, 2, 8]],
  ])('refuses %s', (_, row) => {
    expect(parts(row, turns)).toBeUndefined();
  });

  it('agrees with brute force over all rows that the definition allows', () => {
    const ids = fc.array(fc.constantFrom(2, 5), { maxLength: 3 });
    const turn = fc
      .record({ role: fc.constantFrom('assistant', 'tool'), ids })
      .map((made): Turn => ({ ...made, logprobs: [], finish_reason: 'none' }) as Turn);
    fc.assert(
      fc.property(
        fc.array(turn, { maxLength: 3 }),
        fc.array(fc.constantFrom(1, 2, 5), { maxLength: 7 }),
        (drawn, row) => {
          // Every choice of turns that keep what stands behind their stop, and of the turn that the row ends with.
          let legal = false;
          for (let end = 0; end <= drawn.length; end++)
            for (let choice = 0; choice < 2 ** end; choice++) {
              const laid = drawn.slice(0, end).flatMap(({ role, ids: all }, at) => {
                const stop = role === 'assistant' ? all.indexOf(2) : -1;
                return stop >= 0 && (choice >> at) % 2 === 1 ? all.slice(0, stop + 1) : all;
              });
              legal ||= JSON.stringify([1, ...laid]) === JSON.stringify(row);
            }
          const found = placeTurns(row, [1], drawn, [2]);
          expect(found.length > 0).toBe(legal);
          for (const tokens of found) expect(tokens.map(({ id }) => id)).toEqual(row);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('ownTurns', () => {
  const turns = [said(5, 2), tool(7), said(8, 2), said(9)];
  const row = (end: number) => turnTokens([1], turns.slice(0, end + 1), [2]);

  it('gives one row all turns, and rows with histories their last', () => {
    expect(ownTurns([row(3)], turns)).toEqual([[0, 2, 3]]);
    expect(ownTurns([row(0), row(2), row(3)], turns)).toEqual([[0], [2], [3]]);
    expect(ownTurns([row(3), row(0)], turns)).toEqual([[2, 3], [0]]);
    expect(ownTurns([row(2), row(2)], turns)).toEqual([[0, 2], []]);
  });
});

describe('cutTools', () => {
  const user: Turn = { ...tool(1, 2, 3, 4, 5), role: 'user' };
  const turns = [said(1, 2, 3, 4, 5), tool(1, 2, 3, 4, 5), tool(6, 7, 8), user];
  const left = (...of: Parameters<typeof cutTools>) => cutTools(...of).map((cut) => cut[1]?.ids);

  it.each([
    ['right', 3, [[1, 2, 3]]],
    ['left', 3, [[3, 4, 5]]],
    [
      'middle',
      3,
      [
        [1, 2, 5],
        [1, 4, 5],
      ],
    ],
    ['middle', 4, [[1, 2, 4, 5]]],
    ['middle', 1, [[1], [5]]],
  ] as const)('loses ids on the side %s of %i that stay', (side, limit, ids) => {
    expect(left(turns, limit, side)).toEqual(ids);
  });

  it('has each legal cut once where no side is declared', () => {
    expect(left(turns, 3, undefined)).toEqual([
      [1, 2, 3],
      [3, 4, 5],
      [1, 2, 5],
      [1, 4, 5],
    ]);
    expect(left(turns, 1, undefined)).toEqual([[1], [5]]);
  });

  it('leaves alone what fits, what the policy sampled, and users', () => {
    for (const cut of cutTools(turns, 3, undefined))
      expect([cut[0], cut[2], cut[3]]).toEqual([turns[0], turns[2], turns[3]]);
    expect(cutTools(turns, 5, 'left')).toEqual([turns]);
    expect(cutTools(turns, undefined, 'left')).toEqual([turns]);
  });
});
