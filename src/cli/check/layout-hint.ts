// Whether a mask looks right in another layout than the declared one. A layout is one word, and with the wrong one every
// property of the op fails and none of them says why; so `doctor` looks for it before anybody reads those.
import fc from 'fast-check';
import { stopsOf } from '../../check/needs.ts';
import type { Property, World } from '../../check/property.ts';
import { type MaskedRow, plannedRows } from '../../check/rows/rows.ts';
import { runCase } from '../../check/subject.ts';
import { type Batch, batch } from '../../generators/rollouts/batch.ts';
import type { Trainer } from '../../trainer/trainer.ts';
import type { Layout } from '../../vocabulary.ts';

/** So many batches have rows of all kinds; a mask that is only placed wrongly in some of them fits no shift in all. */
const BATCHES = 10;
/** Any fixed number: the same doctor says the same twice. */
const SEED = 1;
/** With fewer trained tokens, a row fits a shift by chance. */
const LEAST_TOKENS = 2;
/** Rows that must fit: masks with another fault as well fit in the rows that the fault spares. */
const LEAST_SHARE = 0.25;
/** As often as the declared layout fits; two faults may undo each other in a few rows. */
const LEAST_TIMES = 3;

/** A sentence where hardly a row of the trainer's mask fits, and many do one column on; undefined otherwise. */
export async function layoutHint(trainer: Trainer, world: World): Promise<string | undefined> {
  const { hello } = world;
  const fits = { right: 0, late: 0, early: 0, rows: 0 };
  const probe: Property<Batch> = {
    ...PROBE,
    given: () => batch({ ...stopsOf(world, 'mask'), minRows: 2 }),
    check: async (subject, drawn) => {
      for (const row of await plannedRows(subject, drawn)) {
        if (row.completion.length < LEAST_TOKENS) continue;
        fits.rows++;
        if (fitsAt(row, 0)) fits.right++;
        else if (fitsAt(row, 1)) fits.late++;
        else if (fitsAt(row, -1)) fits.early++;
      }
      return undefined;
    },
  };
  for (const given of fc.sample(probe.given(world), { seed: SEED, numRuns: BATCHES }))
    await runCase(probe, trainer, world, given);
  const most = Math.max(fits.late, fits.early);
  if (most === 0 || most < LEAST_SHARE * fits.rows || most < LEAST_TIMES * fits.right) return undefined;
  const where = `${most} of ${fits.rows} rows`;
  return sentence(fits.late > fits.early, where, hello.ops.mask?.layout ?? hello.layout);
}

const PROBE = {
  id: 'mask/layout',
  title: 'The mask is in the declared layout',
  stage: 'mask',
  level: 'must',
  why: '',
  catches: [],
  ops: ['mask'],
} as const;

/** Whether the mask is that of the token `shift` columns before; what a stop token has is the trainer's choice. */
function fitsAt(row: MaskedRow, shift: number): boolean {
  return row.roles.every((_, column) => {
    const role = row.roles[column - shift];
    if (role === undefined || role === 'stop' || role === 'after stop') return true;
    return (row.mask[column] ?? 0) === Number(role === 'completion');
  });
}

function sentence(isLate: boolean, where: string, declared: Layout | undefined): string {
  const { alignment, span } = declared ?? { alignment: 'token', span: 'row' };
  const moved = `answers, but its ones stand one column ${isLate ? 'late' : 'early'} in ${where}.`;
  const other =
    isLate && alignment === 'predictor'
      ? 'token'
      : !isLate && alignment === 'token' && span === 'row'
        ? 'predictor'
        : undefined;
  if (other === undefined) return `${moved} No layout explains that: check will show it (MSK-04).`;
  const layout = `{"alignment": "${other}", "span": "row"}`;
  const speaks = other === 'token' ? 'token t' : 'token t + 1';
  return `${moved} If its index t is for ${speaks}, declare that: @lossproof.op(layout=${layout}) for this op, or layout= in serve() for all. If not, it is a bug (MSK-04).`;
}
