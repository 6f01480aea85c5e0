// Golden cases of what becomes of sampled tokens: extraction, masks, rollouts. Rows stop with
// different stop tokens, at once, or never.
import type { World } from '../../../check/property.ts';
import type { Args } from '../../../protocol/message.ts';
import type { Ids, Ragged } from '../../../vocabulary.ts';
import { type GoldenCase, goldenCase } from '../../case.ts';
import {
  type CaseIds,
  endedByPad,
  idsOf,
  otherArrangement,
  PAD_IS_A_STOP,
  SEVERAL_STOPS,
  STOP_IS_ZERO,
} from '../../ids.ts';
import { QUESTION, SYSTEM } from '../text/conversations.ts';
import { unmerged } from './turns.ts';

/** What a sampler leaves: prompts padded on one side, completions behind them, and what lies behind a stop. */
interface Sampled {
  readonly prompts: Ragged;
  /** As sampled: through the stop token, or all that there was room for. */
  readonly completions: Ragged;
  readonly width: number;
}

/** Three rows that stop after 3 tokens, at once, and never. */
function sampled({ plain, stop }: CaseIds): Sampled {
  return {
    prompts: [plain(0, 1), plain(2, 3, 4), plain(5)],
    completions: [[...plain(6, 7), stop(0)], [stop(0)], plain(8, 9, 10, 11)],
    width: 4,
  };
}

/** Two rows that stop with different stop tokens, one of which another row has in its prompt. */
function stoppedTwice({ plain, stop }: CaseIds): Sampled {
  return {
    prompts: [[...plain(0), stop(1), ...plain(1)], plain(2)],
    completions: [
      [...plain(3, 4), stop(1)],
      [...plain(5), stop(0)],
    ],
    width: 4,
  };
}

/** Rows that end with the padding token, and have it in a prompt. */
function stoppedByPad(ids: CaseIds): Sampled {
  const right = sampled(endedByPad(ids));
  const [first = [], ...others] = right.prompts;
  return { ...right, prompts: [[ids.pad, ...first], ...others] };
}

function filled(row: Ids, width: number, pad: number, side: 'left' | 'right'): number[] {
  const padding = Array.from({ length: width - row.length }, () => pad);
  return side === 'left' ? [...padding, ...row] : [...row, ...padding];
}

const real = (row: Ids, width: number, side: 'left' | 'right'): number[] =>
  filled(
    row.map(() => 1),
    width,
    0,
    side,
  );

function extractArgs(
  { prompts, completions, width }: Sampled,
  { pad, stops }: CaseIds,
  side: 'left' | 'right',
): Args<'extract'> {
  const promptWidth = Math.max(...prompts.map((row) => row.length));
  return {
    padding_side: side,
    prompt_ids: prompts,
    input_ids: prompts.map((row) => filled(row, promptWidth, pad, side)),
    attention_mask: prompts.map((row) => real(row, promptWidth, side)),
    sequences: prompts.map((row, at) => {
      const said = filled(completions[at] ?? [], width, pad, 'right');
      // Generation goes on where the prompt ends: behind all columns of padded prompts, or behind its own tokens.
      return side === 'left'
        ? [...filled(row, promptWidth, pad, 'left'), ...said]
        : filled([...row, ...said], promptWidth + width, pad, 'right');
    }),
    sampled_ids: completions.map((row) => filled(row, width, pad, 'right')),
    pad_token_id: pad,
    eos_token_ids: stops,
  };
}

/** An op that pads its prompts on one side only says so. */
function sideless({ hello }: World, side: 'left' | 'right'): string | undefined {
  const sides = hello.ops.extract?.padding_side ?? ['left'];
  return sides.includes(side) ? undefined : `op \`extract\` does not pad on the ${side}`;
}

const extracted: readonly GoldenCase[] = [
  ...(['left', 'right'] as const).flatMap((side) => [
    goldenCase(`extract/padded-${side}`, 'extract', (world) => {
      const ids = idsOf(world);
      return sideless(world, side) ?? extractArgs(sampled(ids), ids, side);
    }),
    goldenCase(`extract/padded-${side}-several-stops`, 'extract', (world) => {
      const ids = idsOf(world, SEVERAL_STOPS);
      return (
        sideless(world, side) ??
        otherArrangement(world, 'several stops', 'extract') ??
        extractArgs(stoppedTwice(ids), ids, side)
      );
    }),
    goldenCase(`extract/padded-${side}-with-a-stop`, 'extract', (world) => {
      const ids = idsOf(world, PAD_IS_A_STOP);
      return (
        sideless(world, side) ??
        otherArrangement(world, 'pad is a stop') ??
        extractArgs(stoppedByPad(ids), ids, side)
      );
    }),
    goldenCase(`extract/padded-${side}-stop-zero`, 'extract', (world) => {
      const ids = idsOf(world, STOP_IS_ZERO);
      return (
        sideless(world, side) ?? otherArrangement(world, 'stop is 0') ?? extractArgs(sampled(ids), ids, side)
      );
    }),
  ]),
  goldenCase('extract/with-sampling-logprobs', 'extract', (world) => {
    const ids = idsOf(world);
    const args = extractArgs(sampled(ids), ids, 'left');
    return (
      sideless(world, 'left') ?? {
        ...args,
        sampling_logprobs: args.sampled_ids.map((row, at) => row.map((_, column) => -(at + 1) - column / 8)),
      }
    );
  }),
];

