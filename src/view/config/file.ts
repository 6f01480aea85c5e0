// A trainer's configuration as it is written: its keys with their lines. A file of YAML or JSON, or a shell script with the
// command that starts the trainer.
import { basename } from 'node:path';
import { isJsonObject, type JsonObject } from '../../outside/decoded.ts';
import { parseStrict } from '../../outside/json.ts';
import { parseYaml } from '../../outside/yaml.ts';
import { type Command, commandOf } from './command.ts';
import type { Problem, SettingFault } from './fault.ts';

export interface ConfigFile {
  readonly name: string;
  readonly values: JsonObject;
  readonly lines: ReadonlyMap<string, number>;
  readonly twice: readonly string[];
  /** Where it is a script: the command in it, whose keys these are. */
  readonly command?: Command;
}

export function configFile(path: string, text: string): ConfigFile | Problem {
  const name = basename(path);
  // Of unsloth, say: what its rows are, only the script itself knows.
  if (name.endsWith('.py'))
    return {
      problem: `${name} is a Python script, which view neither reads nor runs: \`lossproof trace -- python ${path}\` shows the rows that it trains`,
    };
  const json = name.endsWith('.json');
  if (!json && (/\.(?:sh|bash|slurm|sbatch)$/.test(name) || text.startsWith('#!')))
    return scriptOf(name, text);
  const read = json ? parseStrict(text) : parseYaml(text);
  if ('complaint' in read)
    return { problem: `${name} is not ${json ? 'JSON' : 'YAML'}: ${read.complaint.slice(0, SHOWN_REASON)}` };
  const made = json
    ? { value: read.ok, lines: new Map<string, number>(), twice: [] }
    : (read.ok as { value: unknown; lines: ReadonlyMap<string, number>; twice: readonly string[] });
  if (!isJsonObject(made.value)) {
    // A command without the name of a script, as one that is written to a pipe.
    const script = json ? undefined : commandOf(text);
    return script === undefined
      ? { problem: `${name} is not a mapping of keys to values` }
      : scriptOf(name, text);
  }
  return { name, values: made.value, lines: made.lines, twice: made.twice };
}

/** A fault of a key of this file, with its line. */
export function faultOf(
  { lines }: ConfigFile,
  key: string,
  sentence: string,
  level: 'fault' | 'note' = 'fault',
): SettingFault {
  const line = lines.get(key) ?? lines.get(key.split('.')[0] ?? key);
  return {
    key,
    sentence,
    ...(line === undefined ? {} : { line }),
    ...(level === 'note' ? { note: true as const } : {}),
  };
}

/** Leaves by their dotted names; an empty mapping and a list are leaves. */
export function flattened(values: JsonObject, before = '', depth = 0): Record<string, unknown> {
  const leaves: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    const own = `${before}${key}`;
    // An alias of YAML may hold itself.
    if (isJsonObject(value) && Object.keys(value).length > 0 && depth < DEEPEST)
      Object.assign(leaves, flattened(value, `${own}.`, depth + 1));
    else leaves[own] = value;
  }
  return leaves;
}

// --- helpers ---

/** A parser quotes the text; a long quotation fills the screen. */
const SHOWN_REASON = 160;
/** A configuration has four floors. */
const DEEPEST = 12;

function scriptOf(name: string, text: string): ConfigFile | Problem {
  const command = commandOf(text);
  if (command === undefined)
    return { problem: `${name} is a script, and no command in it starts a trainer that view knows` };
  if ('problem' in command) return { problem: `${name}: ${command.problem}` };
  const { values, lines, twice } = command;
  return { name, values, lines, twice, command };
}
