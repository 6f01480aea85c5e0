// lossproof.config.(ts|js|mjs|json): what a user would otherwise type at every run. Found upward from the
// working directory, within the project; unknown keys are refused. What is typed wins over what is written here.
import { existsSync, statSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createJiti } from 'jiti';
import { bound } from '../../bounds.ts';
import { type Decoded, isJsonObject } from '../../outside/decoded.ts';
import { readJson } from '../../outside/file.ts';
import {
  type Place,
  type Purpose,
  projectOf,
  refusedConfiguration,
  rememberConfiguration,
} from '../consent/consent.ts';
import { type Problem, whyOf } from '../context.ts';
import { complaintAbout } from './complaint.ts';
import type { Config } from './define.ts';

export interface LoadedConfig {
  readonly file: string;
  /** Relative paths in the file start here. */
  readonly folder: string;
  readonly config: Config;
}

/** The named file, or the nearest one upward from here in this project, or undefined where there is none. */
export async function loadConfig(
  place: Place,
  named: string | undefined,
  purpose: Purpose = 'start',
): Promise<LoadedConfig | Problem | undefined> {
  const file = named ?? findConfig(place);
  if (file === undefined) return undefined;
  if (!existsSync(file)) return { problem: `there is no configuration file ${file}` };
  const status = statSync(file, { throwIfNoEntry: false });
  if (status?.isFile() !== true)
    return {
      problem: `${file} cannot be loaded: it is no file but a ${status?.isDirectory() ? 'folder' : 'pipe or a device'}`,
    };
  // In a command that starts a trainer, JSON names what is run as well.
  if (named === undefined && (purpose === 'start' || isModule(file))) {
    const refused = refusedConfiguration(file, purpose, place);
    if (refused !== undefined && purpose !== 'glance') return refused;
    if (refused !== undefined) {
      place.err?.write(`lossproof: ${refused.problem}\n`);
      return undefined;
    }
  }
  if (isModule(file)) {
    rememberConfiguration(file, place);
    place.err?.write(`lossproof: running the configuration ${relative(place.cwd, file)}\n`);
  }
  let value: unknown;
  try {
    value = await inTime(read(file));
  } catch (error) {
    const why = whyOf(error);
    return { problem: `${file} cannot be loaded: ${why.split('\n')[0] ?? why}` };
  }
  const looked = configOf(value);
  return 'complaint' in looked
    ? { problem: `${file}: ${looked.complaint}` }
    : { file, folder: dirname(file), config: looked.ok };
}

/** A module may hand over anything: also what throws where it is looked at. What is looked at once is kept. */
function configOf(value: unknown): Decoded<Config> {
  try {
    const held = isJsonObject(value) ? { ...value } : value;
    const complaint = complaintAbout(held);
    return complaint === undefined ? { ok: held as Config } : { complaint };
  } catch (error) {
    return { complaint: `it cannot be looked at: ${whyOf(error).split('\n')[0] ?? ''}` };
  }
}

/** A promise that nothing will settle would let the process end without a word. */
async function inTime(loading: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const why = `it did not finish loading within ${LOADING_MILLISECONDS / 1_000} s; look for an \`await\` of what never comes`;
    timer = setTimeout(() => reject(new Error(why)), LOADING_MILLISECONDS);
  });
  try {
    return await Promise.race([loading, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A module may wait for others; on a busy machine, compiling it takes a while. */
const LOADING_MILLISECONDS = bound({
  of: 'loading a configuration that is a module',
  wall: 120_000,
  over: 'exit code 2',
});

export const CONFIG_NAMES: readonly string[] = ['ts', 'js', 'mjs', 'json'].map(
  (ending) => `lossproof.config.${ending}`,
);

function findConfig({ cwd, err }: Place): string | undefined {
  const file = nearest(cwd);
  if (file === undefined || !relative(projectOf(cwd), file).startsWith('..')) return file;
  err?.write(
    `lossproof: ${file} was passed over, since it lies outside this project; name it with --config if you mean it\n`,
  );
  return undefined;
}

function nearest(folder: string): string | undefined {
  const file = CONFIG_NAMES.map((name) => join(folder, name)).find((path) => existsSync(path));
  if (file !== undefined) return file;
  return dirname(folder) === folder ? undefined : nearest(dirname(folder));
}

/** Loading it runs it. */
export const isModule = (file: string): boolean => !file.endsWith('.json');

async function read(file: string): Promise<unknown> {
  if (!isModule(file)) {
    const json = readJson(file);
    if ('complaint' in json) throw new Error(json.complaint);
    return json.ok;
  }
  if (!file.endsWith('.ts')) {
    const loaded = (await import(pathToFileURL(file).href)) as { default?: unknown };
    return loaded.default;
  }
  // `import { defineConfig } from 'lossproof'` must also work where the package was started by npx alone.
  const self = fileURLToPath(new URL(`../../index${extname(import.meta.url)}`, import.meta.url));
  const jiti = createJiti(import.meta.url, {
    fsCache: false,
    moduleCache: false,
    alias: { lossproof: self },
  });
  return await jiti.import(file, { default: true });
}
