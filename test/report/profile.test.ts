import { expect, test } from 'vitest';
import { profileTrainer } from '../../src/check/profile/profile.ts';
import { type Hello, objectTrainer } from '../../src/index.ts';
import { profileLines } from '../../src/report/profile.ts';
import { type Made, madeSpec } from '../check/profile/profiled.ts';

async function table(width: number, hello: Partial<Hello> = {}, how: Made = {}): Promise<string[]> {
  const spec = madeSpec(how);
  const trainer = objectTrainer({
    hello: { ...spec.hello, ...hello, ops: { ...spec.hello.ops, sampling: {} } },
    ops: {
      ...spec.ops,
      sampling: ({ logits }) => ({
        logprobs: logits,
        sampled_logprobs: logits.map((row) => Math.max(...row)),
      }),
    },
  });
  return profileLines(trainer.hello, await profileTrainer({ trainer, tokenizer: undefined }), { width });
}

test('items stand under their stage, and those of ops that are not there in a line of their own', async () => {
  const lines = await table(100);
  const titles = lines.filter((line) => /^(KL|advantages|policy loss|preference loss)$/.test(line));
  expect(titles).toEqual(['KL', 'advantages', 'policy loss', 'preference loss']);
  const preference = lines.indexOf('preference loss');
  expect(lines[preference + 1]).toBe(
    '  · op not offered: `preference_loss` (preference_objective, preference_beta,',
  );
  expect(lines[preference + 2]).toBe('    preference_label_smoothing, preference_gamma)');
  // A declared item has a row of its own all the same.
  const declared = await table(100, { semantics: { preference_beta: 0.1 } });
  expect(declared.some((line) => /^ {2}preference_beta +0\.1 +– +· op not offered/.test(line))).toBe(true);
});

test('words that do not fit go on in their column, or below the row where there is no column for them', async () => {
  const wide = await table(90);
  const at = wide.findIndex((line) => line.includes('  entropy_coef'));
  const column = (wide[at] ?? '').indexOf('· not measured');
  expect(column).toBeGreaterThan(0);
  expect(wide[at + 1]?.slice(0, column).trim()).toBe('');
  expect(`${wide[at]?.slice(column)} ${wide[at + 1]?.trim()}`).toBe(
    '· not measured: op `loss` does not offer entropy',
  );
  const narrow = await table(60);
  expect(narrow).toContain('    · not measured: op `loss` does not offer entropy');
  expect(narrow.filter((line) => line.startsWith('    ') && line.length > 60)).toEqual([]);
});

test('what is to be declared keeps a key and its value on one line', async () => {
  const lines = await table(60);
  const start = lines.indexOf('To declare it (semantics):');
  const body = lines.slice(start + 1).map((line) => line.trim());
  expect(body.every((line) => /^"\w+": \S+(, "\w+": \S+)*,?$/.test(line))).toBe(true);
  const parsed: unknown = JSON.parse(`{${body.join('')}}`);
  expect(parsed).toMatchObject({ kl_estimator: 'k3', dual_clip: null, log_ratio_clamp: null });
});

test('a side that is not clipped is declared as null, and agrees', async () => {
  const open: Made = { clip: [Infinity, Infinity] };
  const lines = await table(100, {}, open);
  const body = lines.slice(lines.indexOf('To declare it (semantics):') + 1).map((line) => line.trim());
  const semantics = JSON.parse(`{${body.join('')}}`) as NonNullable<Hello['semantics']>;
  expect(semantics).toMatchObject({ clip_low: null, clip_high: null });
  const declared = await table(100, { semantics }, open);
  expect(declared.some((line) => /clip_low +none +none +. as declared/.test(line))).toBe(true);
  expect(declared).not.toContain('To declare it (semantics):');
});
