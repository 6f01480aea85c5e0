// Rows that golden cases hand to the trainer's own models, in batches of different size.
import type { World } from '../../../check/property.ts';
import { idsOf } from '../../ids.ts';

export const NO_TOKENS = 'hello.tokens is needed: the ids must be ids of the model';

/** Two rows for the trainer's own models, of 3 + 2 and 1 + 3 tokens. */
export function rows(world: World): { prompt_ids: number[][]; completion_ids: number[][] } | string {
  if (world.hello.tokens === undefined) return NO_TOKENS;
  const { plain, stop } = idsOf(world);
  return {
    prompt_ids: [plain(0, 1, 2), plain(3)],
    completion_ids: [
      [...plain(4), stop(0)],
      [...plain(5, 6), stop(0)],
    ],
  };
}

/** One row only: what a batch mate does to it would show beside the case of two. */
export function row(world: World): { prompt_ids: number[][]; completion_ids: number[][] } | string {
  const both = rows(world);
  if (typeof both === 'string') return both;
  return { prompt_ids: both.prompt_ids.slice(1), completion_ids: both.completion_ids.slice(1) };
}

/** Of lengths that no sorting leaves in this order; two have one prompt. */
export function threeRows(world: World): { prompt_ids: number[][]; completion_ids: number[][] } | string {
  const both = rows(world);
  if (typeof both === 'string') return both;
  const { plain, stop } = idsOf(world);
  return {
    prompt_ids: [plain(3), ...both.prompt_ids],
    completion_ids: [[...plain(7), stop(0)], ...both.completion_ids],
  };
}

export const BATCHES = [
  ['two-rows', rows],
  ['three-rows', threeRows],
  ['one-row', row],
] as const;
