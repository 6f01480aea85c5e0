// dataset_info.json: what LLaMA-Factory knows of a data set, and what it makes of an entry. Source: get_dataset_list and
// DatasetAttr.join in llamafactory/data/parser.py: where `columns` or `tags` is given, names that it leaves out are None,
// not the default.
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '../../../outside/decoded.ts';
import type { Problem, SettingFault } from '../fault.ts';
import { type ConfigFile, faultOf } from '../file.ts';
import { nearest, partFaults, textOf } from '../keys.ts';
import type { Keys, Known } from '../known.ts';
import type { Host } from '../plan.ts';

export interface DatasetEntry {
  readonly name: string;
  readonly file: string;
  readonly formatting: string;
  readonly ranking: boolean;
  /** Column or tag by LLaMA-Factory's name for it; absent: None. */
  readonly columns: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

export interface Entries {
  readonly entries: readonly DatasetEntry[];
  readonly faults: readonly SettingFault[];
}

export function entriesOf(config: ConfigFile, known: Known, host: Host): Entries | Problem {
  const { dataset, dataset_dir: given = known.keys.dataset_dir?.default } = config.values;
  const folder = textOf(given);
  if (dataset === undefined || dataset === null) return { entries: [], faults: [] };
  if (folder === 'ONLINE' || folder.startsWith('REMOTE:'))
    return { problem: `dataset_dir ${folder} is on the Hub, from which view reads nothing; ${GO_ON}` };
  const file = join(folder, INFO);
  const read = host.readJson(file);
  if ('complaint' in read)
    return { problem: `${file} cannot be read from where view was started: ${read.complaint}` };
  if (!isJsonObject(read.ok)) return { problem: `${file} is not an object` };
  const names = typeof dataset === 'string' ? dataset.split(',').map((each) => each.trim()) : dataset;
  const entries: DatasetEntry[] = [];
  const faults: SettingFault[] = [];
  for (const name of Array.isArray(names) ? names.map(textOf) : [textOf(names)]) {
    const info: unknown = Object.hasOwn(read.ok, name) ? read.ok[name] : undefined;
    if (!isJsonObject(info)) {
      const near = nearest(name, Object.keys(read.ok));
      return { problem: `${file} has no data set ${name}${near === undefined ? '' : `; is ${near} meant?`}` };
    }
    const entry = entryOf(name, info, { config, known, host, folder });
    if ('problem' in entry) return entry;
    entries.push(entry.entry);
    faults.push(...entry.faults);
  }
  return { entries, faults };
}

// --- helpers ---

const INFO = 'dataset_info.json';
const GO_ON = 'write the rows to a file, and name it: lossproof view rows.jsonl --config FILE';
const REMOTE = ['hf_hub_url', 'ms_hub_url', 'om_hub_url', 'script_url', 'cloud_file_name'];

interface Around {
  readonly config: ConfigFile;
  readonly known: Known;
  readonly host: Host;
  readonly folder: string;
}

function entryOf(
  name: string,
  info: JsonObject,
  { config, known, host, folder }: Around,
): { readonly entry: DatasetEntry; readonly faults: readonly SettingFault[] } | Problem {
  const remote = REMOTE.find((key) => info[key] !== undefined);
  if (remote !== undefined && !host.dataTyped)
    return { problem: `the data set ${name} has ${remote}, which view does not load; ${GO_ON}` };
  const { file_name: file, formatting = 'alpaca', ranking = false, columns, tags, num_samples } = info;
  if (typeof file !== 'string' && !host.dataTyped)
    return { problem: `the data set ${name} in ${INFO} has no file_name` };
  const path = join(folder, textOf(file));
  const kind = host.dataTyped ? 'file' : host.kindOf(path);
  if (kind === undefined) return { problem: `the data set ${name}: there is no file ${path}` };
  if (kind === 'folder')
    return { problem: `the data set ${name}: ${path} is a folder, and view reads one file` };
  const trainer = known.trainer;
  const part = (inner: string): string => (inner === 'dataset' ? name : `${name}.${inner}`);
  const faults = (['dataset', 'columns', 'tags'] as const).flatMap((inner) => {
    const given = inner === 'dataset' ? info : info[inner];
    const keys = known.parts[inner] ?? {};
    return isJsonObject(given) ? partFaults(config, { part: part(inner), given, keys, trainer }) : [];
  });
  if (typeof formatting !== 'string' || !FORMATS.includes(formatting))
    return {
      problem: `the data set ${name}: formatting ${textOf(formatting)} is none of ${FORMATS.join(', ')}: LLaMA-Factory stops`,
    };
  if (num_samples !== undefined && num_samples !== null)
    faults.push(faultOf(config, `${name}.num_samples`, 'It was not applied: all rows are shown.', 'note'));
  return {
    entry: {
      name,
      file: path,
      formatting,
      ranking: ranking === true,
      columns: namesOf(columns, known.parts.columns ?? {}),
      tags: namesOf(tags, known.parts.tags ?? {}),
    },
    faults,
  };
}

const FORMATS = ['alpaca', 'sharegpt', 'openai'];

/** All defaults, or only what is given. */
function namesOf(given: unknown, keys: Keys): Readonly<Record<string, string>> {
  const names: Record<string, string> = {};
  for (const [key, { default: value }] of Object.entries(keys)) {
    const own = isJsonObject(given) ? given[key] : value;
    if (typeof own === 'string' && own !== '') names[key] = own;
  }
  return names;
}
