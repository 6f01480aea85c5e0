// A wide softcap in some passes of a model whose others show a z-loss is none; one in all of them stays.
import { expect, test } from 'vitest';
import { withoutFalseCaps } from '../../src/trace/caps.ts';
import { isOpen } from '../../src/trace/weights.ts';

const trained = [
  undefined,
  { target: 7, weight: 0.03, residual: 1e-6, temperature: undefined, logprob: undefined },
];
const pass = (kind: 'softcap' | 'normalizer' | 'entropy', model = 0) => ({
  rank: 0,
  model,
  trained,
  terms: [{ kind }],
});

test('a cap that other passes contradict is not known', () => {
  const [sized, capped] = withoutFalseCaps([pass('normalizer'), pass('softcap')]);
  expect(sized).toEqual(pass('normalizer'));
  expect(capped?.terms).toBeUndefined();
  const [, token] = capped?.trained ?? [];
  expect(token !== undefined && isOpen(token)).toBe(true);
});

test('a cap in all passes, beside other terms, or of another model stays', () => {
  for (const rows of [
    [pass('softcap'), pass('softcap')],
    [pass('softcap'), pass('entropy')],
    [pass('normalizer'), pass('softcap', 1)],
  ])
    expect(withoutFalseCaps(rows)).toEqual(rows);
});
