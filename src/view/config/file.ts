// A trainer's configuration file as it is written: its keys with their lines.
import { basename } from 'node:path';
import { isJsonObject, type JsonObject } from '../../outside/decoded.ts';
import { parseStrict } from '../../outside/json.ts';
import { parseYaml } from '../../outside/yaml.ts';
import type { Problem, SettingFault } from './fault.ts';

export interface ConfigFile {
  readonly name: string;
  readonly values: JsonObject;
  readonly lines: ReadonlyMap<string, number>;
  readonly twice: readonly string[];
}

export function configFile(path: string, text: string): ConfigFile | Problem {
  const name = basename(path);
  const json = name.endsWith('.json');
  const read = json ? parseStrict(text) : parseYaml(text);
  if ('complaint' in read)
    return { problem: `${name} is not ${json ? 'JSON' : 'YAML'}: ${read.complaint.slice(0, SHOWN_REASON)}` };
  const made = json
    ? { value: read.ok, lines: new Map<string, number>(), twice: [] }
    : (read.ok as { value: unknown; lines: ReadonlyMap<string, number>; twice: readonly string[] });
  if (!isJsonObject(made.value)) return { problem: `${name} is not a mapping of keys to values` };
  return { name, values: made.value, lines: made.lines, twice: made.twice };
}

/** A fault of a key of this file, with its line. */
export function faultOf(
  { lines }: ConfigFile,
  key: string,
  sentence: string,
  level: 'fault' | 'note' = 'fault',
): SettingFault {
  const line = lines.get(key.split('.')[0] ?? key);
  return {
    key,
    sentence,
    ...(line === undefined ? {} : { line }),
    ...(level === 'note' ? { note: true as const } : {}),
  };
}

// --- helpers ---

/** A parser quotes the text; a long quotation fills the screen. */
const SHOWN_REASON = 160;
