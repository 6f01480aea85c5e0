// The reports of docs/trainers/findings hold: each reproduction prints what its report says was observed, in the newest version that is
// tested. Where a version has mended one, the report and its known failure can go.
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { beforeAll, expect, test } from 'vitest';
import { type Finding, findings } from '../../../scripts/docs/findings.ts';
import { python } from '../sources/run.ts';
import { pythonOf } from '../trl/versions.ts';

const SCRIPT = fileURLToPath(new URL('run.py', import.meta.url));
const SOURCES = fileURLToPath(new URL('../../../src/python', import.meta.url));
const all = findings();
const printed = new Map<string, string>();

/** Imports take seconds: one process an environment, all at once. */
beforeAll(async () => {
  const of = (...libraries: readonly string[]): Finding[] =>
    all.filter(({ library }) => libraries.includes(library));
  await Promise.all([
    run(pythonOf('newest'), of('trl')),
    run(python('llama-factory'), of('llamafactory')),
    run(python(), of('verl', 'openrlhf')),
  ]);
});

async function run(executable: string, reports: readonly Finding[]): Promise<void> {
  const files = reports.map(({ file }) => fileURLToPath(new URL(`../../../${file}`, import.meta.url)));
  const { stdout } = await execa(executable, [SCRIPT, ...files], {
    env: { PYTHONPATH: SOURCES, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const answers: Readonly<Record<string, string>> = JSON.parse(stdout);
  for (const [at, { name }] of reports.entries()) printed.set(name, answers[files[at] ?? ''] ?? '');
}

test.each(all.map((finding) => [finding.name, finding] as const))('%s', (name, { observed }) => {
  expect(observed).not.toBe('');
  expect(printed.get(name)).toBe(observed);
});
