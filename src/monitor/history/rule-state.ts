// A rule as it watches one run: what it is asked for, what it has said, and that a fault of its own ends it and nothing else.

import type { MonitorRule, Violation, Watch } from '../rule.ts';
import type { Sample, Series } from '../series.ts';
import type { Curve } from './curve.ts';

/** One rule in one run. */
export interface RuleState {
  readonly run: string;
  readonly rule: MonitorRule;
  readonly watch: Watch;
  /** What it asks for has been there. */
  seen: boolean;
  /** The first of each series and kind, by step. */
  violations: Violation[];
  /** Beyond these. */
  more: number;
  /** It threw: a fault of ours, said as such. */
  error: string | undefined;
}

export interface Feed {
  readonly state: RuleState;
  readonly point: NonNullable<Watch['point']>;
}

export type Take = (state: RuleState, violation: Violation, at: Series | undefined) => void;

/** A rule about rollouts alone asks for no series. */
export function asksFor({ roles, samples, evaluations }: MonitorRule, { role, evaluation }: Series): boolean {
  if (roles.length === 0) return samples !== true;
  return role !== undefined && (!evaluation || evaluations === true) && roles.includes(role);
}

export function feedOf(state: RuleState): Feed[] {
  const { watch } = state;
  return watch.point === undefined ? [] : [{ state, point: watch.point.bind(watch) }];
}

export function askBand(
  { rule, watch }: RuleState,
  series: Series,
  step: number,
  curve: Curve | undefined,
): void {
  const band = watch.band?.(series);
  if (band !== undefined) curve?.allow(rule.id, step, band.low, band.high);
}

export function judgeSample(state: RuleState, sample: Sample, take: Take): void {
  const { rule, watch } = state;
  if (watch.sample === undefined || state.error !== undefined) return;
  if (rule.samples === true) state.seen = true;
  try {
    const violation = watch.sample(sample);
    if (violation !== undefined) take(state, violation, undefined);
  } catch (error) {
    state.error = whyOf(error);
  }
}

export function endOf(state: RuleState, take: Take): void {
  if (state.error !== undefined) return;
  try {
    const said = state.watch.end?.();
    const all: readonly Violation[] = said === undefined ? [] : Array.isArray(said) ? said : [said];
    for (const violation of all) take(state, violation, undefined);
  } catch (error) {
    state.error = whyOf(error);
  }
}

/** A rule that threw says nothing. */
export function remarksOfRule({ run, watch, error }: RuleState): string[] {
  return error === undefined ? (watch.remarks?.() ?? []).map((sentence) => `${run}: ${sentence}`) : [];
}

export function whyOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
