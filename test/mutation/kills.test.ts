// Mutation testing in short: every mutant is asked the very case that kills it, and every property kills a mutant here.
// `mutants.long.test.ts` finds such cases anew, and `npm run test:mutation` at many seeds.
import { afterAll, expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { listMutants, withMutant } from '../mutants/list.ts';
import { startResident } from '../resident.ts';
import { HOW_TO_RENEW, readKills, replayKill } from './kills.ts';

const kills = readKills();
const mutants = listMutants();
const resident = startResident();
afterAll(() => resident.stop());

test.each(mutants)('$id is killed by its case', async (mutant) => {
  const cases = kills[mutant.id] ?? [];
  expect(cases.length, `${mutant.id} is not in the table of kills. ${HOW_TO_RENEW}`).toBeGreaterThan(0);
  await withMutant(
    mutant,
    async (trainer, world) => {
      for (const [at, kill] of cases.entries()) {
        // What one property asked must not be what another sees.
        if (at > 0) await trainer.restart();
        const { kind } = await replayKill(kill, trainer, world);
        const drawn = `${kill.property}, seed ${kill.seed}, case ${kill.index}`;
        expect(kind, `${mutant.id} (${mutant.title}) survives ${drawn}. ${HOW_TO_RENEW}`).toBe('fails');
      }
    },
    resident,
  );
});

test('the table has no mutant that there is not', () => {
  const known = new Set(mutants.map(({ id }) => id));
  expect(
    Object.keys(kills).filter((id) => !known.has(id)),
    HOW_TO_RENEW,
  ).toEqual([]);
});

test('every property kills a mutant in the table', () => {
  const killing = new Set(Object.values(kills).flatMap((all) => all.map(({ property }) => property)));
  const idle = properties.map(({ id }) => id).filter((id) => !killing.has(id));
  expect(idle, `these kill nothing. ${HOW_TO_RENEW}`).toEqual([]);
});
