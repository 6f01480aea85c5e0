// One JSON object of a log as points, a sample or settings: what JSON lines, trainer_state.json, W&B and Parquet share.
import { parsePython } from '../../../outside/json.ts';
import { isJsonObject, type JsonObject } from '../../../protocol/result.ts';
import { keepRow } from '../../samples/row.ts';
import { sampleOf } from '../../samples/samples.ts';
import type { LogSink, Series } from '../../series.ts';
import { declareAll } from './declared.ts';

/** Names of the step, the best first: the trainer's own count, then the logger's. Compared in lower case. */
export const STEP_NAMES: readonly string[] = [
  'train/global_step',
  'training/global_step',
  'trainer/global_step',
  'global_step',
  'step',
  'steps',
  'train/step',
  'iteration',
  'iter',
  'num_updates',
  'update',
  '_step',
  'epoch',
];
/** Passes over the data: a step where nothing else is one, and a series beside any other. */
export const PASSES = STEP_NAMES.indexOf('epoch');
/** Of the wall clock. */
const TIME_NAMES: readonly string[] = [
  '_timestamp',
  'timestamp',
  'wall_time',
  'wall time',
  'walltime',
  'time',
  'ts',
];
/** A nested object of this name is the metrics themselves, as verl's file logger writes `{"step": 1, "data": {…}}`. */
const WRAPPERS: ReadonlySet<string> = new Set(['data', 'metrics', 'scalars', 'values', 'logs']);
/** An object of this name is what the run was started with. */
const SETTINGS: ReadonlySet<string> = new Set(['args', 'config', 'hparams', 'hyperparameters', 'declare']);
/** Of the logger's own history-keeping, or repeated from the step. */
const NO_SERIES: ReadonlySet<string> = new Set(['_runtime', '_wandb']);
const DEEPEST = 8;
/** 1973 in seconds: below it a `time` is a duration, such as seconds since the start. */
const EARLIEST = 1e8;
/** 5138 in seconds, 1973 in milliseconds. */
const MILLISECONDS_FROM = 1e11;

/** What a column or a key is: a step and how good a one (0 is best), a time, or a series. */
export type Meaning = { readonly step: number } | 'time' | 'series' | 'nothing';

export function meaningOf(name: string): Meaning {
  const lower = name.toLowerCase();
  const step = STEP_NAMES.indexOf(lower);
  if (step >= 0) return { step };
  if (TIME_NAMES.includes(lower)) return 'time';
  return NO_SERIES.has(lower) ? 'nothing' : 'series';
}

/** Seconds since 1970, or NaN where the number is none. */
export function secondsOf(value: number): number {
  if (!(value > EARLIEST)) return Number.NaN;
  return value > MILLISECONDS_FROM ? value / 1000 : value;
}

/** Also what writers put where JSON has no number. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? WORDS.get(value.toLowerCase()) : undefined;
}

const WORDS: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
]);

/** Python's dialect; undefined for what is no object, and for what the engine cannot hold. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const parsed = parsePython(text);
    return 'ok' in parsed && isJsonObject(parsed.ok) ? parsed.ok : undefined;
  } catch {
    return undefined; // nested deeper, or longer, than the engine takes
  }
}

/** What became of an object. */
export type Pushed = 'points' | 'sample' | 'settings' | 'nothing';

export interface ObjectReader {
  /**
   * @param step where the object tells none
   * @param where for samples: `rollouts/12.jsonl line 3`
   */
  push(object: JsonObject, step: number, where: string): Pushed;
  /** The step that the object tells. */
  stepOf(object: JsonObject): number | undefined;
}

export function objectReader(
  run: string,
  sink: LogSink,
  options: { readonly samples?: boolean } = {},
): ObjectReader {
  const known = new Map<string, Series>();
  const seriesOf = (name: string): Series => {
    let series = known.get(name);
    if (series === undefined) {
      series = sink.series(run, name);
      known.set(name, series);
    }
    return series;
  };

  function push(object: JsonObject, fallback: number, where: string): Pushed {
    if (options.samples !== false) {
      const sample = sampleOf(object as Record<string, unknown>, where, run);
      if (sample !== undefined) {
        keepRow(sample, object);
        sink.sample(sample);
        return 'sample';
      }
    }
    const flat = flattened(object);
    const best = bestStep(flat);
    const step = best.step ?? fallback;
    const time = timeOf(flat);
    const long = longFormat(object);
    if (long !== undefined) {
      sink.point(seriesOf(long.name), step, long.value, time);
      return 'points';
    }
    let points = 0;
    for (const [name, value] of flat) {
      const number = numberOf(value);
      if (number === undefined || !isSeries(name, number, best.rank)) continue;
      sink.point(seriesOf(name), step, number, time);
      points += 1;
    }
    let settings = false;
    for (const [key, value] of Object.entries(object)) {
      if (!SETTINGS.has(key) || !isJsonObject(value)) continue;
      declareAll(sink, run, value);
      settings = true;
    }
    return points > 0 ? 'points' : settings ? 'settings' : 'nothing';
  }

  return { push, stepOf: (object) => bestStep(flattened(object)).step };
}

/** `"time": 0.4` is how long a step took. */
function isSeries(name: string, value: number, stepRank: number): boolean {
  const meaning = meaningOf(name);
  if (typeof meaning === 'object') return meaning.step === PASSES && stepRank < PASSES;
  return meaning === 'series' || (meaning === 'time' && Number.isNaN(secondsOf(value)));
}

/** Nested objects with their keys joined by `/`; settings left out. */
function flattened(object: JsonObject): [string, unknown][] {
  const flat: [string, unknown][] = [];
  const walk = (value: unknown, name: string, depth: number): void => {
    if (!isJsonObject(value)) flat.push([name, value]);
    else if (depth < DEEPEST)
      for (const [key, inner] of Object.entries(value)) walk(inner, `${name}/${key}`, depth + 1);
  };
  for (const [key, value] of Object.entries(object)) {
    if (!isJsonObject(value)) flat.push([key, value]);
    else if (WRAPPERS.has(key)) for (const each of flattened(value)) flat.push(each);
    else if (!SETTINGS.has(key) && !NO_SERIES.has(key)) walk(value, key, 1);
  }
  return flat;
}

/** How good a step the object names: 0 is best, and none is worse than all. */
export function rankOfStep(object: JsonObject): number {
  return bestStep(flattened(object)).rank;
}

function bestStep(flat: readonly (readonly [string, unknown])[]): {
  readonly rank: number;
  readonly step: number | undefined;
} {
  let best = STEP_NAMES.length;
  let step: number | undefined;
  for (const [name, value] of flat) {
    const meaning = meaningOf(name);
    if (typeof meaning === 'string' || meaning.step >= best || !Number.isFinite(value)) continue;
    best = meaning.step;
    step = value as number;
  }
  return { rank: best, step };
}

function timeOf(flat: readonly (readonly [string, unknown])[]): number {
  for (const [name, value] of flat) {
    if (meaningOf(name) !== 'time') continue;
    const time = typeof value === 'number' ? secondsOf(value) : Date.parse(String(value)) / 1000;
    if (!Number.isNaN(time)) return time;
  }
  return Number.NaN;
}

/** `{"tag": "train/loss", "step": 3, "value": 0.5}`: one point an object, its series named by a value. */
function longFormat(object: JsonObject): { readonly name: string; readonly value: number } | undefined {
  const value = numberOf(object.value);
  if (value === undefined) return undefined;
  const name = [object.tag, object.name, object.metric, object.key].find((each) => typeof each === 'string');
  return typeof name === 'string' && name !== '' ? { name, value } : undefined;
}
