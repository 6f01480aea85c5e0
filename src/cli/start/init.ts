// `init`: an adapter that runs at once, to be filled with the user's own functions, a configuration that names it, and
// with --vitest all that `npm test` needs. Never writes over a file unless told to.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { readText } from '../../outside/file.ts';
import { quoted } from '../../report/failure/reproduce.ts';
import { PACKAGE_ROOT, VERSION } from '../../version.ts';
import { CONFIG_NAMES } from '../config/config.ts';
import { type Context, isProblem, type Problem, refuse, say } from '../context.ts';
import { HOLDS } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import type { Invocation } from '../options.ts';
import { writeNamed } from '../outputs/written.ts';
import { ANY_PYTHON, pythonIn } from '../trainer/python.ts';
import { asTyped } from '../typed.ts';
import { editPackage, type PackageEdit } from './package-file.ts';
import { STARTER, type StarterFile, starterConfig } from './starter.ts';

interface InitOptions {
  readonly force?: boolean;
  readonly vitest?: boolean;
  readonly from?: readonly string[];
  readonly python?: string;
}

export function addInit(program: Command, { context, finish }: Invocation): void {
  tell(program.command('init'), WORDS)
    .summary('write a first adapter and configuration')
    .description('write a first adapter, and a configuration that names it')
    .option(
      '--from <path...>',
      'files of the trainer; the adapter uses the functions that `discover` finds in them',
    )
    .option(
      '--python <path>',
      'Python that you train with (default: the active environment, ./.venv, or python3)',
    )
    .option('--vitest', 'also write a vitest test of the trainer, and what `npm test` needs in package.json')
    .option('--force', 'overwrite existing files')
    .action(async (options: InitOptions) =>
      finish(
        options.from !== undefined
          ? await initFrom(options.from, options, context)
          : options.vitest === true
            ? initVitest(options, context)
            : init(options, context),
      ),
    );
}

const WORDS: Words = {
  examples: [
    { command: 'npx lossproof init' },
    { command: 'npx lossproof init --from trainer.py' },
    { command: 'npx lossproof init --vitest' },
    { command: 'npx lossproof init --force' },
  ],
  notes: ['With --vitest, existing files are kept, and only missing entries are added to package.json.'],
};

const ADAPTER = 'adapter.py';
const CONFIG = 'lossproof.config.json';
const TEST = 'trainer.test.ts';
const PACKAGE = 'package.json';

function init({ force = false }: InitOptions, context: Context): number {
  const files: StarterFile[] = [ADAPTER, CONFIG];
  const taken = files.filter((name) => isThere(name, context));
  if (taken.length > 0 && !force) return refuse(context, alreadyHere(taken));
  const problem = writeStarters(files, force, schemaFrom(context), context);
  if (problem !== undefined) return refuse(context, problem);
  say(context, `wrote ${listed(files)}`, '', 'Next:', '  npx lossproof doctor', '  npx lossproof check');
  return HOLDS;
}

async function initFrom(
  paths: readonly string[],
  { force = false, vitest, python }: InitOptions,
  context: Context,
): Promise<number> {
  if (vitest === true)
    return refuse(context, {
      problem:
        '--from and --vitest are two steps: --from writes the adapter, then `npx lossproof init --vitest` keeps it',
    });
  const files: StarterFile[] = [ADAPTER, CONFIG];
  const taken = files.filter((name) => isThere(name, context));
  if (taken.length > 0 && !force) return refuse(context, alreadyHere(taken));
  const { writeFrom } = await import('../discover/from.ts');
  const written = await writeFrom(paths, ADAPTER, { force, python }, context);
  if (typeof written === 'number') return written;
  const problem = writeStarters([CONFIG], force, schemaFrom(context), context, python);
  if (problem !== undefined) return refuse(context, problem);
  const failing = written.failing.length === 0 ? '' : `; ${written.failing.join(', ')} will fail, see above`;
  say(context, '', `wrote ${listed(files)}${failing}`, '', 'Next:', '  npx lossproof check');
  return HOLDS;
}

function alreadyHere(taken: readonly string[]): Problem {
  return {
    problem: `${listed(taken)} ${taken.length === 1 ? 'is' : 'are'} already here; --force writes over`,
  };
}

