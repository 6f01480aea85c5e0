// Loops that sample, in the ways that people write them: what is recorded of them, against what they did.
import { beforeAll, expect, test } from 'vitest';
import { type Answered, casesOf } from './cases.ts';

let cases: ReadonlyMap<string, Answered>;
beforeAll(async () => {
  cases = await casesOf('loops_cases.py');
}, 600_000);

test('no case gave the tracer trouble, and none ended in an exception', () => {
  expect(cases.size).toBeGreaterThan(10);
  for (const [name, { troubles, out }] of cases) {
    expect(troubles, name).toEqual([]);
    expect(out, name).not.toHaveProperty('error');
  }
});

test.each([
  ['whole prefix', 1, 0],
  ['prefix cut to what the model takes', 1, 0],
  ['new columns with a cache', 1, 0],
  ['a buffer that is written to', 1, 0],
  ['several of one prompt', 1, 0],
  // The call that scores is told, and it alone.
  ['scored afterwards', 1, 1],
  ['two one after the other', 2, 0],
  ['with gradients on', 1, 6],
  ['a token that is never drawn', 1, 0],
])('%s', (name, loops, scored) => {
  expect(cases.get(name)?.out).toEqual({
    same: true,
    settings: Array.from({ length: loops }, () => [true, 0.8, {}]),
    scored,
  });
});

test('rows that have stopped are known by what they are filled with', () => {
  expect(cases.get('rows that have stopped and go on')?.out).toEqual({ lengths: true, stops: [5] });
});

test('top-p and top-k are told where the draws leave no doubt', () => {
  expect(cases.get('shares and numbers of likely tokens')?.out).toEqual({
    share: { top_p: 0.8 },
    'too few to tell which': {},
    number: { top_k: 8 },
    'of one distribution': {},
  });
});

test('behind a penalty or a bias the temperature is that of the tokens that it leaves alone', () => {
  expect(cases.get('logits processors')?.out).toEqual({
    presence: [0.8, ['moved']],
    repetition: [0.8, ['moved']],
    bias: [0.8, ['moved']],
    none: [0.8, []],
    // No token is left alone: nothing is guessed.
    'all of them': [null, ['unread']],
  });
});

test('calls that only score are no loop', () => {
  expect(cases.get('no loop at all')?.out).toEqual({ generated: 0, scored: 4 });
});
