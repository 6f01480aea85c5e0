// One family, one name, on every floor: a file stands in the folder of the family whose ops it is about, and the table that
// ARCHITECTURE.md opens with says what is where.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { ledgerProperties } from '../../properties/ledger/index.ts';
import { FAMILY_FLOORS, withHouseTable } from '../../scripts/docs/house-table.ts';
import { bugs } from '../../src/bugs/index.ts';
import { goldenCases } from '../../src/golden/cases/index.ts';
import type { Op } from '../../src/index.ts';
import { FAMILIES, type Family, familyNames } from '../../src/protocol/ops.ts';
import { LEGAL } from '../conformance/correct.ts';
import { listMutants } from '../mutants/list.ts';
import { filesOf, ROOT } from './house.ts';

const familyOf = new Map(
  familyNames.flatMap((family) => Object.keys(FAMILIES[family]).map((op): [string, Family] => [op, family])),
);
const familiesOf = (ops: readonly Op[]): Set<Family | undefined> =>
  new Set(ops.map((op) => familyOf.get(op)));

/** The family folder, or the file that stands for one, that a path below a floor is in. */
function standsIn(floor: string, path: string): Family | undefined {
  const [name = ''] = path.slice(floor.length + 1).split('/');
  return familyNames.find((family) => name === family || name === `${family}.ts`);
}

/** What modules of a floor export, arrays opened, as far as `is` knows it. */
async function exported<T>(path: string, is: (value: unknown) => value is T): Promise<T[]> {
  const module: Record<string, unknown> = await import(join(ROOT, path));
  return Object.values(module).flat().filter(is);
}
const hasOps = (value: unknown): value is { id: string; ops: readonly Op[] } =>
  typeof value === 'object' && value !== null && 'id' in value && 'ops' in value;

const below = (floor: string): string[] =>
  filesOf([floor]).filter((path) => standsIn(floor, path) !== undefined && !path.endsWith('.test.ts'));

test('every op is of one family', () => {
  const all = familyNames.flatMap((family) => Object.keys(FAMILIES[family]));
  expect(all.length).toBe(familyOf.size);
});

test('the table that ARCHITECTURE.md opens with is what the folders hold', () => {
  const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  expect(withHouseTable(page), 'renew it with `npm run docs`').toBe(page);
});

/** Folders of a floor that are of no family, each with what it is. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  properties: ['ledger', 'monitor'], // of traced scripts and of logs: no ops are asked
  'src/golden/cases': ['inputs'], // what cases of several families are made of
  'test/conformance': ['conventions'], // Python trainers that choose otherwise in every family at once
};

test.each(FAMILY_FLOORS)('%s is divided by family', (floor) => {
  const below = filesOf([floor], ['']).map((path) => path.slice(floor.length + 1).split('/'));
  const folders = new Set(below.flatMap(([name = '', ...rest]) => (rest.length > 0 ? [name] : [])));
  const known: readonly string[] = [...familyNames, ...(BESIDE[floor] ?? [])];
  expect([...folders].filter((name) => !known.includes(name))).toEqual([]);
});

describe('a file named after an op', () => {
  const named = FAMILY_FLOORS.flatMap((floor) =>
    filesOf([floor], ['.ts', '.py']).flatMap((path) => {
      const stem = (path.split('/').at(-1) ?? '').replace(/(\.test)?\.\w+$/, '').replaceAll('-', '_');
      const [own, stands] = [familyOf.get(stem), standsIn(floor, path)];
      return own === undefined || stands === undefined ? [] : [{ path, own, stands }];
    }),
  );
  test('stands in the family of that op', () => {
    expect(
      named.filter(({ own, stands }) => own !== stands).map(({ path, own }) => `${path}: ${own}`),
    ).toEqual([]);
    expect(named.length).toBeGreaterThan(familyOf.size);
  });
});

test('a property stands in the family of an op that it asks', async () => {
  const seen = new Set<string>();
  for (const path of below('properties')) {
    const own = await exported(path, hasOps);
    for (const { id } of own) seen.add(id);
    const stands = standsIn('properties', path);
    const reached = own.flatMap(({ ops }) => [...familiesOf(ops)]);
    if (own.length > 0) expect(reached, path).toContain(stands);
  }
  expect(properties.map(({ id }) => id).filter((id) => !seen.has(id))).toEqual([]);
});

test('a probe stands in the family of an op that it asks', async () => {
  const floor = 'src/check/profile';
  let probes = 0;
  for (const path of below(floor)) {
    for (const { id, ops } of await exported(path, hasOps)) {
      probes++;
      expect([...familiesOf(ops)], `${path}: ${id}`).toContain(standsIn(floor, path));
    }
  }
  expect(probes).toBeGreaterThan(familyNames.length);
});

test('a golden case stands in the family of its op', async () => {
  const floor = 'src/golden/cases';
  const isCase = (value: unknown): value is { id: string; op: Op } =>
    typeof value === 'object' && value !== null && 'op' in value && 'given' in value;
  const seen = new Set<string>();
  for (const path of below(floor)) {
    for (const { id, op } of await exported(path, isCase)) {
      seen.add(id);
      expect(familyOf.get(op), `${path}: ${id}`).toBe(standsIn(floor, path));
    }
  }
  expect(goldenCases.map(({ id }) => id).filter((id) => !seen.has(id))).toEqual([]);
});

test('a bug stands in the family of a property that catches it', async () => {
  const floor = 'src/bugs';
  const isBug = (value: unknown): value is { id: string; todo: string; unshown?: string } =>
    typeof value === 'object' && value !== null && 'todo' in value;
  const seen = new Set<string>();
  // Of the loop around a trainer: no op is asked about it, and properties of ledgers alone catch it.
  for (const path of [...below(floor), `${floor}/steps.ts`]) {
    for (const { id, unshown } of await exported(path, isBug)) {
      seen.add(id);
      const catching = properties.filter(({ catches = [] }) => catches.includes(id));
      if (catching.length === 0) expect(unshown, `${id} is caught by nothing`).toBeDefined();
      else
        expect(
          catching.flatMap(({ ops }) => [...familiesOf(ops)]),
          `${path}: ${id}`,
        ).toContain(standsIn(floor, path));
    }
  }
  // Of the loop around a trainer, and of its processes: no op shows them, and rules of traced scripts catch them.
  const traced = new Set(ledgerProperties.flatMap(({ catches }) => catches));
  expect(bugs.map(({ id }) => id).filter((id) => !seen.has(id) && !traced.has(id))).toEqual([]);
});

test('a mutant stands in the family of an op that it has wrong', () => {
  const mutants = listMutants().filter(({ family }) => family !== undefined);
  const misplaced = mutants.filter(({ family, ops }) => ![...familiesOf(ops)].some((own) => own === family));
  expect(misplaced.map(({ id, family }) => `${id} in ${family}`)).toEqual([]);
  expect(new Set(mutants.map(({ family }) => family))).toEqual(new Set(familyNames));
});

test('a correct object trainer stands in the family of an op that it has', () => {
  const misplaced = LEGAL.filter(({ family, ops }) => ![...familiesOf(ops)].some((own) => own === family));
  expect(misplaced.map(({ name, family }) => `${name} in ${family}`)).toEqual([]);
});
