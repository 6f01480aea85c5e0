// A row of the table of what practice does, and what its rows say of a measured value.
import type { ItemName, Semantics } from '../../vocabulary.ts';
import type { World } from '../property.ts';
import type { Doubt } from './doubt.ts';
import type { ItemValue } from './probe.ts';

export interface Practice {
  readonly item: ItemName;
  readonly weight: Doubt['weight'];
  /** What is outside of practice, as the table says it. */
  readonly beyond: string;
  /** Whether a measured value is; `found` is all that is declared or was measured. Default: it is called so. */
  readonly isBeyond?: (value: ItemValue, found: Semantics, world: Pick<World, 'hello'>) => boolean;
  /** What it does, and what it usually is. */
  readonly why: string;
  /** Where practice is written down. */
  readonly source: string;
}

export const isNumber = (value: ItemValue): value is number => typeof value === 'number';
export const between = (least: number, most: number) => (value: ItemValue) =>
  isNumber(value) && value > least && value < most;
export const above = (least: number) => (value: ItemValue) =>
  isNumber(value) && value > least && Number.isFinite(value);
