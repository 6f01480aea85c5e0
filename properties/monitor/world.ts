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
  for (const name of names)
    for (const spelling of spellings(name)) {
      const value = asNumber(declared(spelling));
      if (value !== undefined) return value;
    }
  return undefined;
}

/** Settings that are nested are declared as `optim/lr`, and named `optim.lr` on command lines; a model has its own. */
function spellings(name: string): readonly string[] {
  let known = SPELLINGS.get(name);
  if (known === undefined) {
    known = [name, name.replaceAll('.', '/'), `model_config/${name}`];
    SPELLINGS.set(name, known);
  }
  return known;
}

/** Names are those that rules are written with: a few dozen. */
const SPELLINGS = new Map<string, readonly string[]>();

/**
 * What is declared may come late, and does so seldom: an answer that is found anew at each of the first points, then at one
 * of many.
 */
export function rarely<T>(find: () => T): () => T {
  let asked = 0;
  let answer: T | undefined;
  return () => {
    if (asked < FIRST_ASKED || asked % ONE_OF === 0) answer = find();
    asked++;
    return answer as T;
  };
}

const FIRST_ASKED = 32;
const ONE_OF = 128;

export function declaredText({ declared }: RuleWorld, ...names: readonly string[]): string | undefined {
  for (const name of names)
    for (const spelling of spellings(name)) {
      const value = declared(spelling);
      if (value !== undefined && value !== '') return String(value);
    }
  return undefined;
}

/**
 * Whether a run has such a series. Each is asked about once: rules ask at each point, a run may have ten thousand series, and
 * they only become more.
 */
export function someSeries(holds: (series: Series) => boolean): (world: RuleWorld) => boolean {
  const asked = new WeakMap<RuleWorld, { count: number; found: boolean }>();
  return (world) => {
    const series = world.series();
    const known = asked.get(world) ?? { count: 0, found: false };
    while (!known.found && known.count < series.length) {
      known.found = holds(series[known.count] as Series);
      known.count += 1;
    }
    asked.set(world, known);
    return known.found;
  };
}

/** Under a loss scaler: single steps whose gradient overflows are skipped, and that is as it should be. */
export function underLossScaler(world: RuleWorld): boolean {
  const { declared } = world;
  return (
    logsItsScale(world) ||
    [declared('fp16'), declared('fp16.enabled')].some(
      (value) => value === true || value === 'True' || value === 'true',
    ) ||
    declared('mixed_precision') === 'fp16' ||
    declared('dtype') === 'float16'
  );
}

/** In bfloat16 nothing is scaled. `fp16: false` is no such word: a launcher may say fp16 where the script does not. */
export function inBfloat16(world: RuleWorld): boolean {
  const { declared } = world;
  return (
    !underLossScaler(world) &&
    ([declared('bf16'), declared('bf16.enabled')].some(
      (value) => value === true || value === 'True' || value === 'true',
    ) ||
      declared('mixed_precision') === 'bf16' ||
      declared('dtype') === 'bfloat16')
  );
}

/** A trainer that logs its scale has a scaler. */
export const SCALE = /(?:^|[/_ -])(?:loss|grad|amp|fp16)[_ -]?scaler?$/i;
const logsItsScale = someSeries(({ name }) => SCALE.test(name));

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

export const hasRollouts = someSeries(
  ({ role, name }) => (role !== undefined && OF_ROLLOUTS.has(role)) || EPISODES.test(name),
);

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
