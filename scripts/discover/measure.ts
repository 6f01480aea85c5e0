// `npm run measure:discover`: what `discover` binds of real trainers against what a person bound by hand in them, and every planted
// bug of test/torch/discover/faulty, as tables in docs/discover.md. Needs `npm run setup:trainers`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { type Found, judged, stateOf } from './judged.ts';
import { type MeasuredSet, packagesOf, SETS } from './sets.ts';

const PAGE = join(PACKAGE_ROOT, 'docs/discover.md');
const MAIN = join(PACKAGE_ROOT, 'dist/src/cli/main.js');
const FAULTY = 'test/torch/discover/faulty';

const rows: string[] = [];
const details: string[] = [];
for (const set of SETS) {
  const found = await discovered(set);
  const { right, flawed, own, wrong, unjudged } = judged(set, found);
  const all =
    found.bound.length +
    found.misfits.length +
    found.open.length +
    found.unfit.length +
    found.uncalled.length;
  const owned = set.expected.filter((each) => each.own === true).length;
  const known = set.expected.length - owned;
  rows.push(
    `| ${set.title} | ${all} | ${found.bound.length} | ${found.misfits.length} | ${found.open.length} | ${known === 0 ? '' : `${right.length} of ${known}`} | ${flawed.length === 0 ? '' : flawed.length} | ${owned === 0 ? '' : `${own.length} of ${owned}`} | ${wrong.length} |`,
  );
  for (const each of wrong) blame(`not as expected in ${set.title}`, each);
  for (const each of unjudged) blame(`bound in ${set.title}, and nobody said in sets.ts what it is`, each);
  details.push(
    `**${set.title}.** ${(set.expected.length > 0 ? set.expected : (set.read ?? [])).map((each) => `\`${each.name}\` ${stateOf(each, found)}`).join('; ') || 'Nothing of it can be imported'}.`,
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
  '| trainer | functions | bound | nearly | open | of those bound by hand: bound with their variant | of them with a finding | own formulas left unbound | bound wrongly |',
  '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
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

function blame(what: string, bound: Found['bound'][number]): void {
  process.exitCode = 1;
  process.stdout.write(`${what}: ${JSON.stringify(bound)}\n`);
}

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
