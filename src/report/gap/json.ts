// A gap for a program. What is added later may be there, what is here stays.
import type { Ranked } from '../../gap/analyse.ts';
import type { Gap } from '../../gap/gap.ts';
import { VERSION } from '../../version.ts';
import { verdictOf } from './gap.ts';

/** @param leftOut how many rows could not be compared, and why the first could not. */
export function gapJson(
  gap: Gap,
  leftOut: { readonly rows: number; readonly first: string | undefined },
): object {
  const { comparison: c, analysis } = gap;
  const ranked = ({ id, fit, score }: Ranked): object => ({
    cause: id,
    share: score.share,
    nats_per_row: score.gain,
    standard_errors: score.certainty,
    parameters: fit.parameters,
    sentence: fit.sentence,
    experiment: fit.experiment,
  });
  return {
    version: VERSION,
    verdict: analysis.verdict,
    sentence: verdictOf(gap),
    fields: gap.names,
    left_out: { rows: leftOut.rows, first: leftOut.first ?? null },
    causes: analysis.named.map(({ share, second, ...named }) => ({
      ...ranked(named),
      share,
      second: second === undefined ? null : ranked(second),
    })),
    left_rms: analysis.leftRms,
    rows: c.rows,
    tokens: c.tokens,
    mean_abs: c.meanAbs,
    rms: c.rms,
    probability_gap: c.probabilityGap,
    kl_k1: c.k1,
    kl_k3: c.k3,
    mean_weight: c.meanWeight,
    ess_tokens: c.essTokens,
    ess_rows: c.essRows,
    beyond_clip: c.clipped,
    tis_cut: c.tis,
    icepop_masked: c.icepop,
    by: Object.fromEntries(
      gap.breakdowns.map(({ by, parts }) => [
        by.replaceAll(' ', '_'),
        parts.map(({ name, tokens, meanAbs, mean }) => ({ name, tokens, mean_abs: meanAbs, mean })),
      ]),
    ),
  };
}
