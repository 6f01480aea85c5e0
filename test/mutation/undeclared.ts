// What is a pass worth where nobody declares anything: every mutant of an op that computes numbers, its semantics taken
// away, measured and put through all that is no mere advice. Says of each bug of the catalogue that is a formula or a scale
// whether it is found, and by what; with --write into docs/undeclared.md. Exit code 1 below LEAST_FOUND.
//   node dist/test/mutation/undeclared.js [--seed 1] [--cases 100] [--only ID|ROW,...] [--write]
import '../../src/cli/heap.ts';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import pMap from 'p-map';
import { properties } from '../../properties/index.ts';
import { bugs } from '../../src/bugs/index.ts';
import type { Doubt } from '../../src/check/profile/doubt.ts';
import { NOT_MEASURED } from '../../src/check/profile/measured.ts';
import { measureUndeclared } from '../../src/check/profile/undeclared.ts';
import { run } from '../../src/check/run.ts';
import { FAILING, FORMULAS, type Op, type PropertyResult, type Trainer } from '../../src/index.ts';
import { EXAMPLES } from '../conformance/correct.ts';
import { withMutant, writtenMutants } from '../mutants/list.ts';
import type { Mutant } from '../mutants/mutant.ts';

/** Share of the bugs, each of whose mutants is found. */
const LEAST_FOUND = 0.97;
/** Ops whose answers are formulas or scales: numbers out of numbers. */
const NUMBERS: readonly Op[] = [
  ...FORMULAS,
  'full_kl',
  'entropy',
  'token_rewards',
  'gae',
  'returns',
  'clip_advantages',
  'train_step',
  'preference_step',
];

/** How it is found, most telling first: a `must` property fails or asks, one of `should` fails, or the run notes it. */
const WAYS = ['fails', 'asks', 'fails at level should', 'is noted'] as const;
const FAILS: readonly PropertyResult['verdict'][] = ['fail', 'error', 'thin'];

