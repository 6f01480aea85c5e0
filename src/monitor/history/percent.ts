// Shares that a trainer logs as percentages. Rules take them from 0 to 1, so that 37.5 is read as 0.375; it is said once.
import type { Series, SeriesRole } from '../series.ts';

const SHARES = new Set<SeriesRole>([
  'dead_groups',
  'clip_fraction',
  'truncated_share',
  'stopped_share',
  'tool_failures',
  'preference_accuracy',
  'token_accuracy',
]);

/** No share is above 1 by rounding so far. */
const ABOVE = 1.01;
/** A percentage; more is a count. */
const MOST = 100.5;
/** Values above 1 until one below it is a percentage as well. */
const SURE = 3;

export interface ShareUnit {
  readonly series: Series;
  /** Values that were percentages. */
  seen: number;
  from: number;
  first: number;
}

/** Undefined: it is no share. */
export function shareUnitOf(series: Series): ShareUnit | undefined {
  if (series.role === undefined || !SHARES.has(series.role)) return undefined;
  return { series, seen: 0, from: Number.NaN, first: Number.NaN };
}

/** Whether the last value has made it a percentage for good: what was said of it before was said of shares. */
export const isTold = ({ seen }: ShareUnit): boolean => seen === SURE;

/** The value as a share. */
export function asShare(unit: ShareUnit, step: number, value: number): number {
  if (value > ABOVE && value <= MOST) {
    if (unit.seen++ === 0) [unit.from, unit.first] = [step, value];
    return value / 100;
  }
  return unit.seen >= SURE && value <= MOST ? value / 100 : value;
}

export function percentRemark({ series, seen, from, first }: ShareUnit): string[] {
  if (seen < SURE) return [];
  return [
    `${series.run}: ${series.name} is ${first} at step ${from}, a percentage where a share of 0 to 1 is meant; from there on it is read as one.`,
  ];
}
