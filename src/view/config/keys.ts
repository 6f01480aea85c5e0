// The keys of a configuration compared with those that the trainer knows: unknown, misspelt, given twice, or of a kind that
// the trainer takes for something else.
import { distance } from 'fastest-levenshtein';
import type { SettingFault } from './fault.ts';
import { type ConfigFile, faultOf } from './file.ts';
import type { Keys, Known } from './known.ts';

export interface Manner {
  /** What happens to an unknown key, as `which stops the run`. */
  readonly unknown: string;
  /** What happens to a text where true or false is meant. */
  readonly text: 'converted' | 'kept';
  /** What happens to a key that is given twice. */
  readonly twice: string;
  /** How the command is written whose keys these are, and another one. */
  readonly command?: { readonly own: string; readonly other: (name: string) => string };
}

export function keyFaults(config: ConfigFile, known: Known, manner: Manner): SettingFault[] {
  const { trainer, version } = known;
  const { command = TRL_COMMAND } = manner;
  const faults = config.twice.map((key) =>
    faultOf(config, key, `The key is given more than once; ${manner.twice}.`),
  );
  const names = [...Object.keys(known.keys), ...known.launcher];
  for (const [key, value] of Object.entries(config.values)) {
    const own = Object.hasOwn(known.keys, key) ? known.keys[key] : undefined;
    if (own !== undefined) {
      const wrong = valueFault(value, own, trainer, manner);
      if (wrong !== undefined) faults.push(faultOf(config, key, wrong));
      else if (own.idle === true && value !== own.default)
        faults.push(faultOf(config, key, `It does nothing: nothing in ${trainer} ${version} reads it.`));
      continue;
    }
    if (known.launcher.includes(key)) continue;
    const near = nearest(key, names);
    const meant = near === undefined ? '' : ` Is ${near} meant?`;
    const before = Object.hasOwn(known.formerly, key) ? known.formerly[key] : undefined;
    // Which transformers is installed is not known: with an older one the key may be right.
    const theirs = before?.startsWith('transformers ') === true;
    const others = Object.keys(known.others).filter((command) => known.others[command]?.includes(key));
    const why =
      before !== undefined
        ? `${before} had this key, ${theirs ? known.with : `${trainer} ${version}`} has not: ${manner.unknown}.`
        : others.length > 0
          ? `This is a key of ${others.map(command.other).join(' and ')}, not of ${command.own}: ${manner.unknown}.`
          : `${trainer} ${version} has no such key: ${manner.unknown}.`;
    faults.push(faultOf(config, key, `${why}${meant}`, theirs ? 'note' : 'fault'));
  }
  return faults;
}

/** The names of a part that the trainer never asks for. A name that is like none of them is a remark of somebody's. */
export function partFaults(
  config: ConfigFile,
  { part, given, keys, trainer }: PartOf,
): readonly SettingFault[] {
  const names = Object.keys(keys);
  return Object.keys(given)
    .filter((key) => !names.includes(key))
    .map((key) => {
      const near = nearest(key, names);
      const sentence = `${trainer} never reads this key.${near === undefined ? '' : ` Is ${near} meant?`}`;
      return faultOf(config, `${part}.${key}`, sentence, near === undefined ? 'note' : 'fault');
    });
}

export interface PartOf {
  /** Its name in the sentence, as `datasets[0]`. */
  readonly part: string;
  readonly given: Readonly<Record<string, unknown>>;
  readonly keys: Keys;
  readonly trainer: string;
}

/** The known name that a misspelt one is most like; undefined where none is. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const flat = (text: string): string => text.toLowerCase().replace(/[-_]/g, '');
  const letters = (text: string): string => [...flat(text)].sort().join('');
  // Two letters that changed places are one slip, and two changes.
  const far = (each: string): number =>
    letters(each) === letters(name)
      ? Math.min(1, distance(flat(name), flat(each)))
      : distance(flat(name), flat(each));
  const ranked = names.map((each) => ({ each, far: far(each) })).sort((left, right) => left.far - right.far);
  const [first] = ranked;
  // A third of the letters wrong is another word.
  return first !== undefined && first.far <= Math.max(1, Math.floor(flat(name).length / 3))
    ? first.each
    : undefined;
}

/** `512`, `"a"`, `null`: as a person would write it in the file. */
export function written(value: unknown): string {
  const text = jsonOf(value);
  return text.length > SHOWN_VALUE ? `${text.slice(0, SHOWN_VALUE)}…` : text;
}

/** A text as it is, anything else as it is written. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : written(value));

// --- helpers ---

const TRL_COMMAND = { own: '`trl sft`', other: (name: string): string => `\`trl ${name}\`` };

/** An alias of YAML may hold itself, which no JSON can. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'nothing';
  } catch {
    return '(a value that holds itself)';
  }
}

const SHOWN_VALUE = 60;
/** Python takes each of these texts for true; the parser of arguments reads them as what they spell. */
const BOOLEAN = /^(?:true|false|yes|no|on|off|y|n|t|f|0|1)$/i;

function valueFault(
  value: unknown,
  { kinds, choices }: Keys[string],
  trainer: string,
  { text }: Manner,
): string | undefined {
  if (kinds.length !== 1) return undefined;
  const [kind] = kinds;
  if (kind === 'bool' && typeof value === 'string') {
    if (text === 'kept')
      return `${written(value)} is a text, and so true in Python: ${trainer} converts no values of a file. Write true or false without quotes.`;
    if (!BOOLEAN.test(value)) return `${written(value)} is neither true nor false: ${trainer} stops.`;
  }
  if (kind === 'int' && typeof value === 'string' && (text === 'kept' || !/^\s*[+-]?\d+\s*$/.test(value)))
    return `${written(value)} is a text, not a whole number: ${trainer} does not run with it.`;
  if (kind === 'str' && typeof value === 'string' && choices !== undefined && !choices.includes(value)) {
    const near = nearest(value, choices);
    return `${written(value)} is none of ${choices.join(', ')}.${near === undefined ? '' : ` Is ${near} meant?`}`;
  }
  return undefined;
}
