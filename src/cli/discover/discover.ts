// `discover`: which function of a trainer answers which op, found by reading its files and proved by calling its functions, in a
// process that may do little else. What is printed is report/discover; what is written, an adapter with the lines that were judged.
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { bound } from '../../bounds.ts';
import { type AdapterText, adapterText, type Preferred } from '../../discover/adapter.ts';
import { openDialogue, type ProjectRead } from '../../discover/dialogue.ts';
import { type Found, isBug, NOTHING_FOUND } from '../../discover/found.ts';
import { search } from '../../discover/search.ts';
import { foundJson } from '../../report/discover/json.ts';
import { discoverLines, nearPath, summaryLine } from '../../report/discover/table.ts';
import { quoted } from '../../report/failure/reproduce.ts';
import { ERASE_LINE } from '../../report/terminal.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { plural } from '../../report/text/plural.ts';
import { shorten, wrap } from '../../report/text/visible.ts';
import { VERSION } from '../../version.ts';
import { type Context, isProblem, type Problem, refuse, say, sayDocument } from '../context.ts';
import { FAILED, HOLDS, INTERRUPTED, NO_VERDICT } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import { watchInterrupts } from '../interrupt.ts';
import { collect, type Invocation, positive, seconds } from '../options.ts';
import { writeNamed } from '../outputs/written.ts';
import { widthOfScreen } from '../screen.ts';
import { ANY_PYTHON, findPython } from '../trainer/python.ts';
import { asTyped } from '../typed.ts';
import { onlyOf, stubsOf } from './given.ts';

export interface DiscoverOptions {
  readonly write?: string;
  readonly force?: boolean;
  readonly json?: boolean;
  readonly only?: readonly string[];
  readonly python?: string;
  readonly stub?: readonly string[];
  readonly maxTime: number;
  readonly memory: number;
}

export function addDiscover(program: Command, { context, finish }: Invocation): void {
  tell(program.command('discover'), WORDS)
    .summary('find the functions of a trainer that lossproof can check')
    .description(
      'find the functions of a trainer that lossproof can check, by calling them, and write the adapter',
    )
    .argument('<path...>', 'Python files, or folders of them')
    .option('--write <file>', 'write an adapter of the functions found')
    .option('--force', 'overwrite an existing file')
    .option('--only <ops>', 'ops, separated by commas; repeatable', collect)
    .option('--json', 'print what was found as JSON')
    .option('--python <path>', 'Python that runs it (default: the active environment, ./.venv, or python3)')
    .option(
      '--stub <name=version>',
      'package that is imported as a stand-in of this version, installed or not; repeatable',
      collect,
    )
    .option(
      '--max-time <seconds>',
      'limit for the whole run; the output lists what was left out',
      seconds,
      DEFAULT_SECONDS,
    )
    .option(
      '--memory <gigabytes>',
      'limit on address space, if the system supports it',
      positive,
      DEFAULT_GIGABYTES,
    )
    .action(async (paths: readonly string[], options: DiscoverOptions) =>
      finish(await discover(paths, options, context)),
    );
}

const WORDS: Words = {
  examples: [
    { command: 'npx lossproof discover trainer.py' },
    { command: 'npx lossproof discover src/losses --write adapter.py' },
    { command: 'npx lossproof discover trainer.py --only kl,loss --json' },
  ],
  notes: [
    "It imports the files and calls their functions, so it runs the project's code: in a separate process without network, which writes only to a temporary folder and has limits on time and memory. If the system lacks one of these, the first line says so. This protects against accidents, not against malice.",
  ],
  exit: {
    0: 'functions were found, and all are correct',
    1: 'a function has a bug, or nearly computes what an op asks for',
    2: 'nothing was found or could be read, or the adapter could not be written',
    130: 'interrupted',
  },
};

export const DEFAULT_SECONDS: number =
  bound({
    of: '`discover`, all of it',
    wall: 600_000,
    over: 'what was found is printed, and what had no turn',
    option: '--max-time',
  }) / 1_000;
/** Importing torch and transformers reserves much more address space than it uses. */
export const DEFAULT_GIGABYTES = 32;

