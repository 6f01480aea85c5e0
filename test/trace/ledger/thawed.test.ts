// What stands beside adapters, and what --frozen declares: names and sizes as models have them.
import { describe, expect, test } from 'vitest';
import type { TensorUpdate } from '../../../src/trace/ledger.ts';
import { type LedgerSketch, rankStep } from '../traced.ts';
import { supervised } from '../weighed.ts';
import { holds, judged, worst } from './judged.ts';
import { FROZEN, tensor, update } from './tensors.ts';

const ID = 'update/what-is-frozen-stays';
const matrix = (name: string, more: Partial<TensorUpdate> = {}): TensorUpdate =>
  tensor(name, { size: 1024, ...more });
const untouched = (name: string, size = 1024): TensorUpdate => {
  const { norm: _, ...rest } = matrix(name, { ...FROZEN, size });
  return rest;
};
const { rows = [] } = supervised({ lengths: [[[5, 3]]] });
const one: LedgerSketch = { rows, steps: [{ index: 0, ranks: [rankStep(0)] }] };
const of = (...tensors: readonly TensorUpdate[]): LedgerSketch => ({
  ...one,
  updates: [update(tensors)],
});
/** Notices that a strict run asks. */
const asked = (sketch: LedgerSketch): string =>
  (judged(ID, sketch).notices ?? [])
    .filter(({ remark }) => remark !== true)
    .map(({ sentence }) => sentence)
    .join(' ');

const ADAPTED = [
  untouched('layers.0.q_proj.base_layer.weight'),
  matrix('layers.0.q_proj.lora_A.default.weight', { size: 64 }),
  matrix('layers.0.q_proj.lora_B.default.weight', { size: 64 }),
];

describe('beside adapters', () => {
  test.each(['layers.0.mlp.up_proj.weight', 'model.h.3.mlp.c_fc.weight', 'layers.1.o_proj.weight'])(
    'a matrix of a layer that moves is a notice: %s',
    (name) => {
      expect(asked(of(...ADAPTED, matrix(name)))).toContain(
        `moved 2 tensors of adapters, and 1 matrix of layers that no adapter stands beside: ${name}, 89 %`,
      );
    },
  );

  test.each([
    ['a norm', matrix('layers.0.input_layernorm.weight', { size: 32 })],
    ['a bias', matrix('layers.0.mlp.up_proj.bias', { size: 128 })],
    ['the embedding', matrix('embed_tokens.weight', { size: 9000 })],
    ['what is saved with them', matrix('layers.0.mlp.modules_to_save.default.weight')],
    ['what is frozen', untouched('layers.0.mlp.up_proj.weight')],
  ])('%s is none', (_, other) => {
    expect(asked(of(...ADAPTED, other))).toBe('');
  });

  test('without adapters, matrices are what is trained', () => {
    expect(asked(of(matrix('layers.0.mlp.up_proj.weight'), untouched('embed_tokens.weight')))).toBe('');
  });
});

describe('what is made to be saved', () => {
  const left = { held: 0, moved: false };
  test.each([
    'lm_head.modules_to_save.default.weight',
    'embed_tokens.token_adapter.trainable_tokens_delta.default',
    'layers.1.v_proj.lora_B.default.weight',
  ])('and is in no optimiser: %s', (name) => {
    const sketch = of(...ADAPTED, matrix(name, left));
    expect(asked(sketch)).toContain(`No optimiser that stepped holds ${name}, which was made to be trained`);
    expect(judged(ID, sketch).notices?.some(({ asked: is }) => is === true)).toBe(true);
  });

  test.each([
    ['it is held', matrix('lm_head.modules_to_save.default.weight')],
    ['another adapter is switched off', untouched('layers.0.q_proj.lora_A.other.weight')],
    ['the original of a copy', matrix('lm_head.original_module.weight', { ...left, trainable: false })],
  ])('%s: right', (_, other) => {
    expect(asked(of(...ADAPTED, other))).toBe('');
  });

  test('a second optimiser may hold it in another step: only noticed where it was not seen', () => {
    const name = 'lm_head.modules_to_save.default.weight';
    const first = update([...ADAPTED, matrix(name, left)]);
    const second = update([matrix(name)], { optimizer: 1 });
    expect(asked({ ...one, updates: [first, second] })).toBe('');
    const other = update([matrix('norm.weight')], { optimizer: 1 });
    expect(judged(ID, { ...one, updates: [first, other] }).notices?.some(({ asked: is }) => is)).toBe(false);
  });
});

describe('declared frozen', () => {
  const MODEL = [
    untouched('vision.layers.0.weight'),
    untouched('vision.layers.1.weight'),
    matrix('text.layers.0.weight'),
  ];
  const declared = (...frozen: readonly string[]): LedgerSketch => ({
    ...of(...MODEL),
    settings: { frozen },
  });

  test.each([['vision'], ['vision.*.weight'], ['layers.1'], ['vision', 'layers.1.']])(
    'nothing that fits moves: %s',
    (...frozen) => holds(ID, declared(...frozen)),
  );

  test.each(['visoin', 'vision.weight', 'layers.[01]'])('fits nothing: %s', (pattern) => {
    expect(worst(ID, declared('vision', pattern)).sentence).toContain(
      `"${pattern}" is declared frozen and fits none of the 3 tensors`,
    );
  });

  test.each([
    ['text', 1],
    ['layers', 3],
    ['*.0.weight', 2],
  ])('something that fits moves: %s', (pattern, count) => {
    expect(worst(ID, declared(pattern)).sentence).toContain(
      `"${pattern}" is declared frozen, and step 0 at train.py:9 moved 1 of the ${count} tensor`,
    );
  });
});
