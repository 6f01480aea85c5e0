// The table of kills: of each mutant the cases that kill it, as seed and index of a property's own draw, the cheapest first;
// and one for every property that kills nothing more cheaply. With it, `npm test` proves every mutant and every property by
// a case each. `mutants.ts --write` makes it, and it is made again where generators or mutants have changed.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { properties } from '../../properties/index.ts';
import { drawSeed } from '../../src/check/cases.ts';
import { type CaseOutcome, runCase } from '../../src/check/subject.ts';
import type { Trainer, World } from '../../src/index.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { withMutant } from '../mutants/list.ts';
import type { Mutant } from '../mutants/mutant.ts';
import type { Resident } from '../resident.ts';

export interface Kill {
  readonly property: string;
  /** Of the run, not of the property: what `check --seed` takes. */
  readonly seed: number;
  /** Of the case within the draw, from 0. */
  readonly index: number;
  /** The cases from this one on are asked before it: of a mutant that does wrong by what it remembers. */
  readonly from?: number;
}

/** By the mutant's id. */
export type Kills = Readonly<Record<string, readonly Kill[]>>;

const FILE = join(PACKAGE_ROOT, 'test', 'mutation', 'kills.json');

export const HOW_TO_RENEW =
  'If generators, properties or mutants have changed, make the table of kills again: npm run build && node dist/test/mutation/mutants.js --write (with --only ID for one mutant).';

export function readKills(): Kills {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Kills;
}

/** One line a mutant, in the order of their ids, so that a change of one is a change of its line. */
export function writeKills(kills: Kills): void {
  const lines = Object.keys(kills)
    .toSorted()
    .map(
      (id) =>
        `  ${JSON.stringify(id)}: [${(kills[id] ?? []).map((kill) => JSON.stringify(kill)).join(', ')}]`,
    );
  writeFileSync(FILE, `{\n${lines.join(',\n')}\n}\n`);
}

/** Draws this very case and puts it to the trainer, which is to be fresh. */
export async function replayKill(kill: Kill, trainer: Trainer, world: World): Promise<CaseOutcome> {
  const property = properties.find(({ id }) => id === kill.property);
  if (property === undefined) throw new Error(`no property is called ${kill.property}. ${HOW_TO_RENEW}`);
  const seed = drawSeed(kill.seed, property);
  const { index, from = index } = kill;
  const cases = fc.sample(property.given(world), { seed, numRuns: index - from + 1, path: String(from) });
  let outcome: CaseOutcome = { kind: 'holds' };
  for (const given of cases) outcome = await runCase(property, trainer, world, given);
  return outcome;
}

/** A kill and what it takes. */
export interface Timed extends Kill {
  readonly milliseconds: number;
}

/** Of each mutant its cheapest kill; and for each property that neither these nor `others` show, the cheapest of its own. */
export function cheapest(all: ReadonlyMap<string, readonly Timed[]>, others: Kills = {}): Kills {
  const byCost = (a: Timed, b: Timed): number => a.milliseconds - b.milliseconds;
  const chosen = new Map([...all].map(([id, kills]) => [id, kills.toSorted(byCost).slice(0, 1)]));
  const shown = new Set(
    [...chosen.values(), ...Object.values(others)].flat().map(({ property }) => property),
  );
  const rest = [...all].flatMap(([id, kills]) => kills.map((kill) => ({ id, kill })));
  for (const { id, kill } of rest.toSorted((a, b) => byCost(a.kill, b.kill))) {
    if (shown.has(kill.property)) continue;
    shown.add(kill.property);
    chosen.get(id)?.push(kill);
  }
  const made = Object.fromEntries(
    [...chosen].map(([id, kills]) => [id, kills.map(({ milliseconds: _, ...kill }) => kill)]),
  );
  return { ...others, ...made };
}

/** What a mutant needs that is right until it has seen some cases; the matrix asks other properties before. */
const remembering = ({ property, seed, index }: Kill): Kill[] =>
  [0, 1, 2, 3].map((more) => ({ property, seed, index: index + more, from: 0 }));

/** These kills again, each by a fresh process of its mutant, with the time that it takes; those that do not kill so are left out. */
export async function timed(mutant: Mutant, kills: readonly Kill[], resident: Resident): Promise<Timed[]> {
  return withMutant(
    mutant,
    async (trainer, world) => {
      const all: Timed[] = [];
      for (const drawn of kills) {
        for (const kill of [drawn, ...remembering(drawn)]) {
          await trainer.restart();
          const begun = performance.now();
          const { kind } = await replayKill(kill, trainer, world);
          if (kind !== 'fails') continue;
          all.push({ ...kill, milliseconds: performance.now() - begun });
          break;
        }
      }
      return all;
    },
    resident,
  );
}
