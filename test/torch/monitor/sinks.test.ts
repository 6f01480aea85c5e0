// `report_to` with the trackers' own libraries, offline: what each has of a training that goes wrong, read back by that library.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT, PYTHON_FOLDER } from '../../../src/version.ts';

const PYTHON = process.env.LOSSPROOF_PYTHON ?? join(PACKAGE_ROOT, '.venv', 'bin', 'python');
const MAIN = join(process.env.LOSSPROOF_DIST ?? join(PACKAGE_ROOT, 'dist'), 'src', 'cli', 'main.js');

async function reported(mode: string): Promise<{ readonly out: string; readonly err: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof reported '));
  const script = join(PACKAGE_ROOT, 'test', 'torch', 'monitor', 'scripts', 'reported.py');
  const { stdout, stderr } = await execa(PYTHON, [script, mode, folder], {
    env: {
      PYTHONPATH: [PYTHON_FOLDER, join(PACKAGE_ROOT, 'test', 'torch', 'trace', 'scripts')].join(':'),
      PYTHONDONTWRITEBYTECODE: '1',
      OMP_NUM_THREADS: '1',
      LOSSPROOF: `'${process.execPath}' '${MAIN}'`,
    },
  });
  return { out: stdout, err: stderr };
}

const RULE = 'lossproof monitor/finite-training';
const SENTENCE = expect.stringMatching(/^loss at step \d+ is NaN\.\nWhat to do: Stop the run/);
const COUNTS = expect.stringMatching(/^\d+ rules: \d+ hold, 1 fails/);

test.each([
  ['a loop of its own', 'loop'],
  ['a trainer of TRL whose callbacks begin and end the runs', 'trainer'],
])('%s: wandb, mlflow and trackio have the finding and the verdict', async (_, mode) => {
  const { out } = await reported(mode);
  const told = JSON.parse(out.split('\n').findLast((line) => line.startsWith('{"wandb"')) ?? '') as Record<
    string,
    unknown
  >;
  expect(told.wandb).toEqual({
    alerts: [[RULE, SENTENCE, 'ERROR']],
    summary: {
      'lossproof/verdict': 'failed',
      'lossproof/failed': 'monitor/finite-training',
      'lossproof/sentence': COUNTS,
    },
  });
  expect(told.mlflow).toEqual({
    'lossproof.verdict': 'failed',
    'lossproof.failed': 'monitor/finite-training',
    'lossproof.sentence': COUNTS,
    [RULE]: SENTENCE,
  });
  expect(told.trackio).toEqual(
    expect.arrayContaining([
      [RULE, SENTENCE, 'error'],
      ['lossproof: failed', COUNTS, 'error'],
    ]),
  );
});

test('a tracker without a run is named once, and ends no training', async () => {
  const { err } = await reported('without');
  for (const name of ['wandb', 'mlflow', 'trackio'])
    expect(err.split(`nothing is reported to ${name}: it has no run in this process`)).toHaveLength(2);
});
