// Gaps for tests of their page: one of each verdict, and one whose every text would act if it were let.
import { type Gap, gapOf } from '../../../../src/gap/gap.ts';
import type { GapPage } from '../../../../src/report/html/gap/gap.ts';
import { type Planted, rolloutsWith } from '../../../gap/model.ts';
import { bf16 } from '../../../gap/noise.ts';
import { both, otherWeights, shifted } from '../../../gap/planted.ts';

const NOISE: Planted = { engine: bf16, trainer: bf16 };

export const PLANTED_PAGES = {
  noise: NOISE,
  cause: { ...NOISE, recorded: shifted(1) },
  unexplained: { ...NOISE, trainer: both(otherWeights(0.95), bf16) },
} as const satisfies Readonly<Record<Gap['analysis']['verdict'], Planted>>;

export function gapWith(planted: Planted, where = (row: number): string => `a.jsonl row ${row + 1}`): Gap {
  const rollouts = rolloutsWith(planted, { seed: 21, rows: 60, length: 30 }).map((rollout, row) => ({
    ...rollout,
    where: where(row),
  }));
  const gap = gapOf(rollouts);
  if ('complaint' in gap) throw new Error(gap.complaint);
  return gap;
}

export const pageOf = (gap: Gap, more: Partial<GapPage> = {}): GapPage => ({
  gap,
  name: 'a.jsonl',
  textOf: undefined,
  notes: [],
  ...more,
});

/** Each text of it is `text`: files, fields, rows, tokens, notes, and sentences of causes. */
export function hostileGap(text: string): GapPage {
  const gap = gapWith(PLANTED_PAGES.cause, () => text);
  const named = gap.analysis.named.map((each) => ({
    ...each,
    fit: { ...each.fit, sentence: text, experiment: text },
  }));
  return pageOf(
    { ...gap, names: { sampling: text, trainer: text }, analysis: { ...gap.analysis, named } },
    { name: text, textOf: () => text, notes: [text] },
  );
}
