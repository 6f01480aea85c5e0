// Which rules a reading is held to, and how they are set: preset, configuration and typed words, each understood or
// refused in one sentence that names what there is.
import { resolve } from 'node:path';
import { type KnownFailures, readKnown } from '../../check/saved/known.ts';
import type { HistoryOptions } from '../../monitor/history/history.ts';
import { PRESETS, type Preset } from '../../monitor/presets.ts';
import type { MonitorRule, SettingValue } from '../../monitor/rule.ts';
import { SERIES_ROLES, type SeriesRole } from '../../monitor/series.ts';
import { nearestName, unknownName } from '../../protocol/nearest.ts';
import { selectProperties } from '../check/select.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import { fitsGlob } from '../glob.ts';
import type { Meant } from './options.ts';

export interface Held {
  readonly rules: readonly MonitorRule[];
  readonly settingOf: HistoryOptions['settingOf'];
  readonly roleFor: NonNullable<HistoryOptions['roleFor']>;
  readonly facts: Readonly<Record<string, SettingValue>>;
  readonly known: KnownFailures;
  /** Somebody chose them by name: what they say is what was asked for. */
  readonly chosen: boolean;
  /** Ids of every rule that there is. */
  readonly catalogue: readonly string[];
}

export async function heldTo(meant: Meant, context: Context): Promise<Held | Problem> {
  const { monitorRules } = await import('../../../properties/monitor/index.ts');
  const preset = presetOf(meant.preset);
  if (isProblem(preset)) return preset;
  const only = meant.only.map((name) => fullId(name, monitorRules));
  const chosen = selectProperties(monitorRules, only, meant.level, meant.usualLevel);
  // A preset brings its rules with it, whatever their level is.
  const rules = isProblem(chosen) || only.length > 0 ? chosen : withThose(preset.rules, chosen, monitorRules);
  if (isProblem(rules)) return { problem: rules.problem.replace('no property', 'no rule') };
  const alone = meant.baselines.length === 0;
  const held = rules.filter(({ baseline }) => !alone || baseline !== true);
  const [asking] = rules;
  if (held.length === 0 && asking !== undefined)
    return { problem: `${asking.id} judges beside a healthy run: --baseline PATH names one` };
  const settings = settingsOf(meant, monitorRules);
  if (isProblem(settings)) return settings;
  const roles = rolesOf(meant.series);
  if (isProblem(roles)) return roles;
  const known = meant.known === undefined ? { known: {} } : readKnown(resolve(context.cwd, meant.known));
  if ('problem' in known) return known;
  // The names of the other properties are for --known alone, and take time to load.
  const others = meant.known === undefined ? [] : await context.properties();
  const said = (id: string, name: string): SettingValue | undefined =>
    settings.get(`${id}.${name}`) ?? preset.settings[id]?.[name];
  return {
    rules: held,
    settingOf: (rule, name) => {
      const { [name]: setting } = rule.settings;
      if (setting === undefined) throw new Error(`${rule.id} has no setting ${name}`);
      return said(rule.id, name) ?? setting.default;
    },
    roleFor: (name) => roles.find(({ fits }) => fits(name))?.role,
    facts: Object.fromEntries(meant.facts.map(([name, text]) => [name, valueIn(text)])),
    known: known.known,
    chosen: only.length > 0,
    catalogue: [...monitorRules, ...others].map(({ id }) => id),
  };
}

/** `--series` names that no series has, a sentence each: a slip of the pen would leave a rule blind. */
export function unusedSeries(meant: Meant, names: Iterable<string>): readonly string[] {
  const all = [...names];
  return meant.series.flatMap(([pattern]) => {
    if (all.some(fitting(pattern))) return [];
    const near = nearestName(pattern, all.slice(0, MOST_NAMES));
    return [
      `--series ${pattern}: no series is called so${near === undefined ? '' : `; did you mean "${near}"?`}`,
    ];
  });
}

// --- helpers ---

/** Comparing names takes time, and nobody reads further. */
const MOST_NAMES = 2_000;
const STAGE = 'monitor/';

/** `kl-spike` is `monitor/kl-spike`. */
function fullId(name: string, rules: readonly MonitorRule[]): string {
  return name.startsWith(STAGE) || name === 'monitor' || rules.some(({ id }) => id === name)
    ? name
    : STAGE + name;
}

