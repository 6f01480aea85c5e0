// Every correct trainer in Python, with its declaration taken away: each item is measured as what it is, or said to have
// no effect, and never as something else.
import { afterAll, expect, test } from 'vitest';
import type { ItemRow } from '../../../src/check/profile/items.ts';
import { profileTrainer } from '../../../src/check/profile/profile.ts';
import { measureUndeclared } from '../../../src/check/profile/undeclared.ts';
import { isClampByEstimator, klClampOf, type Semantics, type Trainer } from '../../../src/index.ts';
import type { Choice } from '../../../src/vocabulary/choice.ts';
import { CHOICES } from '../../../src/vocabulary/choices.ts';
import { conventions, LEGAL } from '../../conformance/correct.ts';
import { startResident } from '../../resident.ts';
import { ODD } from '../questions/odd.ts';
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

/** What some correct trainer must do: every value of a list, either of a flag; of a promise, what needs to be said. */
function wanted({ values, meant, usual }: Choice): readonly unknown[] {
  if (meant !== undefined) return [meant.value];
  if (values === 'flag') return [true, false];
  return typeof values === 'string' ? [] : values.filter((value) => value !== usual);
}

test('each legal choice has a trainer that makes it', async () => {
  const opened = await Promise.all(
    LEGAL.map(async ({ open, is }) => ({ ...(await open()).trainer.hello.semantics, ...is })),
  );
  const trainers: Semantics[] = [...all, ...ODD].flatMap(({ is }) => is ?? []).concat(opened);
  const missing = Object.entries<Choice>(CHOICES).flatMap(([name, choice]) => {
    const made = new Set(trainers.map((each) => each[name as keyof Semantics]));
    const lacks = wanted(choice).filter((value) => !made.has(value as never));
    return made.size > 1 ? lacks.map((value) => `${name} ${value}`) : [name];
  });
  // Not to promise it is to leave it out.
  expect(missing).toEqual(['completions_always_stop false']);
});
