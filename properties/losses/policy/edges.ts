// Where the ratio of policy and behaviour policy stands at an edge of the clipped objective: the clip range's, or that
// of a dual clip that is not declared.
import type { LossSettings, PolicyLossInput } from '../../../src/index.ts';

/** Within this of an edge, a finite difference or float32 may fall on either side. */
const EDGE = 2 / 64;

interface LogRatio {
  readonly row: number;
  /** Absent: it is that of the whole row. */
  readonly column?: number;
  readonly logRatio: number;
  readonly advantage: number;
}

/** Log-ratios that decide: of each trained token, or with one ratio a sequence of each row. */
function logRatios(input: PolicyLossInput, { ratioLevel }: LossSettings): LogRatio[] {
  return input.mask.flatMap((mask, row): LogRatio[] => {
    const advantage = input.advantages[row] ?? 0;
    const tokens = mask.flatMap((m, column) => {
      const logRatio =
        (input.logprobs[row]?.[column] ?? Number.NaN) - (input.old_logprobs[row]?.[column] ?? Number.NaN);
      return m === 1 ? [{ row, column, logRatio, advantage }] : [];
    });
    if (ratioLevel !== 'sequence' || tokens.length === 0) return tokens;
    const sum = tokens.reduce((total, { logRatio }) => total + logRatio, 0);
    return [{ row, logRatio: sum / tokens.length, advantage }];
  });
}

/** A ratio is so near an edge of the clip range that rounding, or a finite difference, decides. */
export function nearClip(input: PolicyLossInput, settings: LossSettings): boolean {
  const { clipLow, clipHigh, dualClip = Infinity, logRatioClamp = Infinity } = settings;
  const edges = [
    Math.log(Math.max(0, 1 - clipLow)),
    Math.log(1 + clipHigh),
    Math.log(dualClip),
    logRatioClamp,
    -logRatioClamp,
  ];
  return logRatios(input, settings).some(({ logRatio }) =>
    edges.some((edge) => Math.abs(logRatio - edge) < EDGE),
  );
}

/** The least bound in use on the ratio of a bad answer (Ye et al. 2020, dual clip): verl's default, and always on there. */
const DUAL_CLIP = 3;

/** A range of the constant of a dual clip, and the tokens of which the ratio stands at one of its ends. */
export interface DualClip {
  readonly from: number;
  readonly to: number;
  readonly onEdge: (row: number, column: number) => boolean;
}

/**
 * What the one constant c >= 3 of a dual clip may be, as ranges between the ratios of bad answers: a ratio beyond c
 * has no policy gradient, so that c in a range gives one gradient, and a loss between those of its ends. A dual clip
 * is a choice, not a mistake: such a trainer stops correcting a bad answer that has become this much likelier.
 */
export function dualClips(input: PolicyLossInput, settings: LossSettings): DualClip[] {
  const bad = logRatios(input, settings).filter(({ advantage }) => advantage < 0);
  const ratios = bad.map(({ logRatio }) => Math.exp(logRatio)).filter((ratio) => ratio > DUAL_CLIP);
  const ends = [DUAL_CLIP, ...new Set(ratios.sort((a, b) => a - b)), Infinity];
  return ends.slice(1).map((to, at) => {
    const from = ends[at] ?? DUAL_CLIP;
    return {
      from,
      to,
      onEdge: (row, column) =>
        bad.some(
          (ratio) =>
            ratio.row === row &&
            (ratio.column === undefined || ratio.column === column) &&
            [from, to].some((end) => Math.abs(ratio.logRatio - Math.log(end)) < EDGE),
        ),
    };
  });
}
