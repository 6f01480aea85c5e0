// Every correct trainer in Python, with its declaration taken away: each item is measured as what it is, or said to have
// no effect, and never as something else.
import { afterAll, expect, test } from 'vitest';
import type { ItemRow } from '../../../src/check/profile/items.ts';
import { profileTrainer } from '../../../src/check/profile/profile.ts';
import { measureUndeclared } from '../../../src/check/profile/undeclared.ts';
import { isClampByEstimator, klClampOf, type Semantics, type Trainer } from '../../../src/index.ts';
import { type Convention, conventions, LEGAL } from '../../conformance/correct.ts';
import { startResident } from '../../resident.ts';
import { undeclared } from './profiled.ts';

const resident = startResident();
afterAll(() => resident.stop());
const UNDECLARED = '-undeclared';
const all = conventions();

/** In half precision a few values may be alike; the true one is then among them. */
const isHalf = ({ hello }: Trainer): boolean => hello.dtype === 'bfloat16';

function wrong(row: ItemRow, is: Semantics, trainer: Trainer): string | undefined {
  const truth = is[row.item];
  const said = `${row.item} is ${truth}: ${row.verdict} ${row.fits.join(' or ')} ${row.why ?? ''}`;
  if (row.verdict === 'untold') return isHalf(trainer) && row.fits.includes(truth ?? null) ? undefined : said;
  if (row.verdict === 'unknown' || row.verdict === 'conflict') return said;
  if (row.fits.length === 0) return truth === undefined || SILENT.test(row.why ?? '') ? undefined : said;
  // What has no effect is not listed as what it is; a clip that is not there cannot be declared.
  if (truth === undefined) return HARMLESS[row.item] === row.fits[0] ? undefined : said;
  return row.fits[0] === truth ? undefined : said;
}

/** An item without a number in the list is not clipped. */
const HARMLESS: Partial<Record<keyof Semantics, unknown>> = {
  clip_low: Number.POSITIVE_INFINITY,
  clip_high: Number.POSITIVE_INFINITY,
};
const SILENT =
  /has no effect|does not offer|speaks for it|could not be told|clipped on both sides tells neither/;

test.each(all)('$name is measured as what it is', async ({ name, open, is }) => {
  const { trainer } = await open(resident);
  try {
    const { items } = await profileTrainer({ trainer: undeclared(trainer), tokenizer: undefined });
    expect(items.flatMap((row) => wrong(row, is, trainer) ?? [])).toEqual([]);
    if (!name.endsWith(UNDECLARED)) return;
    const { semantics: quick } = await measureUndeclared({ trainer, tokenizer: undefined });
    for (const [item, value] of Object.entries(quick))
      if (item in is) expect([item, value]).toEqual([item, is[item as keyof Semantics]]);
  } finally {
    await trainer.stop();
  }
});

test.each(LEGAL)('$name is not measured as something else', async ({ open }) => {
  const { trainer, tokenizer } = await open();
  const declared: Semantics = trainer.hello.semantics ?? {};
  const { measured } = await profileTrainer({ trainer: undeclared(trainer), tokenizer });
  // One clamp is that of the trainer's own estimator, where others may be measured beside it.
  const { kl_estimator: own, kl_clamp: clamp } = declared;
  const ofOwn =
    own === undefined || isClampByEstimator(clamp) ? {} : { kl_clamp: klClampOf(measured.kl_clamp, own) };
  for (const [item, value] of Object.entries({ ...measured, ...ofOwn }))
    if (value !== undefined && item in declared)
      expect([item, anyWayRound(value)]).toEqual([item, anyWayRound(declared[item as keyof Semantics])]);
});

/** A log-ratio that is bounded on one side may be turned round in a declaration. */
const anyWayRound = (value: unknown): unknown =>
  Array.isArray(value) ? value.map((end) => (end === null ? null : Math.abs(Number(end)))).sort() : value;

test('each legal choice has a trainer that makes it', () => {
  const plain = all.filter(({ name }) => !name.endsWith(UNDECLARED));
  expect(plain.length).toBeGreaterThanOrEqual(14);
  const values = (item: keyof Semantics): unknown[] => [
    ...new Set(plain.map(({ is }: Convention) => is[item])),
  ];
  expect(values('advantage_baseline').sort()).toEqual([
    'batch-mean',
    'group-mean',
    'leave-one-out',
    'leave-one-out-max',
    'length-weighted',
    'none',
  ]);
  expect(values('loss_aggregation')).toHaveLength(4);
  expect(values('kl_estimator')).toHaveLength(4);
  expect(values('advantage_scaling')).toHaveLength(3);
  expect(values('sft_target')).toHaveLength(3);
  expect(values('advantage_epsilon').length).toBeGreaterThanOrEqual(5);
  expect(values('sft_objective').sort()).toEqual(['dft', 'nll']);
  expect(values('preference_objective').sort()).toEqual(['dpo', 'dpo_norm', 'hinge', 'ipo', 'simpo']);
  expect(values('sampling_logprobs').sort()).toEqual(['processed', 'raw', 'temperature']);
  // One that has no effect is not listed.
  expect(values('truncation_side').sort()).toEqual(['left', 'right', undefined]);
  expect(values('value_aggregation')).toHaveLength(3);
  expect(values('value_clip')).toContain(null);
  for (const item of ['value_clip', 'value_loss_factor'] as const)
    expect(values(item).length).toBeGreaterThanOrEqual(3);
  expect(values('reward_centering')).toHaveLength(3);
  expect(values('unpaired_objective').sort()).toEqual(['apo_zero', 'kto']);
  expect(values('unpaired_beta')).toHaveLength(3);
  for (const item of ['desirable_weight', 'undesirable_weight'] as const)
    expect(values(item)).toHaveLength(2);
  for (const item of ['overlong', 'whiten_mean', 'whiten_ddof'] as const)
    expect(values(item)).toHaveLength(2);
  for (const item of ['preference_beta', 'preference_gamma', 'preference_label_smoothing'] as const)
    expect(values(item).length).toBeGreaterThanOrEqual(4);
  for (const item of ['entropy_coef', 'log_ratio_clamp'] as const)
    expect(values(item).length).toBeGreaterThanOrEqual(5);
});
