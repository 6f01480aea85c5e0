// A folder with configurations and data: the rows that `view --config` makes of each, and those that the trainer makes.
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { isProblem } from '../../../src/cli/context.ts';
import { openConfiguration } from '../../../src/cli/view/configuration.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { isNote } from '../../../src/view/flags.ts';
import { openScanner } from '../../../src/view/scan.ts';
import { IGNORE_INDEX } from '../../../src/vocabulary.ts';
import { makeWorld } from '../../cli/world.ts';
import { python } from '../sources/run.ts';
import { family } from '../trl/ask.ts';
import { pythonOf } from '../trl/versions.ts';

export interface Case {
  readonly config: Readonly<Record<string, unknown>>;
  /** The script that starts the training, in place of a file with `config`. */
  readonly script?: string;
  /** Files beside it; values are written as JSON, lists as JSON lines. */
  readonly files: Readonly<Record<string, unknown>>;
}

export interface Row {
  readonly input_ids: readonly number[];
  readonly labels: readonly number[];
}

export type Theirs = { readonly rows: readonly Row[] } | { readonly stops: string };
export interface Ours {
  readonly rows: readonly Row[];
  /** Ids of flags of rows, each once. */
  readonly flags: readonly string[];
  /** Keys of settings that are flagged, notes not among them. */
  readonly faults: readonly string[];
  readonly notes: readonly string[];
}

const TOKENIZERS = ['qwen', 'llama3', 'gemma', 'deepseek', 'phi', 'mistral'];

export interface Project {
  readonly ours: (name: string) => Promise<Ours>;
  readonly theirs: ReadonlyMap<string, Theirs>;
  readonly end: () => void;
}

/** Whose rows they are: the script that makes them is named after it. */
export type Trainer = keyof typeof PYTHON;

const PYTHON = {
  trl: () => pythonOf('newest'),
  factory: () => pythonOf('middle'),
  verl: () => python('verl'),
  axolotl: () => pythonIn('.venv-sources'),
  swift: () => pythonIn('.venv-sources'),
  openrlhf: () => python('openrlhf'),
  torchtune: () => pythonIn('.venv-places'),
} as const satisfies Readonly<Record<string, () => string>>;

/** An environment that `npm run setup:trainers` makes; in .venv-sources, what trainers import is stubbed. */
export function pythonIn(folder: '.venv-sources' | '.venv-places'): string {
  const named = join(PACKAGE_ROOT, folder, 'bin', 'python');
  if (!existsSync(named)) throw new Error(`${named} is missing: run \`npm run setup:trainers\``);
  return named;
}

/** One start of Python makes the rows of all cases. */
export async function project(trainer: Trainer, cases: Readonly<Record<string, Case>>): Promise<Project> {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-config-'));
  for (const name of TOKENIZERS) cpSync(family(name), join(folder, name), { recursive: true });
  for (const [name, { config, script, files }] of Object.entries(cases)) {
    for (const [file, content] of Object.entries(files)) {
      const path = join(folder, name, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, written(content));
    }
    // JSON is YAML.
    writeFileSync(
      join(folder, fileOf(name, cases)),
      script === undefined
        ? JSON.stringify(inFolder(config, name), null, 1)
        : script.replaceAll('./', `${name}/`),
    );
  }
  const names = Object.keys(cases);
  const script = fileURLToPath(new URL(`${trainer}_rows.py`, import.meta.url));
  const { stdout } = await execa(PYTHON[trainer](), [script, ...names.map((name) => fileOf(name, cases))], {
    cwd: folder,
    env: {
      PYTHONPATH: fileURLToPath(new URL('../../../src/python', import.meta.url)),
      PYTHONDONTWRITEBYTECODE: '1',
      HF_HUB_OFFLINE: '1',
      HF_HOME: join(folder, '.cache'),
    },
  });
  const made = JSON.parse(stdout.trim().split('\n').at(-1) ?? '[]') as readonly Theirs[];
  return {
    ours: (name) => oursOf(folder, fileOf(name, cases), trainer),
    theirs: new Map(names.map((name, at) => [name, made[at] ?? { stops: 'no answer' }])),
    end: () => rmSync(folder, { recursive: true, force: true }),
  };
}

// --- helpers ---

const fileOf = (name: string, cases: Readonly<Record<string, Case>>): string =>
  `${name}.${cases[name]?.script === undefined ? 'yaml' : 'sh'}`;

/** `./x` is in the folder of the case. */
function inFolder(value: unknown, name: string): unknown {
  if (typeof value === 'string') return value.startsWith('./') ? `${name}/${value.slice(2)}` : value;
  if (Array.isArray(value)) return value.map((each) => inFolder(each, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inFolder(inner, name)]));
}

function written(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map((row) => `${JSON.stringify(row)}\n`).join('');
  return JSON.stringify(content);
}

async function oursOf(folder: string, file: string, trainer: Trainer): Promise<Ours> {
  const world = makeWorld();
  const opened = await openConfiguration(
    file,
    undefined,
    { truncationSide: 'right', byRules: true },
    { ...world.context, cwd: folder },
  );
  if (isProblem(opened)) throw new Error(opened.problem);
  const scanner = openScanner(opened.world, { most: Number.POSITIVE_INFINITY });
  const unread = await opened.source.each(scanner.look);
  if (unread !== undefined) throw new Error(unread.problem);
  const { kept } = scanner.end();
  const after = opened.after();
  const faults = [...opened.faults, ...after.faults];
  return {
    rows: kept
      .toSorted((left, right) => left.number - right.number)
      .flatMap(({ row }) =>
        row === undefined
          ? []
          : [
              {
                input_ids: row.ids,
                labels: row.ids.map((id, at) => (row.trained[at] === true ? id : IGNORE_INDEX)),
              },
            ],
      )
      // TRL leaves out a row of which nothing is trained.
      .filter(({ labels }) => trainer !== 'trl' || labels.some((label) => label !== IGNORE_INDEX)),
    flags: [...new Set(kept.flatMap((row) => row.faults.map(({ id }) => id).filter((id) => !isNote(id))))],
    faults: faults.filter(({ note }) => note !== true).map(({ key }) => key),
    notes: faults.filter(({ note }) => note === true).map(({ key }) => key),
  };
}
