// Legal steps that are coarse: an inference engine coarser than its trainer, steps that bfloat16 hardly shows.
import type { Args, Ok } from '../../../src/index.ts';
import { type Legal, legal, type Rows } from '../legal.ts';
import { b16 } from '../rounding.ts';

/** A number between 0 and 1 for these ids. */
function hash(ids: readonly number[]): number {
  const mixed = ids.reduce((state, id) => Math.imul(state ^ (id + 1), 16777619) ^ (state >>> 13), 2166136261);
  return (Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d) >>> 0) / 2 ** 32;
}

const scoresOf = ({ prompt_ids, completion_ids }: Args<'update'>): number[][] =>
  completion_ids.map((ids, row) =>
    ids.map((_, at) => -4 * hash([...(prompt_ids[row] ?? []), ...ids.slice(0, at + 1)]) - 0.01),
  );

const mapped = (rows: Rows, map: (value: number, row: number, column: number) => number): number[][] =>
  rows.map((row, b) => row.map((value, t) => map(value, b, t)));

/** The engine's scores lie up to 0.025 beside those of the new weights, as those of bfloat16 kernels do. */
function coarseEngine(args: Args<'update'>): Ok<'update'> {
  const before = scoresOf(args);
  const after = mapped(before, (value, b, t) => value - 0.05 - 0.1 * hash([b, t]));
  return {
    before,
    after,
    sampler_after: mapped(after, (value) => value + 0.05 * (hash([value * 1e6]) - 0.5)),
  };
}

/** Most scores are rounded to what they were. */
function smallSteps(args: Args<'update'>): Ok<'update'> {
  const before = scoresOf(args);
  return { before: mapped(before, b16), after: mapped(before, (value) => b16(value * (1 + 2 ** -8))) };
}

const tokens = { vocab_size: 32, pad_token_id: 0, eos_token_ids: [2] };

export const updates: readonly Legal[] = [
  legal('an engine that is coarser than its trainer', { update: coarseEngine }, { dtype: 'float32', tokens }),
  legal('steps that bfloat16 hardly shows', { update: smallSteps }, { dtype: 'bfloat16', tokens }),
];
