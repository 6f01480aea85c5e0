// Two processors of transformers that number their placeholders differently: their batches hold, and a mistake around them is found.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { type Checked, checked, having } from './checked.ts';

const FOLDER = join(PACKAGE_ROOT, 'test', 'torch', 'multimodal');
const PYTHON = process.env.LOSSPROOF_PYTHON ?? join(PACKAGE_ROOT, '.venv', 'bin', 'python');
const PROCESSORS = ['qwen2-vl', 'llava'];

const WHOLE = 'multimodal/truncation-keeps-images-whole';

const check = (env: Readonly<Record<string, string>>, only = 'multimodal/*'): Promise<Checked> =>
  checked(
    ['--seed', '1', '--cases', '20', '--shrink-time', '1', '--only', only, '--', PYTHON, 'adapter.py'],
    {
      cwd: FOLDER,
      env,
    },
  );

test.each(PROCESSORS)("the batches of %s's processor hold", async (PROCESSOR) => {
  const { exitCode, results, out } = await check({ PROCESSOR });
  expect(exitCode, out).toBe(0);
  expect(having(results, 'pass'), out).toHaveLength(results.length);
  expect(results.map(({ id }) => id)).toContain(WHOLE);
});

test.each([
  ['placeholders are trained', 'multimodal/placeholders-are-not-trained'],
  ['placeholders not expanded', 'multimodal/placeholders-are-the-images'],
  ['images in another order', 'multimodal/pixels-belong-to-their-row'],
  ['pixels of sorted rows', 'multimodal/pixels-belong-to-their-row'],
  ['prompt before expansion', 'multimodal/images-move-no-labels'],
  ['placeholders are hidden', 'multimodal/images-are-attended-to'],
  ['cut inside an image', WHOLE],
])('with the mistake "%s", both fail %s', async (FAULTY, property) => {
  for (const PROCESSOR of PROCESSORS) {
    const { exitCode, results, out } = await check({ PROCESSOR, FAULTY }, property);
    expect(exitCode, out).toBe(1);
    expect(having(results, 'fail'), out).toEqual([property]);
  }
});
