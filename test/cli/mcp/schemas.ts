// The schemas of docs/ that a program's documents are held to, by the name of the file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/version.ts';

type Name = 'findings' | 'view' | 'explain';

const read = (name: Name): object =>
  JSON.parse(readFileSync(join(PACKAGE_ROOT, 'docs', `${name}.schema.json`), 'utf8')) as object;
const VALID = {
  findings: new Ajv2020().compile(read('findings')),
  view: new Ajv2020().compile(read('view')),
  explain: new Ajv2020().compile(read('explain')),
};

export function expectValid(name: Name, document: unknown): void {
  expect(VALID[name](document), JSON.stringify(VALID[name].errors)).toBe(true);
}
