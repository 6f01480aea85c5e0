// The families are whole, and what proves a property stands in the folder of its family.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OPS } from '../src/protocol/message.ts';
import { PACKAGE_ROOT } from '../src/version.ts';
import { LEGAL } from './conformance/correct.ts';
import { FAMILIES, familyNames, familyOf } from './families.ts';
import { listMutants } from './mutants/list.ts';

/** More files side by side are no longer taken in at a glance. */
const MOST_FILES = 20;
const PROOFS = ['test/mutants', 'test/mutation', 'test/conformance', 'src/python/lossproof/examples'];

/** The entries of these folders and of all folders below them. */
const entries = (folders: readonly string[]) =>
  folders.flatMap((folder) =>
    readdirSync(join(PACKAGE_ROOT, folder), { recursive: true, withFileTypes: true }),
  );

test('every op is of one family', () => {
  expect(Object.values(FAMILIES).flat().toSorted()).toEqual(Object.keys(OPS).toSorted());
});

test('a mutant stands in the folder of the family of one of its ops', () => {
  const misplaced = listMutants()
    .filter(({ family, ops }) => family !== undefined && !ops.some((op) => familyOf(op) === family))
    .map(({ id, family }) => `${id} in ${family}`);
  expect(misplaced).toEqual([]);
  expect(new Set(listMutants().flatMap(({ family }) => family ?? []))).toEqual(new Set(familyNames));
});

test('a correct object trainer stands in the folder of the family of one of its ops', () => {
  const misplaced = LEGAL.filter(({ family, ops }) => !ops.some((op) => familyOf(op) === family));
  expect(misplaced.map(({ name, family }) => `${name} in ${family}`)).toEqual([]);
});

test('no folder here has too many files side by side', () => {
  const counts = new Map<string, number>();
  for (const entry of entries(PROOFS))
    if (entry.isFile() && /\.(ts|py)$/.test(entry.name))
      counts.set(entry.parentPath, (counts.get(entry.parentPath) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > MOST_FILES)).toEqual([]);
});