interface Chosen {
  readonly settings: Preset['rules'];
  readonly rules: ReadonlySet<string>;
}

function withThose(
  ids: ReadonlySet<string>,
  chosen: readonly MonitorRule[],
  all: readonly MonitorRule[],
): readonly MonitorRule[] {
  const taken = new Set(chosen);
  return all.filter((rule) => taken.has(rule) || ids.has(rule.id));
}

function presetOf(name: string | undefined): Chosen | Problem {
  if (name === undefined) return { settings: {}, rules: new Set() };
  const found = PRESETS.find((preset) => preset.name === name);
  if (found !== undefined) return { settings: found.rules, rules: new Set(Object.keys(found.rules)) };
  const names = PRESETS.map((preset) => preset.name);
  return { problem: `--preset: ${unknownName('preset', name, names)}` };
}

/** `monitor/kl-spike.times` to its value. */
function settingsOf(
  { set, expect }: Meant,
  rules: readonly MonitorRule[],
): ReadonlyMap<string, SettingValue> | Problem {
  const settings = new Map<string, SettingValue>();
  for (const [name, text] of set) {
    const at = name.lastIndexOf('.');
    const id = fullId(name.slice(0, Math.max(0, at)), rules);
    const rule = rules.find((each) => each.id === id);
    if (at < 1) return { problem: `--set: "${name}" should be RULE.SETTING, as in --set kl-spike.times=30` };
    if (rule === undefined)
      return {
        problem: `--set: ${unknownName(
          'rule',
          id,
          rules.map((each) => each.id),
        )}`,
      };
    const key = name.slice(at + 1);
    const setting = Object.hasOwn(rule.settings, key) ? rule.settings[key] : undefined;
    if (setting === undefined)
      return { problem: `--set: ${id} has ${unknownSetting(key, Object.keys(rule.settings))}` };
    const value = valueIn(text);
    // Whoever counts from a word gets a number that is none.
    if (typeof value !== typeof setting.default && typeof setting.default !== 'string')
      return { problem: `--set: ${name} is a ${nounOf(setting.default)}, and "${text}" is none` };
    settings.set(`${id}.${key}`, typeof setting.default === 'string' ? text : value);
  }
  if (expect.length === 0) return settings;
  const asking = rules.filter((rule) => Object.hasOwn(rule.settings, EXPECTED));
  for (const { id } of asking) settings.set(`${id}.${EXPECTED}`, expect.join(','));
  return settings;
}

/** The setting of the rule that --expect is for. */
const EXPECTED = 'expect';

function unknownSetting(key: string, known: readonly string[]): string {
  const near = nearestName(key, known);
  const hint =
    near === undefined
      ? known.length === 0
        ? 'it has none'
        : `it has ${known.join(', ')}`
      : `did you mean "${near}"?`;
  return `no setting "${key}", ${hint}`;
}

function nounOf(value: SettingValue): string {
  return typeof value === 'number' ? 'number' : 'true or false';
}

function valueIn(text: string): SettingValue {
  if (text === 'true' || text === 'false') return text === 'true';
  const number = Number(text);
  return text.trim() !== '' && Number.isFinite(number) ? number : text;
}

interface Told {
  readonly fits: (name: string) => boolean;
  readonly role: SeriesRole | 'none';
}

function rolesOf(series: Meant['series']): readonly Told[] | Problem {
  const told: Told[] = [];
  for (const [pattern, word] of series) {
    const role = ([...SERIES_ROLES, 'none'] as const).find((each) => each === word);
    if (role === undefined)
      return {
        problem: `--series ${pattern}=${word}: ${unknownName('role', word, [...SERIES_ROLES, 'none'])}`,
      };
    told.push({ fits: fitting(pattern), role });
  }
  // The last word wins.
  return told.toReversed();
}

/** The whole name, or its end behind a slash; `*` stands for anything. */
function fitting(pattern: string): (name: string) => boolean {
  if (!pattern.includes('*')) return (name) => name === pattern || name.endsWith(`/${pattern}`);
  return (name) => fitsGlob(name, pattern);
}
