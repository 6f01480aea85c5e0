// A gap for a program. What is added later may be there, what is here stays.
import type { Ranked } from '../../gap/analyse.ts';
import type { Gap } from '../../gap/gap.ts';
import { HEALTHY, isHealthy, MEASURES, SOURCES } from '../../gap/healthy.ts';
import { SIDES } from '../../gap/model.ts';
import { VERSION } from '../../version.ts';
import { verdictOf } from './gap.ts';
import { type Judged, sidesSentence } from './model.ts';
import { trainingSentence } from './training.ts';

export interface GapContext {
  readonly leftOut: { readonly rows: number; readonly first: string | undefined };
  readonly textOf?: ((id: number) => string) | undefined;
  readonly judged?: Judged | undefined;
}

/**
 * @param leftOut how many rows could not be compared, and why the first could not.
 * @param textOf of an id, where there is a tokenizer.
 * @param judged each side beside a model, where there is one.
 */
export function gapJson(gap: Gap, { leftOut, textOf, judged }: GapContext): object {
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
    missing: gap.missing ?? null,
    left_out: { rows: leftOut.rows, first: leftOut.first ?? null },
    causes: analysis.named.map(({ share, second, ...named }) => ({
      ...ranked(named),
      share,
      second: second === undefined ? null : ranked(second),
    })),
    competed: analysis.rounds.map((round) => round.map(ranked)),
    left_rms: analysis.leftRms,
    rows: c.rows,
    tokens: c.tokens,
    mean_abs: c.meanAbs,
    rms: c.rms,
    probability_gap: c.probabilityGap,
    kl_k1: c.k1,
    kl_k3: c.k3,
    mean_weight: c.meanWeight,
    weight_sd: c.weightDeviation,
    ess_tokens: c.essTokens,
    ess_rows: c.essRows,
    beyond_clip: c.clipped,
    tis_cut: c.tis,
    icepop_masked: c.icepop,
    model: judged === undefined ? null : modelJson(judged),
    training: {
      sentence: trainingSentence(gap),
      healthy: MEASURES.map((measure) => {
        const { least, most, source } = HEALTHY[measure];
        return {
          measure: FIELDS[measure],
          value: c[measure],
          least: least ?? null,
          most: most ?? null,
          is_healthy: isHealthy(c, measure),
          source: SOURCES[source].page,
        };
      }),
      bias: gap.training.corrections.map(({ name, touched, size, sign, ess }) => ({
        correction: name,
        touched,
        size,
        sign,
        ess_tokens: ess,
      })),
      groups: gap.training.groups.map(({ name, tokens, excess, error }) => ({ name, tokens, excess, error })),
    },
    largest: gap.picture.largest.map(({ where, position, id, sampling, trainer }) => ({
      row: where,
      position,
      id,
      text: textOf?.(id) ?? null,
      sampling,
      trainer,
    })),
    ids: gap.picture.ids.map(({ id, tokens, mean, share }) => ({
      id,
      text: textOf?.(id) ?? null,
      tokens,
      mean,
      share,
    })),
    by: Object.fromEntries(
      gap.breakdowns.map(({ by, parts }) => [
        by.replaceAll(' ', '_'),
        parts.map(({ name, tokens, meanAbs, mean }) => ({ name, tokens, mean_abs: meanAbs, mean })),
      ]),
    ),
  };
}

function modelJson(judged: Judged): object {
  const { against, scoring } = judged;
  return {
    sentence: sidesSentence(judged),
    folder: scoring.folder,
    dtype: scoring.dtype,
    device: scoring.device,
    rows: against.rows,
    tokens: against.tokens,
    rounding_rms: against.roundingRms ?? null,
    router_flips:
      against.flips === undefined
        ? null
        : { share: against.flips.share, rms: against.flips.rms, other_rms: against.flips.otherRms },
    left: scoring.left ?? null,
    ...Object.fromEntries(
      SIDES.map((side) => {
        const one = against[side];
        if (one === undefined) return [side, null];
        const { analysis, rms } = one;
        return [
          side,
          {
            verdict: analysis.verdict,
            rms,
            left_rms: analysis.leftRms,
            causes: analysis.named.map((named) => ({
              cause: named.id,
              share: named.share,
              parameters: named.fit.parameters,
              sentence: named.fit.sentence,
            })),
          },
        ];
      }),
    ),
  };
}

/** The field of each measure above. */
const FIELDS = {
  k1: 'kl_k1',
  k3: 'kl_k3',
  meanWeight: 'mean_weight',
  weightDeviation: 'weight_sd',
  essTokens: 'ess_tokens',
  tis: 'tis_cut',
  icepop: 'icepop_masked',
} as const;
