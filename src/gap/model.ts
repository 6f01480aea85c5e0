// Each recorded side beside what a model folder gives for the same tokens: with it, a side is right or wrong on its own. Pure: the
// log-probabilities were computed elsewhere, in float32 and, for the size of its rounding, in the dtype that the folder declares.
import { type Analysis, analyse, LEAST_ROWS, LEAST_TOKENS } from './analyse.ts';
import type { Fit } from './cause.ts';
import { CAUSES } from './causes/index.ts';
import { compare } from './compare.ts';
import type { Complaint } from './read/logprobs.ts';
import type { Rollout } from './read/read.ts';
import { type Tokens, tokensOf } from './tokens.ts';

export const SIDES = ['engine', 'trainer'] as const;
export type SideName = (typeof SIDES)[number];

export interface Scored {
  /** Of a side that no file has, the model's. */
  readonly rollout: Rollout;
  /** Of each token of the completion, in float32. */
  readonly model: Float64Array;
  /** In the declared dtype, where that is another one. */
  readonly declared?: Float64Array;
  /** Of a mixture of experts: 1 where the token before was sent to other experts in the declared dtype. */
  readonly flipped?: Uint8Array;
}

/** Tokens that went to other experts in the declared dtype than in float32. */
export interface Flips {
  /** Of tokens. */
  readonly share: number;
  /** Root mean square of what the declared dtype moves, of these and of the others. */
  readonly rms: number;
  readonly otherRms: number;
}

export interface Against {
  readonly rows: number;
  readonly tokens: number;
  /** Absent: no file has this side. */
  readonly engine?: Side;
  readonly trainer?: Side;
  /** Root mean square of what the declared dtype moves; undefined where it is float32. */
  readonly roundingRms?: number;
  /** Absent: it is no mixture of experts, or was not seen to be one. */
  readonly flips?: Flips;
}

/** Of files that have both. */
export type OfBoth = Against & Required<Pick<Against, SideName>>;

export interface Side {
  /** Its sentences name this side and the model. */
  readonly analysis: Analysis;
  readonly rms: number;
}

/** @param missing the side that no file has. */
export function againstModel(scored: readonly Scored[], missing?: undefined): OfBoth | Complaint;
export function againstModel(scored: readonly Scored[], missing?: SideName): Against | Complaint;
export function againstModel(scored: readonly Scored[], missing?: SideName): Against | Complaint {
  const engine = tokensOf(scored.map(({ rollout, model }) => ({ ...rollout, trainer: model })));
  if (scored.length < LEAST_ROWS || engine.count < LEAST_TOKENS)
    return {
      complaint: `the model scored ${scored.length} rows with ${engine.count} tokens; at least ${LEAST_ROWS} rows and ${LEAST_TOKENS} tokens are needed`,
    };
  // The trainer stands in the engine's place: what is fitted is the side, what it departs from is the model.
  const trainer = tokensOf(
    scored.map(({ rollout, model }) => ({ ...rollout, sampling: rollout.trainer, trainer: model })),
  );
  const rounded = scored.flatMap(({ rollout, model, declared, flipped }) =>
    declared === undefined ? [] : [{ ...rollout, sampling: declared, trainer: model, flipped }],
  );
  const roundingRms = rounded.length === 0 ? undefined : compare(tokensOf(rounded)).rms;
  const flips = flipsIn(rounded);
  return {
    rows: scored.length,
    tokens: engine.count,
    ...(missing === 'engine' ? {} : { engine: sideOf('engine', engine, roundingRms) }),
    ...(missing === 'trainer' ? {} : { trainer: sideOf('trainer', trainer, roundingRms) }),
    ...(roundingRms === undefined ? {} : { roundingRms }),
    ...(flips === undefined ? {} : { flips }),
  };
}

/** Those that the files have. */
export function sidesOf(against: Against): readonly { readonly name: SideName; readonly side: Side }[] {
  return SIDES.flatMap((name) => {
    const side = against[name];
    return side === undefined ? [] : [{ name, side }];
  });
}

/** It is not what the model gives, by more than rounding. */
export const departs = ({ analysis: { verdict } }: Side): boolean => verdict !== 'noise';

// --- helpers ---

/** A sampler's settings are no part of a trainer. */
const OF_ENGINES: ReadonlySet<string> = new Set(['penalty', 'token-bias']);
const OF_TRAINERS = CAUSES.filter(({ id }) => !OF_ENGINES.has(id));

/** A side has its own rounding: as large as that of the model, and not much larger. */
const TIMES_ROUNDING = 1.5;

function flipsIn(
  rows: readonly (Rollout & { readonly flipped?: Uint8Array | undefined })[],
): Flips | undefined {
  if (!rows.some(({ flipped }) => flipped !== undefined)) return undefined;
  const rmsWhere = (flag: number) => {
    const tokens = tokensOf(
      rows.map((row) => ({ ...row, written: (at) => row.written(at) && row.flipped?.[at] === flag })),
    );
    return { count: tokens.count, rms: tokens.count === 0 ? 0 : compare(tokens).rms };
  };
  const [others, there] = [rmsWhere(0), rmsWhere(1)];
  return { share: there.count / (there.count + others.count), rms: there.rms, otherRms: others.rms };
}

function sideOf(name: SideName, tokens: Tokens, roundingRms = 0): Side {
  const causes = name === 'engine' ? CAUSES : OF_TRAINERS;
  const { named, rounds, ...rest } = analyse(tokens, causes, TIMES_ROUNDING * roundingRms);
  return {
    analysis: {
      ...rest,
      named: named.map((each) => ({ ...each, fit: withNames(each.fit, name) })),
      rounds: rounds.map((round) => round.map((each) => ({ ...each, fit: withNames(each.fit, name) }))),
    },
    rms: compare(tokens).rms,
  };
}

/** A cause speaks of engine and trainer, in whose places this side and the model stand. */
function withNames(fit: Fit, name: SideName): Fit {
  const sentence = fit.sentence
    .replaceAll(/engine|trainer/g, (word) => (word === 'engine' ? name : 'model'));
  return { ...fit, sentence };
}
