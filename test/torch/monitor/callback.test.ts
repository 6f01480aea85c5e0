// `lossproof.callback.Monitor` in real trainers of TRL: a healthy run has every number that it has without, and one that
// diverges is ended.
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/version.ts';

const SCRIPTS = join(PACKAGE_ROOT, 'test', 'torch', 'monitor', 'scripts');
const PYTHON = process.env.LOSSPROOF_PYTHON ?? join(PACKAGE_ROOT, '.venv', 'bin', 'python');
const DIST = process.env.LOSSPROOF_DIST ?? join(PACKAGE_ROOT, 'dist');
/** As in the script. */
const ONSET = 30;
/** Logged steps that a doomed run may still make. */
const SOON = 20;

interface Ran {
  readonly results: readonly Readonly<Record<string, unknown>>[];
  readonly err: string;
  readonly folder: string;
}

async function watched(mode: string, words: readonly string[] = []): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof watched '));
  const argv = [...words, join(SCRIPTS, 'watched.py'), mode, join(folder, 'out')];
  const { stdout, stderr } = await execa(PYTHON, argv, {
    cwd: folder,
    env: {
      PYTHONPATH: join(PACKAGE_ROOT, 'src', 'python'),
      PYTHONDONTWRITEBYTECODE: '1',
      OMP_NUM_THREADS: '1',
      LOSSPROOF: `'${process.execPath}' '${join(DIST, 'src', 'cli', 'main.js')}'`,
    },
  });
  const results = stdout.split('\n').filter((line) => line.startsWith('{'));
  return {
    results: results.map((line) => JSON.parse(line) as Record<string, unknown>),
    err: stderr,
    folder,
  };
}

test('a healthy run logs the same numbers to the last bit, and is told nothing', async () => {
  const { results, err } = await watched('healthy');
  for (const [name, runs] of Object.entries(results[0] ?? {})) {
    const [without, ...others] = runs as readonly (readonly Readonly<Record<string, string>>[])[];
    expect(without?.length, name).toBeGreaterThan(9);
    expect(Object.keys(without?.[0] ?? {})).toEqual(expect.arrayContaining(['loss', 'grad_norm']));
    for (const other of others) expect(other, name).toEqual(without);
  }
  expect(err).not.toMatch(/^lossproof: monitor\//m);
  expect(err.match(/^lossproof: \d+ rules: \d+ hold/gm)).toHaveLength(6);
});

test('a run that diverges is ended within twenty logged steps, and `report` has what was found', async () => {
  const { results, err, folder } = await watched('diverging');
  expect(results[0]?.steps, err).toBeGreaterThanOrEqual(ONSET);
  expect(results[0]?.steps, err).toBeLessThan(ONSET + SOON);
  expect(results[0]?.verdict).toMatchObject({ exitCode: 1 });
  expect(err).toMatch(
    /^lossproof: monitor\/\S+ \(must\): .*\n {2}What to do: .*\n {2}The training is asked to stop/m,
  );
  const kept = readFileSync(join(folder, '.lossproof', 'last-run.ndjson'), 'utf8');
  expect(kept).toContain('"verdict":"fail"');
});

test('a training that fails is followed by another, which is watched anew', async () => {
  const { results } = await watched('failing');
  expect(results[0]).toMatchObject({ first: { type: 'verdict' }, second: { type: 'verdict' }, same: false });
});

test('of two processes the first is watched, and both end at the same step', async () => {
  const { results, err } = await watched('processes', ['-m', 'torch.distributed.run', '--nproc-per-node=2']);
  const ranks = results.toSorted((a, b) => Number(a.rank) - Number(b.rank));
  expect(
    ranks.map(({ rank, watched: is }) => [rank, is]),
    err,
  ).toEqual([
    [0, true],
    [1, false],
  ]);
  expect(ranks[0]?.steps).toBeLessThan(ONSET + SOON);
  expect(ranks[1]?.steps).toBe(ranks[0]?.steps);
});
