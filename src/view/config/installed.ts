// What the installed trainer made of a configuration, beside what the documented rules read in it.
import type { JsonObject } from '../../outside/decoded.ts';
import type { Difference, Unlike } from '../own/own.ts';
import type { SettingFault } from './fault.ts';
import { type ConfigFile, faultOf } from './file.ts';
import { written } from './keys.ts';
import { type KnownName, knownOf } from './known.ts';

/** The keys that a part of a row depends on, and the values that the rules read, defaults among them. */
export interface Read {
  readonly values: Readonly<Record<string, unknown>>;
  readonly ids: readonly string[];
  readonly cut: readonly string[];
  readonly end: readonly string[];
  readonly labels: readonly string[];
}

interface Installed {
  readonly version: string;
  readonly settings: JsonObject;
  readonly keys: ReadonlySet<string>;
}

/** A key that the installed version has and that of the rules has not is no mistake of the user's. */
export function ofInstalled(
  faults: readonly SettingFault[],
  name: KnownName,
  { version, keys }: Installed,
): readonly SettingFault[] {
  const known = knownOf(name);
  const isUnknown = (key: string): boolean =>
    !Object.hasOwn(known.keys, key) && !known.launcher.includes(key) && keys.has(key);
  return faults.map((fault) =>
    isUnknown(fault.key)
      ? {
          ...fault,
          note: true,
          sentence: `The installed ${known.trainer} ${version} has this key; the documented rules, of ${known.version}, do not know it.`,
        }
      : fault,
  );
}

/** Which keys the rules did not read rightly, where their rows are not those of the installed trainer. */
export function differenceFaults(
  config: ConfigFile,
  name: KnownName,
  { read, told, differences, compared }: Compared,
): readonly SettingFault[] {
  const [first] = differences;
  if (first === undefined) return [];
  const { trainer, version } = knownOf(name);
  const misread = Object.entries(read?.values ?? {}).filter(
    ([key, value]) => told.settings[key] !== undefined && written(told.settings[key]) !== written(value),
  );
  const keys = misread.length > 0 ? misread.map(([key]) => key) : keysOf(config, read, first.kind);
  const why = misread.map(
    ([key, value]) =>
      ` ${key} is ${written(told.settings[key])} for the trainer, and ${written(value)} for the rules.`,
  );
  const rows = differences.reduce((sum, each) => sum + each.rows, 0);
  const sentence = `${trainer} ${told.version} makes ${rows} of ${compared} rows otherwise than the documented rules of ${version}, and its own are shown. The first is row ${first.first}: ${UNLIKE[first.kind]}.${why.join('')}`;
  return [faultOf(config, keys.length === 0 ? 'rows' : keys.join(', '), sentence, 'note')];
}

// --- helpers ---

interface Compared {
  readonly read: Read | undefined;
  readonly told: Installed;
  readonly differences: readonly Difference[];
  readonly compared: number;
}

const UNLIKE: Readonly<Record<Unlike, string>> = {
  ids: 'it has other tokens',
  cut: 'it is cut elsewhere',
  end: 'one of the two has one more token at its end',
  labels: 'other tokens of it are trained',
  'left out': 'the trainer leaves it out',
  added: 'the rules do not make it',
};

/** Those of the file that can have done it; without any, those that can. */
function keysOf(config: ConfigFile, read: Read | undefined, kind: Unlike): readonly string[] {
  if (read === undefined) return [];
  const all = kind === 'left out' || kind === 'added' ? [] : read[kind];
  const given = all.filter((key) => config.values[key] !== undefined);
  return given.length > 0 ? given : all;
}
