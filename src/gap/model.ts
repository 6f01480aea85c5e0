// Each recorded side beside what a model folder gives for the same tokens: with it, a side is right or wrong on its own. Pure: the
// log-probabilities were computed elsewhere, in float32 and, for the size of its rounding, in the dtype that the folder declares.
import { type Analysis, analyse, LEAST_ROWS, LEAST_TOKENS } from './analyse.ts';
import { CAUSES } from './causes/index.ts';
import { compare } from './compare.ts';
import type { Complaint } from './read/logprobs.ts';
import type { Rollout } from './read/read.ts';
import { type Tokens, tokensOf } from './tokens.ts';

export interface Scored {
  readonly rollout: Rollout;
  /** Of each token of the completion, in float32. */
  readonly model: Float64Array;
  /** In the declared dtype, where that is another one. */
  readonly declared?: Float64Array;
}

export interface Against {
  readonly rows: number;
  readonly tokens: number;
  readonly engine: Side;
  readonly trainer: Side;
  /** Root mean square of what the declared dtype moves; undefined where it is float32. */
  readonly roundingRms?: number;
}

export interface Side {
  readonly analysis: Analysis;
  readonly rms: number;
}

export function againstModel(scored: readonly Scored[]): Against | Complaint {
  const engine = tokensOf(scored.map(({ rollout, model }) => ({ ...rollout, trainer: model })));
  if (scored.length < LEAST_ROWS || engine.count < LEAST_TOKENS)
    return {
      complaint: `the model scored ${scored.length} rows with ${engine.count} tokens; at least ${LEAST_ROWS} rows and ${LEAST_TOKENS} tokens are needed`,
    };
  // The trainer stands in the engine's place: what is fitted is the side, what it departs from is the model.
  const trainer = tokensOf(
    scored.map(({ rollout, model }) => ({ ...rollout, sampling: rollout.trainer, trainer: model })),
  );
  const rounded = scored.flatMap(({ rollout, model, declared }) =>
    declared === undefined ? [] : [{ ...rollout, sampling: declared, trainer: model }],
  );
  return {
    rows: scored.length,
    tokens: engine.count,
    engine: { analysis: analyse(engine), rms: compare(engine).rms },
    trainer: { analysis: analyse(trainer, OF_TRAINERS), rms: compare(trainer).rms },
    ...(rounded.length === 0 ? {} : { roundingRms: rmsOf(tokensOf(rounded)) }),
  };
}

/** It is not what the model gives, by more than rounding. */
export const departs = ({ analysis: { verdict } }: Side): boolean => verdict !== 'noise';

// --- helpers ---

/** A sampler's settings are no part of a trainer. */
const OF_ENGINES: ReadonlySet<string> = new Set(['penalty', 'token-bias']);
const OF_TRAINERS = CAUSES.filter(({ id }) => !OF_ENGINES.has(id));

const rmsOf = (tokens: Tokens): number => compare(tokens).rms;
