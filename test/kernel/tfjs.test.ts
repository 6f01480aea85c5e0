// The tensor operations on TensorFlow.js' plain backend; test/tfjs has them on TensorFlow itself.
import '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { type TensorFlow, tensorKernel, tfjsKernel } from '../../src/kernel/index.ts';
import { inputOf } from './inputs.ts';
import { testAgreement } from './suite.ts';

const kernel = tensorKernel(tf as unknown as TensorFlow, 'plain');

describe('the tensor kernel', () => {
  testAgreement(kernel);

  test('frees what it made', async () => {
    const before = tf.memory().numTensors;
    await kernel.rows(inputOf({ rows: 3, vocab: 777 }));
    expect(tf.memory().numTensors).toBe(before);
  });

  test('says in words that the package is not there, and how to have it', async () => {
    const opened = await tfjsKernel({ allowSoftware: true, folder: '/nowhere' });
    expect(opened).toMatchObject({ problem: expect.stringContaining('does not load') });
    expect(opened).toMatchObject({ problem: expect.stringContaining('npm run setup:tfjs') });
  });
});
