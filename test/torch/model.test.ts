// The reference model against transformers' Llama and GPT-2 on checkpoints that we wrote: left and right padded, tied
// and untied, grouped queries, biases.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { writeCheckpoint } from '../../src/checkpoints/folder.ts';
import { randomModel } from '../../src/checkpoints/random.ts';
import { configOf, forward, type ModelConfig, type ModelRow } from '../../src/reference/index.ts';

const PYTHON = fileURLToPath(new URL('../../.venv/bin/python', import.meta.url));
const ORACLE = fileURLToPath(new URL('model_oracle.py', import.meta.url));
/** transformers in float32 may be this far off, logits being below 50; a true float64 forward pass this far. */
const FLOAT32 = 5e-5;
const FLOAT64 = 1e-10;
/** Of the largest logit: the bands are for logits of size 1. */
const SEED = 7;
const DEVIATION = 0.15;

const LLAMA = {
  model_type: 'llama',
  vocab_size: 97,
  hidden_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 48,
  max_position_embeddings: 64,
  rms_norm_eps: 1e-5,
};
const GPT2 = { model_type: 'gpt2', vocab_size: 97, n_embd: 32, n_layer: 2, n_head: 4, n_positions: 64 };

const CONFIGS: Record<string, Record<string, unknown>> = {
  'llama with an old configuration': { ...LLAMA, rope_theta: 10_000 },
  'llama with a new configuration, tied': {
    ...LLAMA,
    rope_parameters: { rope_type: 'default', rope_theta: 500_000 },
    tie_word_embeddings: true,
  },
  'llama with biases and wide heads': { ...LLAMA, attention_bias: true, mlp_bias: true, head_dim: 16 },
  gpt2: GPT2,
  'gpt2, untied, narrow inside': { ...GPT2, tie_word_embeddings: false, n_inner: 40 },
};

const folder = mkdtempSync(join(tmpdir(), 'lossproof model ü '));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function rowsOf(side: 'left' | 'right'): Required<Pick<ModelRow, 'ids' | 'attention' | 'positions'>>[] {
  const width = 12;
  return [12, 7, 1].map((length, row) => {
    const real = Array.from({ length }, (_, t) => (5 + 31 * row + 17 * t) % 97);
    const padding = Array.from({ length: width - length }, () => 0);
    const places = real.map((_, t) => t);
    const lay = (of: readonly number[]): number[] =>
      side === 'left' ? [...padding, ...of] : [...of, ...padding];
    return { ids: lay(real), attention: lay(real.map(() => 1)), positions: lay(places) };
  });
}

const cases = Object.entries(CONFIGS).flatMap(([name, json]) =>
  (['left', 'right'] as const).map((side) => ({ name: `${name}, ${side}-padded`, json, side })),
);

const models = cases.map(({ json }, at) => {
  const config = configOf(json) as ModelConfig;
  const model = randomModel(config, SEED + at, DEVIATION);
  const path = join(folder, String(at));
  writeCheckpoint(path, { model, eosTokenIds: [2], padTokenId: 0 });
  return { model, path };
});

const run = spawnSync(PYTHON, [ORACLE], {
  input: JSON.stringify({
    cases: cases.map(({ side }, at) => ({ folder: models[at]?.path, rows: rowsOf(side) })),
  }),
  encoding: 'utf8',
  maxBuffer: 2 ** 28,
});
if (run.status !== 0) throw new Error(`${PYTHON}: ${run.stderr}`);
const answers = JSON.parse(run.stdout) as Record<'float32' | 'float64', number[][][]>[];

describe('the reference model', () => {
  test.each(cases.map((each, at) => ({ ...each, at })))('is that of transformers: $name', ({ side, at }) => {
    const { model } = models[at] as (typeof models)[number];
    const worst = { float32: 0, float64: 0 };
    for (const [b, row] of rowsOf(side).entries()) {
      const logits = forward(model, row);
      for (const [t, real] of row.attention.entries()) {
        if (real === 0) continue;
        for (const [v, z] of (logits[t] ?? []).entries())
          for (const dtype of ['float32', 'float64'] as const)
            worst[dtype] = Math.max(
              worst[dtype],
              Math.abs(z - (answers[at]?.[dtype][b]?.[t]?.[v] ?? Number.NaN)),
            );
      }
    }
    expect(worst.float64).toBeLessThan(FLOAT64);
    expect(worst.float32).toBeLessThan(FLOAT32);
  });
});
