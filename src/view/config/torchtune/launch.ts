// A recipe's configuration as torchtune resolves it: the file, overrides of the command that starts it, and references from
// one key to another. Source: torchtune/config/_parse.py and _utils.py of the version in known/torchtune.json.
import { isJsonObject, type JsonObject } from '../../../outside/decoded.ts';
import { parseYaml } from '../../../outside/yaml.ts';
import type { Problem } from '../fault.ts';
import type { ConfigFile } from '../file.ts';
import { textOf } from '../keys.ts';
import type { Host } from '../plan.ts';
import { isComputed } from '../shell.ts';

export interface Launched {
  readonly config: ConfigFile;
  /** Keys at the top that others refer to. */
  readonly referred: ReadonlySet<string>;
}

export function launched(given: ConfigFile, host: Host): Launched | Problem {
  const config = given.command === undefined ? given : started(given, host);
  if ('problem' in config) return config;
  const referred = new Set<string>();
  const values = resolved(config.values, config.values, referred, 0) as JsonObject;
  return { config: { ...config, values }, referred };
}

// --- helpers ---

/** The file that the command names, with the command's overrides. */
function started({ name, values: typed, command }: ConfigFile, host: Host): ConfigFile | Problem {
  const file = typed['--config'];
  if (typeof file !== 'string' || isComputed(file))
    return { problem: `${name} starts torchtune, and --config names no file that view can read` };
  if (host.kindOf(file) !== 'file')
    return {
      problem: `there is no file ${file}, which ${name} names with --config: where it is a configuration of torchtune's own, \`tune cp ${file} train.yaml\` writes it`,
    };
  const text = host.readText(file);
  const read = 'complaint' in text ? text : parseYaml(text.ok);
  if ('complaint' in read) return { problem: `${file} cannot be read: ${read.complaint}` };
  const { value, lines, twice } = read.ok;
  if (!isJsonObject(value)) return { problem: `${file} is not a mapping of keys to values` };
  let values: JsonObject = value;
  const own = new Map(lines);
  for (const [key, override] of Object.entries(typed)) {
    if (key.startsWith('--')) continue;
    const way = key.split('.');
    // What is typed is on no line of this file.
    for (const each of [key, way[0] ?? '']) own.delete(each);
    if (command?.marks.get(key) === '~') values = put(values, way, undefined);
    // `tokenizer=NAME` names its component, where it is one.
    else if (way.length === 1 && isComponent(values[key]))
      values = put(values, [key, '_component_'], override);
    else values = put(values, way, override === 'None' ? null : override);
  }
  return { name: file, values, lines: own, twice };
}

const isComponent = (value: unknown): boolean => isJsonObject(value) && Object.hasOwn(value, '_component_');

/** undefined takes the key out. */
function put(values: JsonObject, [key = '', ...rest]: readonly string[], value: unknown): JsonObject {
  const { [key]: own, ...others } = values;
  if (rest.length > 0) return { ...values, [key]: put(isJsonObject(own) ? own : {}, rest, value) };
  return value === undefined ? others : { ...values, [key]: value };
}

/** A reference refers to another a few times at most; one that refers to itself never ends. */
const DEEPEST = 12;

/** `${key}` and `${part.key}` are values of the file; others (`${oc.env:HOME}`) stay as they are written. */
function resolved(value: unknown, root: JsonObject, referred: Set<string>, depth: number): unknown {
  if (depth > DEEPEST) return value;
  if (Array.isArray(value)) return value.map((each) => resolved(each, root, referred, depth + 1));
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, resolved(each, root, referred, depth + 1)]),
    );
  if (typeof value !== 'string' || !value.includes('${')) return value;
  const at = (way: string): unknown => {
    const [first = ''] = way.split('.');
    referred.add(first);
    const found = way
      .split('.')
      .reduce<unknown>(
        (part, key) => (isJsonObject(part) && Object.hasOwn(part, key) ? part[key] : undefined),
        root,
      );
    return resolved(found, root, referred, depth + 1);
  };
  const whole = /^\$\{(\w[\w.]*)\}$/.exec(value);
  if (whole !== null) return at(whole[1] ?? '') ?? value;
  return value.replaceAll(/\$\{(\w[\w.]*)\}/g, (written: string, way: string) => {
    const found = at(way);
    return found === undefined || found === null ? written : textOf(found);
  });
}
