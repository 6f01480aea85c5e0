// Parquet files that were damaged: each is a sentence, and nothing of the reading outlives it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { readParquet } from '../../../src/monitor/read/parquet.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { memory } from './memory.ts';

const SEEDS = ['completions-snappy', 'completions-gzip'].map((name) =>
  Uint8Array.from(readFileSync(join(PACKAGE_ROOT, 'scripts/fuzz/seeds', `${name}.parquet`))),
);

const read = async (bytes: Uint8Array) => {
  const into = memory();
  const file = {
    byteLength: bytes.length,
    slice: (from: number, to?: number) => bytes.slice(from, to).buffer,
  };
  const whole = await readParquet({ path: 'a.parquet', run: 'a' }, file, into, into.complain);
  return { ...into, whole };
};

test.each(SEEDS)('as it was written it is read (%#)', async (bytes) => {
  const { samples, complaints, whole } = await read(bytes);
  expect({ whole, complaints, samples: samples.length }).toEqual({ whole: true, complaints: [], samples: 3 });
});

test('two columns that cannot be read end in one sentence, and nobody else hears of them', async () => {
  const unheard: unknown[] = [];
  const hear = (reason: unknown): void => void unheard.push(reason);
  process.on('unhandledRejection', hear);
  onTestFinished(() => void process.off('unhandledRejection', hear));
  let complained = 0;
  for (const seed of SEEDS)
    for (let at = 4; at < seed.length - 8; at++) {
      // Wherever two columns lie: from here on, one byte in sixteen.
      const bytes = Uint8Array.from(seed);
      for (let next = at; next < seed.length - 8; next += 16 + (at % 400))
        bytes[next] = 255 - (bytes[next] ?? 0);
      complained += Math.min(1, (await read(bytes)).complaints.length);
    }
  await sleep(0);
  expect(unheard).toEqual([]);
  expect(complained).toBeGreaterThan(1_000);
});
