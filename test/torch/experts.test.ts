// The function that balances experts in transformers, as its models call it: it holds, declared or not, and a mistake around it
// is found and named.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { type Checked, checked, having } from './checked.ts';

const FORMULA = 'balance_loss/equals-the-formula';
const FOLDER = join(PACKAGE_ROOT, 'test', 'torch', 'experts');
const PYTHON = process.env.LOSSPROOF_PYTHON ?? join(PACKAGE_ROOT, '.venv', 'bin', 'python');

const check = (env: Readonly<Record<string, string>>, only = 'balance_loss/*'): Promise<Checked> =>
  checked(['--seed', '1', '--cases', '15', '--only', only, '--', PYTHON, 'adapter.py'], {
    cwd: FOLDER,
    env,
  });

test.each(['mixtral'])("%s's own loss holds, nothing declared", async (MODEL) => {
  const { exitCode, results, out } = await check({ MODEL });
  expect(exitCode, out).toBe(0);
  expect(having(results, 'pass').length, out).toBe(results.length - having(results, 'unsupported').length);
  expect(having(results, 'pass')).toContain(FORMULA);
});

test.each([['padding', 'tokens of padding are counted (MOE-01)']])(
  'with the mistake "%s", declared, it fails and says which',
  async (FAULTY, cause) => {
    const { exitCode, results, out } = await check({ FAULTY, DECLARED: '1' }, FORMULA);
    expect(exitCode, out).toBe(1);
    const found = results.find(({ id }) => id === FORMULA);
    expect(found?.verdict, out).toBe('fail');
    expect(found?.failure?.finding?.sentence).toContain(`It fits exactly if ${cause}`);
  },
);
