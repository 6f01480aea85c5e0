// `npm run measure:discover`: what `discover` binds of real trainers against what a person bound by hand in them, and every planted
// bug of test/torch/discover/faulty, as tables in docs/discover.md. Needs `npm run setup:trainers`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { type Expected, type MeasuredSet, packagesOf, SETS } from './sets.ts';

interface Bound {
  readonly function: string;
  readonly op: string;
  readonly call: string;
  readonly variant: Readonly<Record<string, unknown>>;
}
interface Found {
  readonly bound: readonly Bound[];
  readonly misfits: readonly (Bound & { readonly file: string })[];
  readonly open: readonly Bound[];
  readonly unfit: readonly unknown[];
  readonly uncalled: readonly unknown[];
}

const PAGE = join(PACKAGE_ROOT, 'docs/discover.md');
const MAIN = join(PACKAGE_ROOT, 'dist/src/cli/main.js');
const FAULTY = 'test/torch/discover/faulty';

const rows: string[] = [];
const details: string[] = [];
for (const set of SETS) {
  const begun = performance.now();
  const found = await discovered(set);
  const seconds = Math.round((performance.now() - begun) / 1000);
  const { right, own, wrong } = judged(set, found);
  const all =
    found.bound.length +
    found.misfits.length +
    found.open.length +
    found.unfit.length +
    found.uncalled.length;
  rows.push(
    `| ${set.title} | ${all} | ${found.bound.length} | ${found.misfits.length} | ${found.open.length} | ${right.length} of ${set.expected.length}${own.length === 0 ? '' : `, and ${own.length} whose formula is none that is known left unbound`} | ${wrong.length} | ${seconds} |`,
  );
  for (const each of wrong)
    process.stdout.write(`not as expected in ${set.title}: ${JSON.stringify(each)}\n`);
  details.push(
    `**${set.title}.** ${set.expected.map((each) => `\`${each.name}\` ${stateOf(each, found)}`).join('; ')}.`,
  );
}
const faulty = await discovered({
  title: '',
  environment: '.venv',
  ours: true,
  paths: [FAULTY],
  expected: [],
});
const planted = readdirSync(join(PACKAGE_ROOT, FAULTY)).filter((name) => name.endsWith('.py')).length;
const table = [
  '| trainer | functions | bound | nearly | open | bound by hand: bound here with its variant | other than expected | seconds |',
  '| --- | --- | --- | --- | --- | --- | --- | --- |',
  ...rows,
  '',
  `Planted bugs: of ${planted} files with one bug each, ${faulty.bound.length} bound as right, ${faulty.misfits.length} shown as nearly, ${faulty.open.length} asked about.`,
  '',
  ...details.flatMap((each) => [each, '']),
];
const page = readFileSync(PAGE, 'utf8');
const [before, behind] = [page.split('<!-- measured -->')[0], page.split('<!-- end of measured -->')[1]];
writeFileSync(PAGE, `${before}<!-- measured -->\n${table.join('\n')}<!-- end of measured -->${behind}`);
process.stdout.write(`${table.join('\n')}\n`);

async function discovered({ environment, paths, ours }: MeasuredSet): Promise<Found> {
  const root = ours === true ? PACKAGE_ROOT : packagesOf(environment);
  const python = join(PACKAGE_ROOT, environment, 'bin', 'python');
  const { stdout } = await execa(
    process.execPath,
    [MAIN, 'discover', ...paths.map((path) => join(root, path)), '--python', python, '--json'],
    { reject: false, env: { NO_COLOR: '1' } },
  );
  return JSON.parse(stdout) as Found;
}

function judged({ expected }: MeasuredSet, found: Found) {
  const right = expected.filter((each) => each.own !== true && isRight(each, found));
  const own = expected.filter(
    (each) => each.own === true && !found.bound.some((b) => b.function === each.name),
  );
  // A function that a person bound to one op, bound here to another or with another variant.
  const wrong = found.bound.filter((bound) =>
    expected.some(
      (each) =>
        each.name === bound.function && (each.own === true || each.op !== bound.op || !isLike(each, bound)),
    ),
  );
  return { right, own, wrong };
}

function isRight(each: Expected, { bound }: Found): boolean {
  return bound.some((b) => b.function === each.name && b.op === each.op && isLike(each, b));
}

function isLike({ variant = {} }: Expected, bound: Bound): boolean {
  return Object.entries(variant).every(([key, value]) => {
    const measured = bound.variant[key];
    return typeof value === 'number' && typeof measured === 'number'
      ? Math.abs(measured - value) <= 1e-6 * Math.abs(value)
      : measured === value;
  });
}

function stateOf(each: Expected, found: Found): string {
  if (isRight(each, found)) return `${each.op}`;
  if (found.misfits.some((m) => m.function === each.name)) return 'nearly';
  if (found.open.some((o) => o.function === each.name)) return 'open';
  return found.bound.some((b) => b.function === each.name) ? 'with another variant' : 'not bound';
}