interface Found {
  readonly mutant: Mutant;
  readonly way: (typeof WAYS)[number] | undefined;
  /** The property, or the item that is noted. */
  readonly by: string;
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    cases: { type: 'string', default: '100' },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
// A wrapper breaks a relation, which asks for no declaration.
const chosen = writtenMutants().filter(
  ({ id, rows, ops }) =>
    ops.some((op) => NUMBERS.includes(op)) &&
    (values.only === undefined || values.only.split(',').some((only) => id === only || rows.includes(only))),
);
const begin = performance.now();
/** What is noted of the correct trainers that mutants are made of is not to their credit. */
const noted = new Map<string, ReadonlySet<string>>();
const found = await pMap(chosen, foundOf, { concurrency: 2 });
const rows = bugs.flatMap(({ id, what }) => {
  const own = found.filter(({ mutant }) => mutant.rows.includes(id));
  return own.length === 0 ? [] : [{ id, what, own, missed: own.filter(({ way }) => way === undefined) }];
});
const whole = rows.filter(({ missed }) => missed.length === 0).length;
const ways = WAYS.map((way) => `${found.filter((each) => each.way === way).length} ${way}`).join(', ');
const missed = found.filter(({ way }) => way === undefined).length;
const summary = `${whole} of ${rows.length} bugs (${Math.floor((100 * whole) / rows.length)} %); of ${found.length} mutants ${ways}, ${missed} not found`;
console.log(`found with nothing declared: ${summary}, ${Math.round((performance.now() - begin) / 1000)} s`);
if (values.write) writeFileSync('docs/undeclared.md', page());
if (values.only === undefined && whole / rows.length < LEAST_FOUND) process.exitCode = 1;

async function foundOf(mutant: Mutant): Promise<Found> {
  const { results, notes } = await judged(mutant);
  const failing = results.filter(({ verdict }) => FAILING.includes(verdict));
  const first = (level: string, verdicts: readonly string[]): string | undefined =>
    failing.find((result) => result.level === level && verdicts.includes(result.verdict))?.id;
  const usual = await notedOf(mutant.base);
  const by = [
    first('must', FAILS),
    first('must', ['ask']) ?? first('should', ['ask']),
    first('should', FAILS),
    notes.find(({ sentence }) => !usual.has(sentence))?.item,
  ];
  const at = by.findIndex((each) => each !== undefined);
  const way = WAYS[at];
  console.log(`${mutant.id.padEnd(44)} ${way === undefined ? 'MISSED' : `${way}: ${by[at]}`}`);
  return { mutant, way, by: by[at] ?? '' };
}

/** What is noted of a correct trainer, as sentences. */
async function notedOf(base: string): Promise<ReadonlySet<string>> {
  if (!noted.has(base)) {
    const correct = EXAMPLES.find(({ name }) => name === base.replaceAll('-', '_'));
    const opened = await correct?.open();
    const { doubts } =
      opened === undefined
        ? NOT_MEASURED
        : await measureUndeclared({ ...opened, trainer: silent(opened.trainer) });
    await opened?.trainer.stop();
    noted.set(base, new Set(doubts.map(({ sentence }) => sentence)));
  }
  return noted.get(base) ?? new Set();
}

/** The trainer, declaring nothing of what may legally differ. */
function silent(trainer: Trainer): Trainer {
  const { semantics: _, ...hello } = trainer.hello;
  return { ...trainer, hello };
}

async function judged(
  mutant: Mutant,
): Promise<{ results: readonly PropertyResult[]; notes: readonly Doubt[] }> {
  return withMutant(mutant, async (declaring, { tokenizer }) => {
    const trainer = silent(declaring);
    const measured = await measureUndeclared({ trainer, tokenizer });
    const own = (['must', 'should'] as const).flatMap((each) =>
      properties.filter(({ level, ops }) => level === each && ops.some((op) => mutant.ops.includes(op))),
    );
    // Nothing tells more, and the rest takes longer than what came before it.
    const stop = { aborted: false };
    const results = await run(
      {
        trainer,
        tokenizer,
        measured,
        properties: own,
        seed: Number(values.seed),
        cases: Number(values.cases),
        command: mutant.id,
        shrinkMilliseconds: 0,
        signal: stop,
      },
      (event) => {
        if (event.type !== 'property-end' || event.result.level !== 'must') return;
        if (FAILS.includes(event.result.verdict)) stop.aborted = true;
      },
    );
    const settled = new Set(own.flatMap(({ settles = [] }) => settles));
    const notes = measured.doubts.filter(({ item, weight }) => weight === 'note' && settled.has(item));
    return { results, notes };
  });
}

function page(): string {
  const lines = rows.map(({ id, what, own, missed: lost }) => {
    const best = [...own].sort(
      (a, b) => WAYS.indexOf(a.way ?? 'is noted') - WAYS.indexOf(b.way ?? 'is noted'),
    );
    const [first] = best;
    const titles = lost.map(({ mutant }) => mutant.title).join('; ');
    const how = lost.length === 0 ? `${first?.way}: \`${first?.by}\`` : `**not found**: ${titles}`;
    return `| ${id} | ${what.replaceAll('|', '\\|')} | ${own.length} | ${how} |`;
  });
  return `# What is found with nothing declared

Written by \`node dist/test/mutation/undeclared.js --write\`: the mutants of each bug of the [catalogue](bugs.md) that is a formula
or a scale, their semantics taken away, measured as \`check\` measures them and put through the properties of levels must and
should (${values.cases} cases, seed ${values.seed}). A mutant that is *noted* is a legal trainer under another declaration: the run says so and
exits 0, or 1 with \`--strict\`. A bug counts as found where each of its mutants is.

Found: ${summary}.

| bug | what | mutants | found |
| --- | --- | --- | --- |
${lines.join('\n')}
`;
}
