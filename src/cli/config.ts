// lossproof.config.(ts|js|mjs|json): what a user would otherwise type at every run. Found upward from the
// working directory; unknown keys are refused. What is typed wins over what is written here.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createJiti } from 'jiti';
import { unknownName } from '../protocol/nearest.ts';
import { LEVELS, type Level } from '../vocabulary.ts';
import { type Problem, whyOf } from './context.ts';
import type { Config, MonitorConfig } from './define.ts';

export interface LoadedConfig {
  readonly file: string;
  /** Relative paths in the file start here. */
  readonly folder: string;
  readonly config: Config;
}

/** The named file, or the nearest one upward from `cwd`, or undefined where there is none. */
export async function loadConfig(
  cwd: string,
  named: string | undefined,
): Promise<LoadedConfig | Problem | undefined> {
  const file = named ?? findConfig(cwd);
  if (file === undefined) return undefined;
  if (!existsSync(file)) return { problem: `there is no configuration file ${file}` };
  let value: unknown;
  try {
    value = await read(file);
  } catch (error) {
    const why = whyOf(error);
    return { problem: `${file} cannot be loaded: ${why.split('\n')[0] ?? why}` };
  }
  const complaint = complaintAbout(value);
  if (complaint !== undefined) return { problem: `${file}: ${complaint}` };
  return { file, folder: dirname(file), config: value as Config };
}

export const CONFIG_NAMES: readonly string[] = ['ts', 'js', 'mjs', 'json'].map(
  (ending) => `lossproof.config.${ending}`,
);

function findConfig(folder: string): string | undefined {
  const file = CONFIG_NAMES.map((name) => join(folder, name)).find((path) => existsSync(path));
  if (file !== undefined) return file;
  return dirname(folder) === folder ? undefined : findConfig(dirname(folder));
}

async function read(file: string): Promise<unknown> {
  if (file.endsWith('.json')) return JSON.parse(readFileSync(file, 'utf8'));
  if (!file.endsWith('.ts')) {
    const loaded = (await import(pathToFileURL(file).href)) as { default?: unknown };
    return loaded.default;
  }
  // `import { defineConfig } from 'lossproof'` must also work where the package was started by npx alone.
  const self = fileURLToPath(new URL(`../index${extname(import.meta.url)}`, import.meta.url));
  const jiti = createJiti(import.meta.url, {
    fsCache: false,
    moduleCache: false,
    alias: { lossproof: self },
  });
  return await jiti.import(file, { default: true });
}

type Test = (value: unknown) => boolean;
const isText: Test = (value) => typeof value === 'string' && value !== '';
const isTexts: Test = (value) => Array.isArray(value) && value.length > 0 && value.every(isText);
const isRecord: Test = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isAmount: Test = (value) => typeof value === 'number' && value > 0 && Number.isFinite(value);

const KEYS: Readonly<Record<keyof Config, readonly [Test, string]>> = {
  trainer: [
    (value) =>
      isText(value) ||
      isTexts(value) ||
      (isRecord(value) && 'hello' in Object(value) && 'ops' in Object(value)),
    'a command (text or list of words) or an object with hello and ops',
  ],
  adapter: [isText, 'the name of a ready-made adapter'],
  python: [isText, 'a path or name of a Python'],
  tokenizer: [isText, 'a folder with tokenizer.json'],
  tokenizerBackend: [(value) => value === 'huggingface' || value === 'xenova', '"huggingface" or "xenova"'],
  semantics: [isRecord, 'an object of semantics, as in PROTOCOL.md'],
  cases: [(value) => isAmount(value) && Number.isInteger(value), 'a whole number above 0'],
  level: [(value) => LEVELS.includes(value as Level), '"must", "should" or "may"'],
  only: [(value) => isText(value) || isTexts(value), 'property ids or globs'],
  known: [isText, 'a file of known failures'],
  opTimeout: [isAmount, 'seconds above 0'],
  helloTimeout: [isAmount, 'seconds above 0'],
  corpus: [(value) => typeof value === 'boolean', 'true or false'],
  monitor: [isRecord, 'an object of settings for `monitor`'],
};

const isSettings: Test = (value) =>
  isRecord(value) &&
  Object.values(Object(value)).every((each) => ['string', 'number', 'boolean'].includes(typeof each));
const textOrTexts = [
  (value: unknown) => isText(value) || isTexts(value),
  'a text or a list of texts',
] as const;

const MONITOR_KEYS: Readonly<Record<keyof MonitorConfig, readonly [Test, string]>> = {
  paths: textOrTexts,
  rollouts: textOrTexts,
  preset: [isText, 'the name of a preset'],
  set: [isSettings, 'an object such as { "kl-spike.times": 30 }'],
  series: [isSettings, 'an object such as { "my_kl": "kl" }'],
  facts: [isSettings, 'an object such as { "max_completion_length": 512 }'],
  expect: [isTexts, 'a list of losses'],
  only: textOrTexts,
  level: KEYS.level,
  known: KEYS.known,
};

function complaintAbout(value: unknown): string | undefined {
  if (!isRecord(value)) return 'the configuration must be an object (in a module: its default export)';
  const complaint = complaintIn(value as Record<string, unknown>, KEYS, '');
  if (complaint !== undefined) return complaint;
  const { trainer, adapter, monitor } = value as Config;
  const inside = complaintIn((monitor ?? {}) as Record<string, unknown>, MONITOR_KEYS, 'monitor.');
  if (inside !== undefined) return inside;
  return trainer !== undefined && adapter !== undefined
    ? 'name a trainer or an adapter, not both'
    : undefined;
}

function complaintIn(
  held: Readonly<Record<string, unknown>>,
  keys: Readonly<Record<string, readonly [Test, string]>>,
  before: string,
): string | undefined {
  for (const [key, value] of Object.entries(held)) {
    const rule = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (rule === undefined)
      return unknownName(
        'key',
        before + key,
        Object.keys(keys).map((each) => before + each),
      );
    if (!rule[0](value)) return `"${before}${key}" must be ${rule[1]}`;
  }
  return undefined;
}