async function discover(
  paths: readonly string[],
  options: DiscoverOptions,
  context: Context,
): Promise<number> {
  const done = await discovered(paths, options, context);
  if (isProblem(done)) return refuse(context, done);
  const { found, interrupted } = done;
  if (options.json === true) sayDocument(context, JSON.stringify(foundJson(found), undefined, 2));
  else sayFound(found, context);
  const written =
    options.write === undefined ? undefined : write(found, options.write, paths, options, context);
  // What was found stands, although the adapter could not be written.
  const isLost = written !== undefined && isProblem(written);
  const refused = isLost ? refuse(context, written) : undefined;
  if (options.json !== true && !isLost) sayNext(found, written, options, paths, context);
  if (interrupted) return INTERRUPTED;
  const isFlawed = found.bound.some(({ failing, flaws }) => failing.length > 0 || flaws.some(isBug));
  if (found.misfits.length > 0 || isFlawed) return FAILED;
  return refused ?? (found.bound.length > 0 ? HOLDS : NO_VERDICT);
}

export interface Discovered {
  readonly found: Found;
  readonly interrupted: boolean;
}

/** Says what it runs, looks at every function, and leaves nothing behind. */
export async function discovered(
  paths: readonly string[],
  options: Omit<DiscoverOptions, 'write'> & { readonly write?: string },
  context: Context,
): Promise<Discovered | Problem> {
  const only = onlyOf(options.only);
  if (only !== undefined && isProblem(only)) return only;
  if (
    options.write !== undefined &&
    options.force !== true &&
    existsSync(resolve(context.cwd, options.write))
  )
    return { problem: `${options.write} is already here; --force writes over it` };
  const python = findPython(options.python, context);
  if (typeof python !== 'string') return python;
  const stubs = stubsOf(options.stub);
  if (isProblem(stubs)) return stubs;
  // Of a temporary folder that is a link its target: what is inside is told by its path.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'lossproof-discover-')));
  const clear = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', clear);
  const mostMilliseconds = options.maxTime * 1_000;
  const dialogue = openDialogue({
    python,
    limits: { folder, memory: Math.round(options.memory * 2 ** 30), seconds: Math.ceil(options.maxTime) },
    loadMilliseconds: Math.min(LONGEST_LOAD, mostMilliseconds),
    stubs: Object.fromEntries(stubs),
    env: boundedEnvironment(folder, context),
  });
  const interrupts = watchInterrupts(context);
  const paint = choosePaint(context.out.isTty, context.env);
  const screen = options.json === true ? context.err : context.out;
  let isLate = false;
  const deadline = setTimeout(() => {
    isLate = true;
    dialogue.giveUp();
  }, mostMilliseconds);
  try {
    interrupts.begin();
    // An import that trains is not waited for.
    interrupts.onPatienceOver(() => dialogue.giveUp());
    const read = await dialogue.read(paths.map((path) => resolve(context.cwd, path)));
    if (interrupts.signal.aborted) return { found: NOTHING_FOUND, interrupted: true };
    if (!('ok' in read))
      return { problem: `nothing could be read: ${'problem' in read ? read.problem : ''}` };
    const project = read.ok;
    const unread = unreadable(project, context);
    if (unread !== undefined) return unread;
    for (const line of introduction(project, python, dialogue.missing(), options, context))
      screen.write(`${paint.dim(line)}\n`);
    const properties = await context.properties();
    const found = await search({
      dialogue,
      project,
      properties,
      only,
      signal: {
        get aborted() {
          return interrupts.signal.aborted || isLate;
        },
      },
      onProgress: (done, total, name) => {
        if (!context.err.isTty || context.env.TERM === 'dumb') return;
        const text = shorten(`${done} of ${total} functions · ${name}`, context.err.columns - 1);
        context.err.write(`${ERASE_LINE}${paint.dim(text)}`);
      },
    });
    if (context.err.isTty && context.env.TERM !== 'dumb') context.err.write(ERASE_LINE);
    return { found, interrupted: interrupts.signal.aborted };
  } finally {
    clearTimeout(deadline);
    interrupts.dispose();
    await dialogue.stop();
    clear();
    process.removeListener('exit', clear);
  }
}

