// `npm run measure:twin`: unmodified trainers under every change of `lossproof twin`, as a table in docs/twin.md. Needs
// `npm run setup:trainers`. With `-- --runs 200`: they and loops by hand, from other random weights again and again, until there
// are so many twin runs; none may be blamed. `--only PEFT` measures those that have this in their name, and keeps the other rows.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CHANGES } from '../../src/twin/changes.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { LOOPS, measured, SUBJECTS, versionOf } from './subjects.ts';

const PAGE = join(PACKAGE_ROOT, 'docs/twin.md');

/** What is reported as a size is no number of this table. */
const COLUMNS = CHANGES.filter(({ ofSize }) => ofSize !== true).map(({ name }) => name);

const { values } = parseArgs({
  options: {
    /** At least so many twin runs over other weights, in place of the table. */
    runs: { type: 'string' },
    /** A part of the names. */
    only: { type: 'string', default: '' },
  },
});
if (values.runs === undefined) await trainers();
else await patience(Number(values.runs));

// --- helpers ---

async function trainers(): Promise<void> {
  const rows: string[] = [];
  const differences: string[] = [];
  for (const subject of SUBJECTS) {
    if (!subject.name.includes(values.only)) {
      rows.push(kept(subject.name));
      continue;
    }
    const told = await measured(subject);
    const cell = (name: string): string => {
      const found = told.find(({ change }) => change === name);
      if (found === undefined || found.outcome === 'untold') return '–';
      if (found.outcome === 'agree')
        return found.times_rounding === 0 ? 'exact' : (found.times_rounding ?? 0).toFixed(2);
      differences.push(`- ${subject.name}, \`${name}\`: ${found.sentences?.[0] ?? found.differs}`);
      return `✗ ${found.differs}`;
    };
    const versions = await Promise.all(
      subject.of.map(async (name) => `${name} ${await versionOf(subject, name)}`),
    );
    rows.push(`| ${subject.name} | ${versions.join(', ')} | ${COLUMNS.map(cell).join(' | ')} |`);
    process.stderr.write(`${rows.at(-1)}\n`);
  }
  const table = [
    `| trainer | versions | ${COLUMNS.map((name) => `\`${name}\``).join(' | ')} |`,
    `| --- | --- |${' --- |'.repeat(COLUMNS.length)}`,
    ...rows,
    ...(differences.length === 0 ? [] : ['', ...differences]),
  ].join('\n');
  write('measured', table);
}

/** The row as the page has it, under the columns of now: a change that is new was not made to it. */
function kept(name: string): string {
  const [, rest = ''] = readFileSync(PAGE, 'utf8').split('<!-- measured -->');
  const [known = ''] = rest.split('<!-- end of measured -->');
  const cells = known.split('\n').flatMap((line) => (line.startsWith('|') ? [cellsOf(line)] : []));
  const [titles = []] = cells;
  const found = cells.find(([first]) => first === name) ?? [];
  const at = (title: string): string => found[titles.indexOf(title)] ?? '–';
  return `| ${[name, at('versions'), ...COLUMNS.map((column) => at(`\`${column}\``))].join(' | ')} |`;
}

function cellsOf(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** All changes of all correct scripts, from other weights each time: what rounding does is another draw each time. */
async function patience(least: number): Promise<void> {
  const subjects = [...SUBJECTS, ...LOOPS].filter(({ name }) => name.includes(values.only));
  const blamed: string[] = [];
  let runs = 0;
  let largest = 0;
  for (let seed = 1; runs < least; seed += 1)
    for (const subject of subjects) {
      for (const told of await measured(subject, seed)) {
        if (told.outcome === 'untold') continue;
        runs += 1;
        largest = Math.max(largest, told.times_rounding ?? 0);
        const line = `${subject.name}, seed ${seed}, ${told.change}: ${told.times_rounding?.toFixed(2) ?? told.differs}`;
        process.stderr.write(`${line}\n`);
        if (told.outcome === 'parts') blamed.push(line);
      }
      // Each time, so that a run that is broken off has said what it saw.
      const sentence = `${runs} twin runs of ${subjects.length} correct scripts, from up to ${seed} random weights each: ${blamed.length} blamed. The largest difference is ${largest.toFixed(2)} times the rounding.`;
      if (values.only === '') write('patience', [sentence, ...blamed.map((line) => `- ${line}`)].join('\n'));
      if (runs >= least) break;
    }
  process.exitCode = blamed.length > 0 ? 1 : 0;
}

/** Into the page, between the comments of this name. */
function write(name: string, text: string): void {
  const page = readFileSync(PAGE, 'utf8');
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const [before, after] = [page.split(begin)[0], page.split(end)[1]];
  if (before === undefined || after === undefined) throw new Error(`docs/twin.md has no place for "${name}"`);
  writeFileSync(PAGE, `${before}${begin}\n${text}\n${end}${after}`);
}
