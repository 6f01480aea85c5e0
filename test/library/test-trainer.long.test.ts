// `testTrainer()` as vitest shows it: a suite per stage, one skipped test for what a stage does not support.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { STARTER } from '../../src/cli/start/starter.ts';
import { PYTHON_FOLDER } from '../../src/version.ts';

interface Shown {
  readonly title: string;
  readonly status: string;
  readonly ancestorTitles: readonly string[];
  readonly failureMessages?: readonly string[];
}

/** Every test that `testTrainer(OPTIONS)` declares in a folder with these files. */
async function shown(options: string, files: Readonly<Record<string, string>>): Promise<readonly Shown[]> {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof ü '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const source = `import { testTrainer } from ${JSON.stringify(resolve('properties/vitest.ts'))};\ntestTrainer(${options});\n`;
  for (const [name, text] of Object.entries({ 'a.test.ts': source, ...files }))
    writeFileSync(join(folder, name), text);
  const { stdout, stderr } = await execa(
    process.execPath,
    [resolve('node_modules/vitest/vitest.mjs'), 'run', '--root', folder, '--reporter', 'json'],
    {
      reject: false,
      cwd: folder,
      env: { PYTHONPATH: PYTHON_FOLDER, LOSSPROOF_TRAINER: '', LOSSPROOF_SEED: '7' },
    },
  );
  try {
    const { testResults } = JSON.parse(stdout) as { testResults: readonly { assertionResults: Shown[] }[] };
    return testResults.flatMap(({ assertionResults }) => assertionResults);
  } catch {
    throw new Error(`vitest said:\n${stdout}\n${stderr}`);
  }
}

const CONFIG = '{"trainer": "python3 adapter.py", "corpus": false}';

test('tests are nested by stage, and what a stage does not support is one skipped test', async () => {
  const tests = await shown('{ cases: 3 }', {
    'adapter.py': STARTER['adapter.py'],
    'lossproof.config.json': CONFIG,
  });
  const stageOf = ({ ancestorTitles }: Shown): string => ancestorTitles.at(-1) ?? '';
  expect(tests.every(({ ancestorTitles: [suite] }) => suite === 'lossproof, seed 7')).toBe(true);
  const passed = tests.filter(({ status }) => status === 'passed');
  expect(passed.some(({ title }) => title.startsWith('mask/prompt-is-never-trained: '))).toBe(true);
  expect(tests.filter(({ status }) => status === 'failed')).toEqual([]);
  const folded = tests.filter(({ title }) => /^[\w]+: \d+ propert\w+ (is|are) not supported$/.test(title));
  expect(new Set(folded.map(stageOf)).size).toBe(folded.length);
  expect(folded.map(stageOf)).toContain('loss');
  expect(tests.filter((each) => stageOf(each) === 'loss')).toHaveLength(1);
});

test('in a folder that names no trainer the suite fails and says so', async () => {
  const tests = await shown('', {});
  expect(tests.map(({ status }) => status)).toEqual(['failed']);
  expect(tests[0]?.failureMessages?.[0]).toContain('no trainer is named');
});

test('only, level and known are options', async () => {
  const options =
    "{ cases: 3, only: ['mask/prompt-is-never-trained', 'kl'], level: 'must', known: { 'mask/nobody': { reason: 'x' } } }";
  const tests = await shown(options, {
    'adapter.py': STARTER['adapter.py'],
    'lossproof.config.json': CONFIG,
  });
  expect(new Set(tests.map(({ ancestorTitles }) => ancestorTitles.at(-1)))).toEqual(
    new Set(['lossproof, seed 7', 'mask', 'kl']),
  );
  const failed = tests.filter(({ status }) => status === 'failed');
  expect(failed.map(({ title }) => title)).toEqual(['every known failure is of a property that there is']);
});
