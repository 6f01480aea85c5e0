// An engine that is another code base, ONNX Runtime, beside transformers: rounding, whatever the dtypes, and a temperature all the same.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { canRun, gapOfFile, rollouts } from './engines.ts';

const folder = mkdtempSync(join(tmpdir(), 'lossproof gap onnx '));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.skipIf(!(await canRun()))('two implementations of one model differ by rounding, by dtype', async () => {
  const { engines, trainers } = await rollouts(folder);
  expect(engines).toEqual(expect.arrayContaining(['float32', 'float16', 'bfloat16 weights']));
  const sizes = new Map<string, number>();
  for (const engine of engines)
    for (const trainer of trainers) {
      const { verdict, causes, rms } = await gapOfFile(folder, `${engine}-${trainer}`);
      expect([engine, trainer, verdict, causes]).toEqual([engine, trainer, 'noise', []]);
      sizes.set(`${engine} ${trainer}`, rms);
    }
  const size = (name: string): number => sizes.get(name) ?? Number.NaN;
  expect(size('float32 float32')).toBeLessThan(1e-4);
  expect(size('float16 float32')).toBeGreaterThan(10 * size('float32 float32'));
  expect(size('float32 bfloat16')).toBeGreaterThan(3 * size('float32 float16'));
  const { verdict, causes } = await gapOfFile(folder, 'warm');
  expect([verdict, causes[0]?.cause]).toEqual(['cause', 'temperature']);
});
