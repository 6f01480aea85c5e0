// The tensor operations on TensorFlow.js' plain backend: the package for GPUs is only there where a user has it.
import '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { cpuKernel, type TensorFlow, tensorKernel, tfjsKernel } from '../../src/kernel/index.ts';
import { expectAgreement } from './agree.ts';
import { EDGES, halved, inputOf } from './inputs.ts';

const BAND = 1e-5;
const kernel = tensorKernel(tf as unknown as TensorFlow, 'plain');
const oracle = cpuKernel({ threads: 1 });

describe('the tensor kernel', () => {
  test.each(Object.entries(EDGES))('agrees with cpu-f64 for %s', async (_, make) => {
    await expectAgreement(kernel, oracle, make(), BAND);
  });

  test('reads half precision', async () => {
    await expectAgreement(kernel, oracle, halved(inputOf({ rows: 3, vocab: 777 })), BAND);
  });

  test('frees what it made', async () => {
    const before = tf.memory().numTensors;
    await kernel.rows(inputOf({ rows: 3, vocab: 777 }));
    expect(tf.memory().numTensors).toBe(before);
  });

  test('says in words that the package is not there', async () => {
    expect(await tfjsKernel()).toMatchObject({ problem: expect.stringContaining('does not load') });
  });
});
