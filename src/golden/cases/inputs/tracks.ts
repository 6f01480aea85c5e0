// Numbers of golden cases that stand beside the tokens of a batch. Every number is a multiple of 1/16, so that it is the
// same in every precision and on every platform.
import type { World } from '../../../check/property.ts';
import type { Args, Op } from '../../../protocol/message.ts';
import type { Matrix } from '../../../vocabulary.ts';
import { type GoldenCase, goldenCase } from '../../case.ts';

/** (B, T): value n of the grid, in reading order, is from + ((n * step) mod 16) / 16; `step` is odd, so that 16 differ. */
export function grid(rows: number, columns: number, from: number, step: number): number[][] {
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (_, column) => from + (((row * columns + column) * step) % 16) / 16),
  );
}

export const PROMPT_WIDTH = 2;
/** Two rows: one of four tokens, one of two and padding behind. */
export const PLAIN: Matrix = [
  [0, 0, 1, 1, 1, 1],
  [0, 0, 1, 1, 0, 0],
];
/** Where a tool wrote in the middle of the first row, and the second has one token. */
export const GAPS: Matrix = [
  [0, 0, 1, 0, 1, 1],
  [0, 0, 1, 0, 0, 0],
];

/** Two rows of two trained columns: what is of rows can be taken for what is of columns. */
export const SQUARE: Matrix = [
  [0, 0, 0, 0, 1, 1],
  [0, 0, 0, 0, 1, 0],
];

/** Log-probabilities of policy, behaviour policy and reference: -2 to -1, near to each other, never equal. */
export function tracks(completion_mask: Matrix, spread = 1) {
  const logprobs = grid(2, 6, -2, 5);
  return {
    logprobs,
    old_logprobs: logprobs.map((row, at) =>
      row.map((value, column) => value + (spread * (((at + column) % 3) - 1)) / 8),
    ),
    ref_logprobs: logprobs.map((row, at) => row.map((value, column) => value - ((at + 2 * column) % 5) / 16)),
    completion_mask,
    prompt_width: PROMPT_WIDTH,
  };
}

/** Of one rank there is no partition. */
const isOffered = (value: boolean | number | undefined): boolean => value === true || Number(value ?? 0) > 1;

/** Why a trainer cannot be asked for this part of an op; nothing where it can. */
export const offered = (
  op: Op,
  name:
    | 'ranks'
    | 'micro_batches'
    | 'entropy'
    | 'margins'
    | 'sampling_logprobs'
    | 'max_tool_tokens'
    | 'turn_rewards',
  { hello }: World,
): string | undefined =>
  isOffered(hello.ops[op]?.[name]) ? undefined : `op \`${op}\` does not take \`${name}\``;

/** The first and the last value of each setting that an op lists; and first and last in turns, which of them is which. */
export function knobCases<O extends Op>(
  op: O,
  given: (world: World, settings: Readonly<Record<string, number | string>>) => Args<O>,
): GoldenCase[] {
  return (['first', 'last', 'mixed'] as const).map((which) =>
    goldenCase(`${op}/settings-${which}`, op, (world) => {
      const knobs = Object.entries(world.hello.ops[op]?.knobs ?? {});
      if (knobs.length === 0) return `op \`${op}\` lists no settings`;
      const settings = Object.fromEntries(
        knobs.map(([name, values], at) => {
          const isFirst = which === 'mixed' ? at % 2 === 0 : which === 'first';
          return [name, values.at(isFirst ? 0 : -1) ?? 0];
        }),
      );
      return given(world, settings);
    }),
  );
}
