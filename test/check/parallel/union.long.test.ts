// Eight parts of a run, merged, are the run; so is one that several trainers judge side by side: property by property, of
// twenty trainers that are wrong in twenty ways, each with a seed of its own.
import { isDeepStrictEqual } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { measureUndeclared } from '../../../src/check/profile/undeclared.ts';
import { type PropertyResult, type RunEvent, type RunOptions, run } from '../../../src/index.ts';
import { merged } from '../../../src/report/merge.ts';
import { runsOf } from '../../../src/report/runs.ts';
import { sameTrouble } from '../../../src/trainer/failure.ts';
import { listMutants, withMutant } from '../../mutants/list.ts';
import { startResident } from '../../resident.ts';

const SEEDS = 20;
const PARTS = 8;
const CASES = 5;
/** What a case shrinks to is the same in both as long as no clock ends it, however busy the machine is. */
const AMPLE_SHRINK_MILLISECONDS = 3_600_000;
const LIMIT = 600_000;

const resident = startResident();
afterAll(() => resident.stop());

const mutants = listMutants().filter(({ family }) => family !== 'models');
const chosen = Array.from({ length: SEEDS }, (_, at) => mutants[Math.floor((at * mutants.length) / SEEDS)]);

test.each(chosen.map((mutant, at) => [at + 1, mutant?.id ?? '', mutant] as const))(
  'seed %i, %s',
  async (seed, _, mutant) => {
    if (mutant === undefined) throw new Error('there are fewer mutants than seeds');
    await withMutant(
      mutant,
      async (trainer, { tokenizer }) => {
        const options: RunOptions = {
          trainer,
          tokenizer,
          properties: properties.filter(({ stage }) => stage !== 'model'),
          seed,
          cases: CASES,
          shrinkMilliseconds: AMPLE_SHRINK_MILLISECONDS,
          command: 'test',
          measured: await measureUndeclared({ trainer, tokenizer }),
        };
        const single = await runWith(options);
        const again = await runWith(options);
        const told = isDeepStrictEqual(again.results.map(plain), single.results.map(plain))
          ? plain
          : verdictOf;
        const parts = [];
        for (let index = 1; index <= PARTS; index++)
          parts.push(await runWith({ ...options, shard: { index, of: PARTS } }));
        const whole = merged(parts.map((part, at) => ({ run: part, name: `part ${at + 1}` })));
        if ('problems' in whole) throw new Error(whole.problems.join('\n'));
        expect(whole.run.start.properties).toEqual(single.start.properties);
        expect(whole.run.results.map(told)).toEqual(single.results.map(told));
        expect(whole.run.end?.refusals).toEqual(single.end?.refusals);

        const workers = { count: 3, start: async () => ({ trainer: await mutant.start(resident) }) };
        const beside = await runWith({ ...options, workers });
        expect(sorted(beside.results).map(told)).toEqual(sorted(single.results).map(told));
      },
      resident,
    );
  },
  LIMIT,
);

async function runWith(options: RunOptions) {
  const events: RunEvent[] = [];
  await run(options, (event) => events.push(JSON.parse(JSON.stringify(event))));
  const [only] = runsOf(events);
  if (only === undefined) throw new Error('no run');
  return only;
}

const sorted = (results: readonly PropertyResult[]): readonly PropertyResult[] =>
  results.toSorted((a, b) => a.id.localeCompare(b.id));

/** What a reader is told of it, less how long it took. What every op runs into is made small once a process, and what
 * stands beside the first is run again only where a process starts quickly. */
function plain({ milliseconds: _, failure, others, ...result }: PropertyResult): object {
  const told = [failure, ...(others ?? [])].flatMap((each, at): readonly unknown[] => {
    if (each === undefined) return [];
    const { stderrTail: __, confirmed, ...own } = each;
    if (own.trainerFailure !== undefined) return [sameTrouble(own.trainerFailure)];
    return [at === 0 ? { ...own, confirmed } : own];
  });
  return { ...result, told };
}

/** Of a trainer that keeps a state between calls: what it answers, and what that shrinks to, rests on what it was asked
 * before. */
const verdictOf = ({ id, verdict }: PropertyResult): object => ({ id, verdict });
