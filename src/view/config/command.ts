// The command that starts a trainer, in a shell script, as a configuration: its overrides or options are the keys.
import { isJsonObject, type JsonObject } from '../../outside/decoded.ts';
import { parseYaml } from '../../outside/yaml.ts';
import type { Problem } from './fault.ts';
import { type KnownName, knownOf } from './known.ts';
import { commandsIn } from './shell.ts';

/** How a trainer is started. */
export interface Launch {
  readonly known: KnownName;
  /** The word of the command that is the trainer: a module, or a program with its subcommand. */
  readonly word: RegExp;
  /** Words of commands of the same trainer that are not read. */
  readonly other: RegExp;
  /** `key=value`, or `--key value`. */
  readonly style: 'overrides' | 'options';
}

/** Every trainer whose command is read. */
export const LAUNCHES: readonly Launch[] = [
  {
    known: 'verl',
    word: /^verl\.trainer\.(?:main_ppo|sft_trainer(?:_ray)?)$/,
    other: /^verl\.[\w.]+$/,
    style: 'overrides',
  },
  { known: 'openrlhf', word: /^openrlhf\.cli\.train_\w+$/, other: /^openrlhf\.[\w.]+$/, style: 'options' },
  { known: 'ms-swift', word: /^swift (?:sft|pt|rlhf)$/, other: /^swift \w+$/, style: 'options' },
  { known: 'torchtune', word: /^tune run$/, other: /^tune \w+$/, style: 'overrides' },
];

export interface Command {
  readonly launch: Launch;
  /** The word itself, as `verl.trainer.main_ppo`. */
  readonly word: string;
  readonly values: JsonObject;
  /** Keys with a mark in front, by the key: `+` adds one, `~` takes one out. */
  readonly marks: ReadonlyMap<string, string>;
  readonly lines: ReadonlyMap<string, number>;
  readonly twice: readonly string[];
}

/** undefined: no trainer's command is in it. */
export function commandOf(script: string): Command | Problem | undefined {
  const typed = commandsIn(script).map(({ words }) => ({
    words,
    spoken: words.map((word, at) =>
      at > 0 && PROGRAMS.has(words[at - 1] ?? '') ? `${words[at - 1]} ${word}` : word,
    ),
  }));
  const found = typed.flatMap(({ words, spoken }) => {
    const at = spoken.findIndex((word) => LAUNCHES.some((launch) => launch.word.test(word)));
    const word = spoken[at] ?? '';
    const launch = LAUNCHES.find((each) => each.word.test(word));
    return launch === undefined ? [] : [{ launch, word, rest: words.slice(at + 1) }];
  });
  const [only, other] = found;
  if (only === undefined) return unread(typed.flatMap(({ spoken }) => spoken));
  if (other !== undefined)
    return { problem: `it starts ${only.word} and ${other.word}: name a file that starts one of them` };
  const given = only.launch.style === 'overrides' ? overridesOf(only.rest) : optionsOf(only.rest);
  if ('problem' in given) return given;
  const lines = new Map<string, number>();
  const rows = script.split('\n');
  const twice: string[] = [];
  for (const { key } of given) {
    if (lines.has(key)) twice.push(key);
    const at = rows.findIndex((row) => !/^\s*#/.test(row) && row.includes(key));
    lines.set(key, at < 0 ? 1 : at + 1);
  }
  return {
    ...only,
    values: Object.fromEntries(given.map(({ key, value }) => [key, value])),
    marks: new Map(given.flatMap(({ key, mark }) => (mark === '' ? [] : [[key, mark]]))),
    lines,
    twice,
  };
}

// --- helpers ---

/** A trainer's command of another version, or one that trains nothing. */
function unread(words: readonly string[]): Problem | undefined {
  for (const { known, other } of LAUNCHES) {
    const word = words.find((each) => other.test(each));
    if (word === undefined) continue;
    const { trainer, version } = knownOf(known);
    return {
      problem: `it starts ${word}, which is none of the commands of ${trainer} ${version} that view reads`,
    };
  }
  return undefined;
}

/** Programs whose next word says what they do. */
const PROGRAMS = new Set(['swift', 'tune']);

interface Given {
  readonly key: string;
  readonly value: unknown;
  readonly mark: string;
}

/** Hydra's grammar, as far as scripts use it. */
function overridesOf(words: readonly string[]): Given[] | Problem {
  const given: Given[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const option = /^--(config(?:-(?:path|name|dir))?)(?:=([\s\S]*))?$/.exec(word);
    if (option !== null) {
      given.push({ key: `--${option[1]}`, value: option[2] ?? words[++at], mark: '' });
      continue;
    }
    const made = /^(\+{0,2}|~)([\w.@/-]+)(?:=([\s\S]*))?$/.exec(word);
    if (made === null || (made[3] === undefined && made[1] !== '~')) continue;
    given.push({
      key: made[2] ?? '',
      value: made[1] === '~' ? null : valueIn(made[3] ?? ''),
      mark: made[1] ?? '',
    });
  }
  return given;
}

/** A list or a mapping is written as YAML writes it; a text needs no quotes. */
function valueIn(text: string): unknown {
  if (/^[[{]/.test(text)) {
    const read = parseYaml(text);
    return 'ok' in read && (Array.isArray(read.ok.value) || isJsonObject(read.ok.value))
      ? read.ok.value
      : text;
  }
  if (/^(['"])[\s\S]*\1$/.test(text) && text.length > 1) return text.slice(1, -1);
  if (/^null$/i.test(text)) return null;
  if (/^true$/i.test(text)) return true;
  if (/^false$/i.test(text)) return false;
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
}

function optionsOf(words: readonly string[]): Given[] {
  const given: Given[] = [];
  for (let at = 0; at < words.length; at++) {
    const made = /^--([\w.-]+)(?:=([\s\S]*))?$/.exec(words[at] ?? '');
    if (made === null) continue;
    const values: string[] = made[2] === undefined ? [] : [made[2]];
    while (made[2] === undefined && at + 1 < words.length && !/^--[a-z]/i.test(words[at + 1] ?? ''))
      values.push(words[++at] ?? '');
    const [first] = values;
    given.push({
      key: made[1] ?? '',
      value: values.length === 0 ? true : values.length === 1 ? first : values,
      mark: '',
    });
  }
  return given;
}
