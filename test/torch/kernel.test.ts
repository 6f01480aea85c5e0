// cpu-f64 against torch in float64: random, peaked, uniform, extreme logits, and tokens that are ruled out.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { cpuKernel, numbersOf, type RowNumbers } from '../../src/kernel/index.ts';
import { noise } from '../kernel/inputs.ts';

const PYTHON = fileURLToPath(new URL('../../.venv/bin/python', import.meta.url));
const ORACLE = fileURLToPath(new URL('kernel_oracle.py', import.meta.url));
/** Absolute, in nats; relative where numbers are larger: logits of 10,000 have that many digits less. */
const BAND = 1e-10;
const ROWS = 16;

type Fill = (next: () => number, row: number, id: number) => number;
const KINDS: Readonly<
  Record<string, { readonly vocab: number; readonly policy: Fill; readonly reference?: Fill }>
> = {
  random: { vocab: 5_003, policy: (next) => 8 * next() },
  peaked: { vocab: 1_009, policy: (next, row, id) => (id === 7 * row ? 40 : next()) },
  uniform: { vocab: 1_009, policy: () => 3 },
  extreme: { vocab: 509, policy: (next) => 1e4 * next() },
  'ruled out': {
    vocab: 509,
    policy: (next, row, id) => (id % 3 === 1 && id !== 7 * row ? Number.NEGATIVE_INFINITY : 8 * next()),
    reference: (next, row, id) => (id % 6 === 1 && id !== 7 * row ? Number.NEGATIVE_INFINITY : 8 * next()),
  },
  'ruled out by the reference alone': {
    vocab: 509,
    policy: (next) => 8 * next(),
    reference: (next, _, id) => (id === 3 ? Number.NEGATIVE_INFINITY : 8 * next()),
  },
};

const folder = mkdtempSync(join(tmpdir(), 'lossproof-kernel-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const cases = Object.entries(KINDS).flatMap(([name, { vocab, policy, reference = policy }], at) =>
  [1, 0.7].map((temperature) => {
    const logits = (fill: Fill, seed: number): Float64Array => {
      const next = noise(seed);
      return Float64Array.from({ length: ROWS * vocab }, (_, index) =>
        fill(next, Math.floor(index / vocab), index % vocab),
      );
    };
    const input = { policy: logits(policy, 2 * at + 1), reference: logits(reference, 2 * at + 2) };
    const files = {
      policy: join(folder, `${at} ${temperature} policy`),
      reference: join(folder, `${at} ${temperature} reference`),
    };
    writeFileSync(files.policy, input.policy);
    writeFileSync(files.reference, input.reference);
    const targets = Array.from({ length: ROWS }, (_, row) => 7 * row);
    return { name: `${name} at temperature ${temperature}`, input, files, vocab, targets, temperature };
  }),
);

const run = spawnSync(PYTHON, [ORACLE], {
  input: JSON.stringify({
    cases: cases.map(({ files, vocab, targets, temperature }) => ({
      ...files,
      rows: ROWS,
      vocab,
      targets,
      temperature,
    })),
  }),
  encoding: 'utf8',
  maxBuffer: 2 ** 26,
});
if (run.status !== 0) throw new Error(`${PYTHON}: ${run.stderr}`);
const answers = JSON.parse(run.stdout) as Record<keyof RowNumbers, (number | string)[]>[];

describe('cpu-f64', () => {
  test.each(cases.map((each, at) => ({ ...each, at })))(
    'is torch in float64 for logits that are $name',
    async (each) => {
      const { input, targets, vocab, temperature, at } = each;
      const numbers = numbersOf(
        await cpuKernel({ threads: 1 }).rows({
          policy: { dtype: 'float64', data: input.policy },
          reference: { dtype: 'float64', data: input.reference },
          targets: Int32Array.from(targets),
          vocab,
          temperature,
        }),
      );
      for (const [name, expected] of Object.entries(answers[at] ?? {}))
        for (const [row, said] of expected.entries()) {
          const value = said === 'inf' ? Number.POSITIVE_INFINITY : Number(said);
          const observed = numbers[name as keyof RowNumbers][row] as number;
          if (observed === value) continue;
          expect(Math.abs(observed - value), `${name} of row ${row}`).toBeLessThan(
            BAND * Math.max(1, Math.abs(value)),
          );
        }
      expect(Object.keys(answers[at] ?? {})).toHaveLength(4);
    },
  );
});
