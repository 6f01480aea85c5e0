// Mutant by property: every mutant against every property of the ops that it has wrong, over many
// seeds, as data. Screens only: the first failure of a property ends it, and one failure a mutant is made small.
import fc from 'fast-check';
import { properties } from '../../properties/index.ts';
import { drawSeed } from '../../src/check/cases.ts';
import { shrink } from '../../src/check/shrink/shrink.ts';
import { type CaseOutcome, runCase } from '../../src/check/subject.ts';
import { supportOf } from '../../src/check/support.ts';
import type { Property, Trainer, World } from '../../src/index.ts';
import { sharedAnswers } from '../../src/trainer/shared-answers.ts';
import { withMutant } from '../mutants/list.ts';
import type { Mutant } from '../mutants/mutant.ts';
import { type Size, sizeOf } from './size.ts';

export interface MatrixOptions {
  /** The first is run with all properties, the others with those that killed then. */
  readonly seeds: readonly number[];
  readonly cases: number;
  /** 0: the failure is left as it was drawn. */
  readonly shrinkMilliseconds: number;
}

export interface MatrixRow {
  readonly mutant: Mutant;
  /** The properties that killed it at the first seed, those that needed the fewest cases first. */
  readonly by: ReadonlyMap<string, number>;
  /** Properties that killed it at a later seed only. */
  readonly later: readonly string[];
  /** A seed each: the fewest cases to a kill; undefined where it survived. */
  readonly perSeed: readonly (number | undefined)[];
  /** Properties that could be asked at all. */
  readonly asked: number;
  readonly size?: Size;
  /** What went wrong otherwise, as `property: message`. */
  readonly errors: readonly string[];
}

export const propertyIds: readonly string[] = properties.map(({ id }) => id);

export async function matrixRow(mutant: Mutant, options: MatrixOptions): Promise<MatrixRow> {
  return withMutant(mutant, async (own, world) => {
    // As in a run: properties that judge the same cases share the answers.
    const trainer = sharedAnswers().of(own);
    const bench = new Map(
      properties
        .filter(({ ops }) => ops.some((op) => mutant.ops.includes(op)))
        .filter((property) => supportOf(property, world) === undefined)
        .map((property): [string, Asked] => [
          property.id,
          { property, arbitrary: property.given(world), trainer, world },
        ]),
    );
    const [first = 1, ...others] = options.seeds;
    const errors: string[] = [];
    const killed: [Asked, Kill][] = [];
    for (const asked of bench.values()) {
      const kill = await killOf(asked, first, options.cases, errors);
      if (kill !== undefined) killed.push([asked, kill]);
    }
    killed.sort(([, a], [, b]) => a.cases - b.cases);
    const [easiest] = killed;
    const size = easiest && options.shrinkMilliseconds > 0 ? await shrunk(...easiest, options) : undefined;

    const killers = killed.map(([asked]) => asked);
    const rest = [...bench.values()].filter((asked) => !killers.includes(asked));
    const later = new Set<string>();
    const perSeed: (number | undefined)[] = [easiest?.[1].cases];
    for (const seed of others) {
      let fewest = await fewestOf(killers, seed, options.cases, errors);
      if (fewest === undefined) {
        fewest = await fewestOf(rest, seed, options.cases, errors);
        if (fewest !== undefined) later.add(fewest.id);
      }
      perSeed.push(fewest?.cases);
    }
    return {
      mutant,
      by: new Map(killed.map(([{ property }, { cases }]) => [property.id, cases])),
      later: [...later],
      perSeed,
      asked: bench.size,
      ...(size === undefined ? {} : { size }),
      errors,
    };
  });
}

/** A property as it asks one mutant. Its generator is built once for all seeds. */
interface Asked {
  readonly property: Property;
  readonly arbitrary: fc.Arbitrary<unknown>;
  readonly trainer: Trainer;
  readonly world: World;
}

interface Kill {
  readonly cases: number;
  readonly seed: number;
  readonly given: unknown;
  readonly outcome: CaseOutcome;
}

/** Cases in flight together: most kills need a few, so chunks begin small. */
const FIRST_CHUNK = 4;
const GROWTH = 4;

/** The first failing case of a property, among `limit`. What is neither held nor failed is an error. */
async function killOf(asked: Asked, seed: number, most: number, errors: string[]): Promise<Kill | undefined> {
  const { property, arbitrary, trainer, world } = asked;
  const limit = Math.min(most, property.mostCases ?? most);
  // The very cases that a run of this seed draws.
  const own = drawSeed(seed, property);
  for (let from = 0, size = FIRST_CHUNK; from < limit; from += size, size *= GROWTH) {
    const numRuns = Math.min(size, limit - from);
    const cases = fc.sample(arbitrary, {
      seed: own,
      numRuns,
      ...(from === 0 ? {} : { path: String(from) }),
    });
    const outcomes = await Promise.all(
      cases.map((given) => runCase(property, trainer, world, given).catch(String)),
    );
    for (const [at, outcome] of outcomes.entries()) {
      if (typeof outcome === 'string' || outcome.kind === 'error') {
        const what = typeof outcome === 'string' ? outcome : outcome.failure.message;
        errors.push(`seed ${seed}, ${property.id}: ${what}`);
        return undefined;
      }
      if (outcome.kind === 'fails') return { cases: from + at + 1, seed: own, given: cases[at], outcome };
    }
  }
  return undefined;
}

/** Of several properties the one that needs the fewest cases; each is given one case less than the best so far. */
async function fewestOf(
  all: readonly Asked[],
  seed: number,
  cases: number,
  errors: string[],
): Promise<{ readonly id: string; readonly cases: number } | undefined> {
  let best: { readonly id: string; readonly cases: number } | undefined;
  for (const asked of all) {
    const limit = best === undefined ? cases : best.cases - 1;
    const kill = await killOf(asked, seed, limit, errors);
    if (kill !== undefined) best = { id: asked.property.id, cases: kill.cases };
  }
  return best;
}

async function shrunk(asked: Asked, kill: Kill, options: MatrixOptions): Promise<Size> {
  const { given } = await shrink({
    ...asked,
    seed: kill.seed,
    index: kill.cases - 1,
    given: kill.given,
    outcome: kill.outcome,
    milliseconds: options.shrinkMilliseconds,
  });
  return sizeOf(given);
}
