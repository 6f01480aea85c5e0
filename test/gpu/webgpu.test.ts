// The shader on whatever adapter there is: on a machine without a GPU, on the software Vulkan that Chromium brings.
import { existsSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { chooseKernel, cpuKernel, type RowKernel, webGpuKernel } from '../../src/kernel/index.ts';
import { expectAgreement } from '../kernel/agree.ts';
import { EDGES, halved, inputOf } from '../kernel/inputs.ts';

/** The driver of Debian's package chromium-common. */
const SOFTWARE = '/usr/lib/chromium/vk_swiftshader_icd.json';
if (process.env.VK_DRIVER_FILES === undefined && existsSync(SOFTWARE)) process.env.VK_DRIVER_FILES = SOFTWARE;

const BAND = 1e-5;
const oracle = cpuKernel({ threads: 1 });
const opened = await webGpuKernel({ allowSoftware: true });
if ('problem' in opened) throw new Error(opened.problem);
const kernel: RowKernel = opened;
afterAll(() => kernel.close());

describe('the shader', () => {
  test.each(Object.entries(EDGES))('agrees with cpu-f64 for %s', async (_, make) => {
    await expectAgreement(kernel, oracle, make(), BAND);
  });

  test('reads bfloat16, an odd number of logits too', async () => {
    await expectAgreement(kernel, oracle, halved(inputOf({ rows: 3, vocab: 777 })), BAND);
  });

  test('reads float16, subnormal and infinite numbers among them', async () => {
    const data = Uint16Array.from({ length: 4 * 300 }, (_, at) => (at * 7_919) & 0x4fff);
    data.set([0x0001, 0x8001, 0x03ff, 0xfc00, 0x7c00, 0x7e00], 3 * 300);
    const logits = { dtype: 'float16', data } as const;
    const input = { ...inputOf({ rows: 4, vocab: 300 }), policy: logits, reference: logits };
    await expectAgreement(kernel, oracle, input, BAND);
  });

  test('reads a policy and a reference of different formats', async () => {
    const input = inputOf({ rows: 3, vocab: 777 });
    await expectAgreement(kernel, oracle, { ...input, policy: halved(input).policy }, BAND);
  });

  test('cuts what is more than it may hold', async () => {
    const small = await webGpuKernel({ allowSoftware: true, chunkBytes: 10_000 });
    if ('problem' in small) throw new Error(small.problem);
    await expectAgreement(small, oracle, inputOf({ rows: 25, vocab: 999 }), BAND);
    await expectAgreement(small, oracle, halved(inputOf({ rows: 25, vocab: 999 })), BAND);
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
