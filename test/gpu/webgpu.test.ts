// The shader on whatever adapter there is: on a machine without a GPU, on the software Vulkan that Chromium brings.
import { existsSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { chooseKernel, type RowKernel, webGpuKernel } from '../../src/kernel/index.ts';
import { expectAgreement } from '../kernel/agree.ts';
import { halved, inputOf } from '../kernel/inputs.ts';
import { BAND, oracle, testAgreement } from '../kernel/suite.ts';

/** The driver of Debian's package chromium-common. */
const SOFTWARE = '/usr/lib/chromium/vk_swiftshader_icd.json';
if (process.env.VK_DRIVER_FILES === undefined && existsSync(SOFTWARE)) process.env.VK_DRIVER_FILES = SOFTWARE;

const opened = await webGpuKernel({ allowSoftware: true });
if ('problem' in opened) throw new Error(opened.problem);
const kernel: RowKernel = opened;
afterAll(() => kernel.close());

describe('the shader', () => {
  testAgreement(kernel);

  test('cuts what is more than it may hold', async () => {
    const small = await webGpuKernel({ allowSoftware: true, chunkBytes: 10_000 });
    if ('problem' in small) throw new Error(small.problem);
    await expectAgreement(small, oracle, inputOf({ rows: 25, vocab: 999 }), BAND);
    await expectAgreement(small, oracle, halved(inputOf({ rows: 25, vocab: 999 })), BAND);
    await small.close();
  });

  test('sends what is more than it writes in one go, several times over', async () => {
    const small = await webGpuKernel({ allowSoftware: true, stageBytes: 4_096 });
    if ('problem' in small) throw new Error(small.problem);
    for (const rows of [25, 7, 1])
      await expectAgreement(small, oracle, halved(inputOf({ rows, vocab: 999, seed: rows })), BAND);
    await small.close();
  });

  test('is taken when it is named, and by itself only on a real adapter', async () => {
    const named = await chooseKernel('webgpu');
    expect(named).toMatchObject({ kernel: { name: 'webgpu' }, why: expect.stringContaining('as asked') });
    if ('kernel' in named) await named.kernel.close();
    const auto = await chooseKernel('auto');
    if ('problem' in auto) throw new Error(auto.problem);
    expect(auto.why).toContain(auto.kernel.name);
    if (/swiftshader|llvmpipe/i.test(kernel.about)) expect(auto.kernel.name).toBe('cpu-f64');
    await auto.kernel.close();
  });
});
