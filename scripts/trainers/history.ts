// The bugs that trainers had, commit by commit, each asked of a clone by its adapter; needs `npm run setup:trainers` and clones.
//   npm run trainers:history -- --clones FOLDER               the clones lie in FOLDER/NAME, as `git clone` makes them
//   npm run trainers:history -- --clones FOLDER --only priorzero --write
// A bug is seen where one of its properties is red. Exit code 1 where that is not so at the commits that have it, or is at
// another; --write puts the table into docs/trainers/README.md.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { execaSync } from 'execa';
import { readEvents } from '../../src/report/machine/ndjson.ts';
import { runsOf } from '../../src/report/runs.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { FAILING, type Verdict } from '../../src/vocabulary.ts';
import { measuredIn, writeMeasured } from '../docs/measured.ts';
import { grpoDual } from './history/grpo-dual.ts';
import type { Bug, History } from './history/history.ts';
import { priorzero } from './history/priorzero.ts';

const HISTORIES: readonly History[] = [priorzero, grpoDual];

const { values } = parseArgs({
  options: {
    clones: { type: 'string' },
    only: { type: 'string', default: '' },
    cases: { type: 'string', default: '40' },
    python: { type: 'string', default: join(PACKAGE_ROOT, '.venv', 'bin', 'python') },
    write: { type: 'boolean', default: false },
  },
});
if (values.clones === undefined) throw new Error('--clones FOLDER says where the clones lie');
const clones = resolve(values.clones);

const PAGE = join('trainers', 'README.md');
const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
/** What is known of a trainer is red all the same. */
const RED: ReadonlySet<Verdict> = new Set<Verdict>([...FAILING, 'known']);
const ASKED: ReadonlySet<Verdict> = new Set<Verdict>([...RED, 'pass']);

const lines = new Map(measuredIn(PAGE, 'history').map((line) => [keyOf(line), line]));
let differences = 0;
for (const history of HISTORIES.filter(({ adapter }) => adapter.includes(values.only)))
  for (const line of linesOf(history)) {
    console.log(line);
    lines.set(keyOf(line), line);
  }
if (values.write) writeMeasured(PAGE, 'history', [...lines.values()]);
process.exitCode = differences > 0 ? 1 : 0;

/** Adapter and bug. */
function keyOf(line: string): string {
  return line.split('|').slice(1, 3).join('|');
}

function linesOf(history: History): readonly string[] {
  const seen = new Map(history.bugs.map((bug) => [bug, [] as string[]]));
  for (const commit of history.commits) {
    const folder = mkdtempSync(join(tmpdir(), 'lossproof history '));
    try {
      checkOut(history, commit, folder);
      for (const bugs of bySettings(history.bugs)) {
        const variables = Object.entries(bugs[0]?.settings ?? {}).map((pair) => ` ${pair.join('=')}`);
        console.error(`${history.adapter} at ${commit}${variables.join('')}: ${bugs.length} bugs`);
        const verdicts = verdictsOf(history.adapter, folder, bugs);
        for (const bug of bugs) seen.get(bug)?.push(wordOf(bug, commit, verdicts));
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return history.bugs.map((bug) => {
    const at = history.commits.map((commit, index) => `${commit} ${seen.get(bug)?.[index]}`);
    const ids = bug.properties.map((id) => `\`${id}\``).join(', ');
    return `| ${[history.adapter, bug.what, at.join(', '), ids].join(' | ')} |`;
  });
}

/** The commit of a clone of its own, which shares what git keeps; of large repositories not all files. */
function checkOut({ repository, folders }: History, commit: string, folder: string): void {
  const clone = join(clones, repository.split('/').at(-1) ?? '');
  const git = (...words: string[]) => execaSync('git', words, { cwd: folder });
  git('clone', '--quiet', '--shared', '--no-checkout', clone, '.');
  git('update-ref', '--no-deref', 'HEAD', git('rev-parse', `${commit}^{commit}`).stdout);
  git('checkout', '--quiet', 'HEAD', '--', ...folders);
}

/** Those that one run can ask. */
function bySettings(bugs: readonly Bug[]): readonly (readonly Bug[])[] {
  const groups = new Map<string, Bug[]>();
  for (const bug of bugs) {
    const key = JSON.stringify(bug.settings ?? {});
    groups.set(key, [...(groups.get(key) ?? []), bug]);
  }
  return [...groups.values()];
}

function verdictsOf(adapter: string, clone: string, bugs: readonly Bug[]): ReadonlyMap<string, Verdict> {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof history '));
  try {
    const only = [...new Set(bugs.flatMap(({ properties }) => properties))].flatMap((id) => ['--only', id]);
    const words = ['--adapter', adapter, '--python', values.python, '--seed', '1', '--cases', values.cases];
    const { exitCode, all } = execaSync(
      process.execPath,
      [MAIN, 'check', ...words, ...only, '--level', 'may', '--events', 'events.ndjson', '--no-corpus'],
      {
        cwd: folder,
        env: { ...absolute(bugs[0]?.settings), LOSSPROOF_CHECKOUT: clone },
        reject: false,
        all: true,
      },
    );
    if (exitCode !== 0 && exitCode !== 1) throw new Error(`${adapter} at ${clone}: no verdict\n${all}`);
    const run = runsOf(readEvents(readFileSync(join(folder, 'events.ndjson'), 'utf8')).events).at(-1);
    return new Map(run?.results.map(({ id, verdict }) => [id, verdict]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Files of this project are named from its root. */
function absolute(settings: Bug['settings'] = {}): Record<string, string> {
  const whole = (value: string): string => (value.includes('/') ? join(PACKAGE_ROOT, value) : value);
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, whole(value)]));
}

/** How many of its properties are red, or that nothing of it can be asked there. */
function wordOf(bug: Bug, commit: string, verdicts: ReadonlyMap<string, Verdict>): string {
  const all = bug.properties.map((id) => verdicts.get(id));
  const red = all.filter((verdict) => verdict !== undefined && RED.has(verdict)).length;
  const isAsked = all.some((verdict) => verdict !== undefined && ASKED.has(verdict));
  const word = red > 0 ? '**red**' : isAsked ? 'green' : 'not there';
  if (red > 0 === bug.in.includes(commit)) return word;
  differences++;
  return `${word} (expected ${red > 0 ? 'green' : 'red'}: ${all.join(', ')})`;
}
