// A loss of another scale than its evaluation or its perplexity is found in the logs of any trainer; where that may be meant, it is a remark.
import { describe, expect, test } from 'vitest';
import { held, SCALES } from './cases/scales.ts';
import { drawn } from './cases/values.ts';
import { FORMATS, verdictAs } from './formats.ts';

const { falling, noisy } = drawn(72);
const LOSS = falling(60, 2);
const half = LOSS.map((value) => value / 2);

describe.each(FORMATS)('in %s', (format) => {
  test.each(Object.entries(SCALES))(
    '%s is broken by what breaks it, and by nothing else',
    async (id, cases) => {
      const rule = id.replace('monitor/', '');
      for (const log of cases.breaking)
        expect((await verdictAs(format, log)).failed, log.what).toHaveProperty(rule);
      for (const log of cases.holding)
        expect((await verdictAs(format, log)).failed, log.what).not.toHaveProperty(rule);
    },
  );
});

test('two micro-batches are asked about: text that is twice as hard is legal', async () => {
  const { failed, remarks } = await verdictAs('trainer_state.json', {
    series: { loss: half, eval_loss: held(LOSS) },
    declared: { gradient_accumulation_steps: 2 },
  });
  expect(failed).toEqual({});
  expect(remarks).toMatch(/accumulates 2 steps: is it divided by them twice\?/);
});

test('where no accumulation is declared, a factor of eight is asked about', async () => {
  const { failed, remarks } = await verdictAs('CSV', {
    series: { 'train/loss': LOSS.map((value) => 8 * value), 'val/loss': held(LOSS) },
  });
  expect(failed).toEqual({});
  expect(remarks).toMatch(/declares no steps of gradient accumulation/);
});

test('a perplexity per byte is asked about, and that of the same tokens is not', async () => {
  const bytes = { series: { loss: LOSS, ppl: LOSS.map((value) => Math.exp(value / 4.3)) } };
  expect((await verdictAs('JSON lines', bytes)).remarks).toMatch(/is the exponential of 0\.233 times loss/);
  const same = { series: { loss: LOSS, ppl: LOSS.map(Math.exp), grad_norm: noisy(60, 1) } };
  expect((await verdictAs('JSON lines', same)).remarks).toBe('');
});
