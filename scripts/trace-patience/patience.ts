// Twenty adversarial data sets through every script that is right: none may be blamed. `npm run trace:patience`; with nothing
// else on the machine some seconds a pair and job, so that all of it takes hours. It goes on where it was broken off.
//   npm run trace:patience -- --scripts sft --scripts dpo --sets "several turns" --jobs 1 --keep /tmp/blamed
import { parseArgs } from 'node:util';
import { writeMeasured } from '../docs/measured.ts';
import { ask, type Outcome, remember, WRONG } from './ask.ts';
import { buildNow, journalIn } from './journal.ts';
import { type Script, scriptsOf } from './scripts.ts';
import { SETS } from './sets.ts';
import { pageOf, tableOf } from './table.ts';

const { values } = parseArgs({
  options: {
    /** Parts of names; each may be given several times. */
    scripts: { type: 'string', multiple: true, default: [''] },
    sets: { type: 'string', multiple: true, default: [''] },
    jobs: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
    /** What is done already is remembered here. */
    state: { type: 'string', default: '.lossproof/patience' },
    /** Everything again, not only what was blamed or is new. */
    fresh: { type: 'boolean', default: false },
    keep: { type: 'string' },
    /** The counts into docs/measurements.md. */
    write: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});

const named = (parts: readonly string[], name: string): boolean =>
  parts.some((part) => name.toLowerCase().includes(part.toLowerCase()));

const { scripts: all, left } = scriptsOf();
const scripts = all.filter(({ name }) => named(values.scripts, name));
const sets = SETS.filter((name) => named(values.sets, name));
for (const each of left) console.log(`set aside: ${each}`);
if (values.list) {
  console.log(
    [...scripts.map(({ name }) => `script  ${name}`), ...sets.map((name) => `set     ${name}`)].join('\n'),
  );
} else {
  await main();
}

async function main(): Promise<void> {
  const seed = Number(values.seed);
  const build = buildNow();
  const journal = journalIn(values.state, values.fresh);
  // Set by set: a run that is broken off has then asked every script something.
  const pairs = sets.flatMap((set) => scripts.map((script) => ({ script, set })));
  const outcomes: Outcome[] = [];
  const queue: { readonly script: Script; readonly set: string }[] = [];
  for (const { script, set } of pairs) {
    const known = journal.find(script.name, set, seed);
    if (known !== undefined) remember(known);
    // What was blamed may be mended by now.
    if (known === undefined || ['blamed', 'broken', 'no-verdict'].includes(known.end))
      queue.push({ script, set });
    else outcomes.push(known);
  }
  const before = outcomes.length;
  console.log(
    `${scripts.length} scripts, ${sets.length} data sets: ${pairs.length} runs, ${before} of them done before`,
  );
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const outcome = await ask(next.script, next.set, { seed, build, keep: values.keep });
      journal.add(outcome);
      outcomes.push(outcome);
      console.log(lineOf(outcome, outcomes.length, pairs.length));
      for (const sentence of outcome.end === 'right' ? [] : outcome.says) console.log(`      ${sentence}`);
      if (WRONG.includes(outcome.end)) console.log(`      again: ${commandOf(outcome)}`);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Number(values.jobs)) }, work));
  console.log(`\n${tableOf(outcomes, build)}`);
  if (values.write) writeMeasured('measurements.md', 'trace patience', pageOf(outcomes));
  process.exitCode = outcomes.some(({ end }) => WRONG.includes(end)) ? 1 : 0;
}

function lineOf({ script, set, end, rows, seconds }: Outcome, done: number, of: number): string {
  const mark = end === 'right' ? '✓' : WRONG.includes(end) ? '✗' : '-';
  return `${mark} ${done}/${of}  ${script} · ${set}: ${end}, ${rows} rows, ${seconds.toFixed(0)} s`;
}

function commandOf({ script, set, seed }: Outcome): string {
  const [of, on] = [script, set].map((name) => JSON.stringify(name));
  return `npm run trace:patience -- --scripts ${of} --sets ${on} --seed ${seed} --keep /tmp/patience`;
}