function maskArgs(
  { prompts, completions, width }: Sampled,
  { pad, stops }: CaseIds,
  after: readonly number[] = [],
): Args<'mask'> {
  const promptWidth = Math.max(...prompts.map((row) => row.length));
  const behind = completions.map((row) => [...row, ...after].slice(0, width));
  return {
    prompt_ids: prompts,
    completion_ids: completions,
    sequences: prompts.map((row, at) => [
      ...filled(row, promptWidth, pad, 'left'),
      ...filled(behind[at] ?? [], width, pad, 'right'),
    ]),
    attention_mask: prompts.map((row, at) => [
      ...real(row, promptWidth, 'left'),
      ...real(completions[at] ?? [], width, 'right'),
    ]),
    prompt_width: promptWidth,
    pad_token_id: pad,
    eos_token_ids: stops,
  };
}

const masked: readonly GoldenCase[] = [
  goldenCase('mask/stops-and-limits', 'mask', (world) => {
    const ids = idsOf(world);
    return maskArgs(sampled(ids), ids);
  }),
  goldenCase('mask/several-stops', 'mask', (world) => {
    const ids = idsOf(world, SEVERAL_STOPS);
    return otherArrangement(world, 'several stops', 'mask') ?? maskArgs(stoppedTwice(ids), ids);
  }),
  goldenCase('mask/pad-is-a-stop', 'mask', (world) => {
    const ids = idsOf(world, PAD_IS_A_STOP);
    return otherArrangement(world, 'pad is a stop') ?? maskArgs(stoppedByPad(ids), ids);
  }),
  goldenCase('mask/stop-zero', 'mask', (world) => {
    const ids = idsOf(world, STOP_IS_ZERO);
    return otherArrangement(world, 'stop is 0') ?? maskArgs(sampled(ids), ids);
  }),
  goldenCase('mask/pad-is-no-stop', 'mask', (world) => {
    const ids = idsOf(world);
    return otherArrangement(world, 'pad is no stop') ?? maskArgs(sampled(ids), ids);
  }),
  goldenCase('mask/one-row', 'mask', (world) => {
    const ids = idsOf(world);
    return maskArgs(
      { prompts: [ids.plain(0)], completions: [[...ids.plain(1, 2), ids.stop(0)]], width: 3 },
      ids,
    );
  }),
  goldenCase('mask/tokens-behind-the-stop', 'mask', (world) => {
    const ids = idsOf(world);
    if (world.hello.ops.mask?.after_stop !== 'any') return 'op `mask` takes only padding after a stop token';
    return maskArgs(sampled(ids), ids, ids.plain(12, 13, 14));
  }),
  goldenCase('mask/unfinished', 'mask', (world) => {
    const ids = idsOf(world);
    if (world.hello.ops.mask?.unfinished !== true) return 'op `mask` takes no completion that was aborted';
    // A row that ends early and is padded with a stop token looks as if it had stopped.
    const other = otherArrangement(world, 'pad is no stop');
    if (other !== undefined) return other;
    return maskArgs(
      {
        prompts: [ids.plain(0, 1), ids.plain(2)],
        completions: [ids.plain(3), [...ids.plain(4, 5), ids.stop(0)]],
        width: 3,
      },
      ids,
    );
  }),
];

const NO_TOKENS = "hello.tokens is needed: the ids must be ids of the trainer's vocabulary";

const rolledOut: readonly GoldenCase[] = [
  goldenCase('rollout/two-prompts', 'rollout', (world) => {
    if (world.hello.tokens === undefined) return NO_TOKENS;
    const { plain, stop } = idsOf(world);
    return {
      conversations: [QUESTION, SYSTEM.slice(0, 2)],
      sampled_ids: [[...plain(0, 1), stop(0)], plain(2, 3, 4, 5)],
    };
  }),
  goldenCase('rollout/one-prompt-twice', 'rollout', (world) => {
    if (world.hello.tokens === undefined) return NO_TOKENS;
    const { plain, stop } = idsOf(world);
    return {
      conversations: [QUESTION, QUESTION],
      sampled_ids: [
        [...plain(0), stop(0)],
        [...plain(1, 2), stop(0)],
      ],
    };
  }),
  goldenCase('rollout/several-stops', 'rollout', (world) => {
    if (world.hello.tokens === undefined) return NO_TOKENS;
    const { plain, stop } = idsOf(world);
    return (
      otherArrangement(world, 'several stops') ?? {
        conversations: [QUESTION, QUESTION],
        sampled_ids: [
          [...plain(0, 1), stop(1)],
          [...plain(2), stop(0)],
        ],
      }
    );
  }),
  goldenCase('rollout/ids-that-text-would-merge', 'rollout', (world) => {
    const ids = unmerged(world);
    if (world.hello.tokens === undefined) return NO_TOKENS;
    if (typeof ids === 'string') return ids;
    return { conversations: [QUESTION], sampled_ids: [[...ids, idsOf(world).stop(0)]] };
  }),
];

export const completionCases: readonly GoldenCase[] = [...extracted, ...masked, ...rolledOut];
