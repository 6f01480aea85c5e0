// What rules over series ask of the run that they watch.
import type { RuleWorld, Series, SeriesRole, Setting } from '../../src/index.ts';

/** A setting that is a number; what is none counts as not given. */
export function numberOf({ setting }: RuleWorld, name: string): number {
  return asNumber(setting(name)) ?? Number.NaN;
}

export function textOf({ setting }: RuleWorld, name: string): string {
  return String(setting(name)).trim();
}

export function isOn({ setting }: RuleWorld, name: string): boolean {
  const value = setting(name);
  return value === true || value === 'true' || value === 1;
}

/** The first of these facts that the run, or its user, states as a number. */
export function declaredNumber({ declared }: RuleWorld, ...names: readonly string[]): number | undefined {
  for (const name of spelled(names)) {
    const value = asNumber(declared(name));
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Settings that are nested are declared as `optim/lr`, and named `optim.lr` on command lines; a model has its own. */
function spelled(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => [name, name.replaceAll('.', '/'), `model_config/${name}`]);
}

export function declaredText({ declared }: RuleWorld, ...names: readonly string[]): string | undefined {
  for (const name of spelled(names)) {
    const value = declared(name);
    if (value !== undefined && value !== '') return String(value);
  }
  return undefined;
}

/** Under a loss scaler: single steps whose gradient overflows are skipped, and that is as it should be. */
export function underLossScaler(world: RuleWorld): boolean {
  const { declared } = world;
  return (
    someSeries(world, (series) => isNamed(series, SCALE)) ||
    [declared('fp16'), declared('fp16.enabled')].some(
      (value) => value === true || value === 'True' || value === 'true',
    ) ||
    declared('mixed_precision') === 'fp16' ||
    declared('dtype') === 'float16'
  );
}

/** A trainer that logs its scale has a scaler. */
const SCALE = /(?:^|[/_ -])(?:loss|grad|amp|fp16)[_ -]?scaler?$/i;

/** Roles that only a run with rollouts has: there, groups without spread make legal zeros. */
export const OF_ROLLOUTS = new Set<SeriesRole>([
  'reward',
  'reward_std',
  'dead_groups',
  'advantage_mean',
  'advantage_std',
  'ratio',
  'clip_fraction',
  'approx_kl',
  'kl',
  'completion_length',
  'truncated_share',
  'policy_loss',
  'value_loss',
]);

/** Games that are played, under the names of trainers whose other series have no role. */
const EPISODES = /(?:^|[/_])(?:ep_(?:rew|len)|episod|returns?(?:$|[/_]))/i;

export function hasRollouts(world: RuleWorld): boolean {
  return someSeries(
    world,
    (series) => (series.role !== undefined && OF_ROLLOUTS.has(series.role)) || isNamed(series, EPISODES),
  );
}

const named = new WeakMap<Series, Map<RegExp, boolean>>();

/** Asked at each point of a run, of all its series. */
export function isNamed(series: Series, words: RegExp): boolean {
  const known = named.get(series) ?? new Map<RegExp, boolean>();
  named.set(series, known);
  const answer = known.get(words) ?? words.test(series.name);
  known.set(words, answer);
  return answer;
}

export function someSeries({ series }: RuleWorld, holds: (series: Series) => boolean): boolean {
  for (const each of series()) if (holds(each)) return true;
  return false;
}

/** How often in a row something must be seen before it is said. */
export const inARow = (points: number, why: string): Setting => ({
  default: points,
  what: `So many logged steps in a row. ${why}`,
});

function asNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isNaN(value) ? undefined : value;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isNaN(number) ? undefined : number;
}
