// Parquet files that were damaged: each is a sentence, and nothing of the reading outlives it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { MAGIC, readParquet } from '../../../src/monitor/read/parquet.ts';
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

test('a count below zero, which the library would count for ever', async () => {
  const bytes = Uint8Array.from(SEEDS[0] ?? []);
  // `num_children` of each element of the schema in turn: what is a small number there turns negative.
  const length = new DataView(bytes.buffer).getUint32(bytes.length - 8, true);
  for (let at = bytes.length - 8 - length; at < bytes.length - 8; at++) {
    const damaged = Uint8Array.from(bytes);
    damaged[at] = 1;
    expect(await read(damaged)).toMatchObject({ whole: true });
  }
});

test.each<[says: string, size: readonly number[], depth: number]>([
  // Of 2^20 - 1 values a list, and each the first value of the one before it.
  // On a machine that others have, the time may be over before the memory.
  ['takes more than 512 MiB|there is no end to it', [0xff, 0xff, 0x3f], 200],
  ['says that 33554431 values follow one another', [0xff, 0xff, 0xff, 0x0f], 1],
])('a file that %s is a sentence, and the next one is read', async (says, size, depth) => {
  const end = [0x19, ...Array.from({ length: depth }, () => [0xf9, ...size]).flat()];
  const length = new Uint8Array(Uint32Array.of(end.length).buffer);
  const { complaints } = await read(Uint8Array.of(...MAGIC, ...end, ...length, ...MAGIC));
  expect(complaints).toEqual([expect.stringMatching(says)]);
  expect((await read(SEEDS[0] ?? new Uint8Array())).samples).toHaveLength(3);
});

test.each([211, 603])(
  'a run of 2^30 equal values (at byte %i) is refused before it is written',
  async (at) => {
    const damaged = Uint8Array.from(SEEDS[0] ?? []);
    damaged.set([0xfe, 0xff, 0xff, 0xff, 0x07], at);
    const { complaints } = await read(damaged);
    expect(complaints).toEqual([expect.stringContaining('a run of equal values is longer than all values')]);
  },
);

test('files are read side by side', async () => {
  const all = await Promise.all([...SEEDS, ...SEEDS].map(read));
  expect(all.map(({ samples }) => samples.length)).toEqual([3, 3, 3, 3]);
});