/** Milliseconds: a file that takes longer to import trains. */
const LONGEST_LOAD = bound({
  of: '`discover`: importing a file',
  wall: 130_000,
  over: 'its functions are not bound, with the reason',
});

/** Threads of tiny tensors cost more than they bring; a compiler is a program to start; no GPU is needed. */
function boundedEnvironment(folder: string, { env }: Context): Record<string, string> {
  return {
    OMP_NUM_THREADS: '1',
    TORCHDYNAMO_DISABLE: '1',
    CUDA_VISIBLE_DEVICES: '',
    HF_HUB_OFFLINE: '1',
    TMPDIR: folder,
    PYTHONUNBUFFERED: '1',
    ...(env.PYTHONPATH === undefined ? {} : { PYTHONPATH: env.PYTHONPATH }),
  };
}

function unreadable({ files, candidates }: ProjectRead, { cwd }: Context): Problem | undefined {
  if (candidates.length > 0) return undefined;
  const [first] = files.filter(({ problem }) => problem !== undefined);
  if (first !== undefined) return { problem: `${nearPath(cwd, first.file)}: ${first.problem}` };
  return {
    problem:
      'there is no function in these files that returns something; a script that does everything in one place is traced: `lossproof trace -- python train.py`',
  };
}

function introduction(
  { files, candidates }: ProjectRead,
  python: string,
  missing: readonly string[],
  { maxTime, memory }: Pick<DiscoverOptions, 'maxTime' | 'memory'>,
  context: Context,
): string[] {
  const names = files.filter(({ functions }) => functions > 0).map(({ file }) => nearPath(context.cwd, file));
  const shown =
    names.slice(0, MOST_NAMED).join(', ') +
    (names.length > MOST_NAMED ? `, and ${names.length - MOST_NAMED} more` : '');
  const bounds = `in a process of its own: no network, writing to a temporary folder only, ${memory} GB, ${maxTime} s`;
  const but = missing.length === 0 ? '' : ` (this system: ${missing.join('; ')})`;
  return wrap(
    `lossproof ${VERSION} · discover runs the code of ${shown} (${plural(candidates.length, 'function')}) with ${nearPath(context.cwd, python)}, ${bounds}${but}`,
    widthOfScreen(context),
  );
}

const MOST_NAMED = 6;

export function sayFound(found: Found, context: Context): void {
  const paint = choosePaint(context.out.isTty, context.env);
  const width = widthOfScreen(context);
  say(
    context,
    ...discoverLines(found, { width, paint, cwd: context.cwd }),
    '',
    ...wrap(summaryLine(found), width),
  );
}

export interface Written extends AdapterText {
  readonly file: string;
}

/** Never over a file that is there, unless told to. */
export function write(
  found: Found,
  file: string,
  paths: readonly string[],
  { force = false }: Pick<DiscoverOptions, 'force'>,
  context: Context,
  preferred?: Preferred,
): Written | Problem | undefined {
  const path = resolve(context.cwd, file);
  const adapter = adapterText(found, path, paths.map(quoted), preferred);
  if (adapter === undefined) return undefined;
  const why = writeNamed(path, adapter.text, force ? 'w' : 'wx');
  if (why !== undefined) return { problem: `${file} ${why}` };
  return { ...adapter, file };
}

function sayNext(
  found: Found,
  written: Written | undefined,
  { write: file, python }: DiscoverOptions,
  paths: readonly string[],
  context: Context,
): void {
  if (found.bound.length + found.misfits.length === 0) return;
  const words = paths.map(quoted).join(' ');
  if (written === undefined) {
    if (file === undefined)
      say(context, '', 'Next:', asTyped(`  npx lossproof discover ${words} --write adapter.py`));
    return;
  }
  const ran = python ?? findPython(undefined, context);
  const runs = quoted(typeof ran === 'string' ? ran : ANY_PYTHON);
  say(
    context,
    '',
    `wrote ${written.file}: ${plural(written.ops.length, 'op')}${written.failing.length === 0 ? '' : `, of which ${written.failing.join(', ')} will fail`}`,
    '',
    'Next:',
    asTyped(`  npx lossproof check -- ${runs} ${quoted(written.file)}`),
  );
}