function initVitest({ force = false }: InitOptions, context: Context): number {
  const edit = packageEdit(context);
  if (isProblem(edit)) return refuse(context, edit);
  const config = CONFIG_NAMES.find((name) => isThere(name, context));
  // Where a configuration names the trainer, an adapter beside it would be nobody's.
  const wanted: StarterFile[] = config === undefined || force ? [ADAPTER, CONFIG, TEST] : [TEST];
  const files = wanted.filter((name) => force || !isThere(name, context));
  const present = [...new Set([...(config === undefined ? [] : [config]), ADAPTER, TEST])];
  const kept = present.filter((name) => isThere(name, context) && !(files as string[]).includes(name));
  const isNew = !isThere(PACKAGE, context);
  const problem =
    writeStarters(files, force, schemaFrom(context) ?? SCHEMA, context) ??
    (edit.added.length === 0 ? undefined : write(PACKAGE, edit.text, 'w', context));
  if (problem !== undefined) return refuse(context, problem);
  const added =
    edit.added.length === 0 ? [] : [`${isNew ? 'made' : 'added to'} ${PACKAGE}: ${edit.added.join(', ')}`];
  say(
    context,
    ...(files.length === 0 ? [] : [`wrote ${listed(files)}`]),
    ...(kept.length === 0 ? [] : [`kept ${listed(kept)}${force ? '' : '; --force writes over'}`]),
    ...added,
    ...edit.todo,
    '',
    'Next:',
    '  npm install',
    '  npm test',
    ...(files.includes(ADAPTER) ? ['Then put your own functions into adapter.py, one by one.'] : []),
  );
  return HOLDS;
}

function packageEdit(context: Context): PackageEdit | Problem {
  const path = resolve(context.cwd, PACKAGE);
  const read = existsSync(path) ? readText(path) : { ok: undefined };
  if ('complaint' in read) return { problem: `${PACKAGE} cannot be read: ${read.complaint}` };
  return editPackage(read.ok, {
    test: 'vitest run',
    packages: { lossproof: `^${VERSION}`, vitest: testedVitest() },
  });
}

/** The range that this version is tested with. */
function testedVitest(): string {
  const own = JSON.parse(readFileSync(join(PACKAGE_ROOT, PACKAGE), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  return own.devDependencies.vitest ?? '*';
}

function writeStarters(
  files: readonly StarterFile[],
  force: boolean,
  schema: string | undefined,
  context: Context,
  python?: string,
): Problem | undefined {
  for (const name of files) {
    // `wx` closes the gap between looking and writing.
    const problem = write(name, contentOf(name, schema, context, python), force ? 'w' : 'wx', context);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The environment beside the code is the one that trains; an active one is what python3 means anyway. */
const OWN_PYTHON = pythonIn('.venv').replaceAll('\\', '/');

function contentOf(
  name: StarterFile,
  schema: string | undefined,
  context: Context,
  python: string | undefined,
): string {
  if (name !== CONFIG) return STARTER[name];
  if (python !== undefined) return starterConfig(quoted(python), schema);
  return starterConfig(isThere(OWN_PYTHON, context) ? OWN_PYTHON : ANY_PYTHON, schema);
}

/** Of the installed package, from the folder of the configuration. */
const SCHEMA = './node_modules/lossproof/docs/config.schema.json';

/** That of the package where it is installed here or in a folder above; npx alone leaves nothing that could be named. */
function schemaFrom({ cwd }: Context): string | undefined {
  for (let [at, up] = [cwd, '']; ; [at, up] = [dirname(at), `../${up}`]) {
    if (existsSync(join(at, SCHEMA))) return up === '' ? SCHEMA : join(up, SCHEMA);
    if (dirname(at) === at) return undefined;
  }
}

function write(name: string, content: string, flag: 'w' | 'wx', context: Context): Problem | undefined {
  const why = writeNamed(resolve(context.cwd, name), asTyped(content), flag);
  return why === undefined ? undefined : { problem: `${name} ${why}` };
}

const isThere = (name: string, context: Context): boolean => existsSync(resolve(context.cwd, name));

/** "a", "a and b", "a, b and c". */
function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
