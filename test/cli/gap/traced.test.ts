// `gap` on the folder of a trace: both sides are those of the run. test/torch/gap traces a real trainer.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { encodeTensor } from '../../../src/protocol/tensor.ts';
import type { TraceRecord } from '../../../src/trace/records/records.ts';
import { type Planted, rolloutsWith } from '../../gap/model.ts';
import { bf16 } from '../../gap/noise.ts';
import { both, heated } from '../../gap/planted.ts';
import {
  forwardOf,
  generateOf,
  linesOf,
  modelOf,
  processOf,
  stepOf,
  trainedOf,
} from '../../trace/recorded.ts';
import { makeWorld } from '../world.ts';

interface Sketch {
  readonly planted?: Planted;
  /** Without the log-probabilities of generate(). */
  readonly bare?: boolean;
  /** Nothing was read of the loss. */
  readonly untrained?: boolean;
}

/** A run that samples rows one by one, and trains them all in a step. */
function recordsOf({ planted = {}, bare = false, untrained = false }: Sketch): TraceRecord[] {
  const rows = rolloutsWith({ engine: bf16, trainer: bf16, ...planted }, { seed: 81, rows: 40, length: 25 });
  return [
    processOf(),
    modelOf({ vocab_size: 120 }),
    ...rows.flatMap(({ prompt, ids, sampling }, generate) =>
      generateOf([[...prompt]], [[...prompt, ...ids]], {
        generate,
        eos_token_ids: [0],
        pad_token_id: null,
        ...(bare ? {} : { sampling_logprobs: encodeTensor([[...sampling]], 'float32') }),
      }),
    ),
    ...rows.flatMap(({ prompt, ids, trainer }, forward) => [
      forwardOf([[...prompt, ...ids]], { forward }),
      trainedOf(
        ids.map((target, at) => ({
          column: prompt.length + at - 1,
          target,
          weight: 1,
          residual: 0,
          temperature: 1,
          ...(untrained ? {} : { logprob: trainer[at] ?? 0 }),
        })),
        { forward },
      ),
    ]),
    stepOf(),
  ];
}

function traced(sketch: Sketch): ReturnType<typeof makeWorld> {
  const world = makeWorld(undefined, { columns: 80 });
  mkdirSync(join(world.folder, 'run'));
  world.write('run/0-1.ndjson', linesOf(recordsOf(sketch)));
  return world;
}

test('compares what was sampled with what the loss read, and needs no file of rollouts', async () => {
  const world = traced({});
  expect(await world.run('gap', 'run')).toBe(0);
  expect(world.out()).toContain('40 rows');
  expect(world.out().replaceAll(/\s+/g, ' ')).toContain('sampling generate(), trainer the backward pass');
  expect(world.out()).toMatch(/✓ Noise: an RMS gap of 0\.0\d+ is bf16 rounding/);
});

test('names a cause', async () => {
  const world = traced({ planted: { engine: both(heated(0.6), bf16) } });
  expect(await world.run('gap', 'run', '--json')).toBe(1);
  expect(JSON.parse(world.out())).toMatchObject({
    causes: [{ cause: 'temperature' }],
    left_out: { rows: 0 },
  });
});

test.each<[string, Sketch, RegExp]>([
  ['sampled without log-probabilities', { bare: true }, /what was sampled has no log-probabilities/],
  ['of which the loss was not read', { untrained: true }, /not measured: trace it without --mode cheap/],
])('a run %s is one sentence', async (_, sketch, words) => {
  const world = traced(sketch);
  expect(await world.run('gap', 'run')).toBe(2);
  expect(world.err()).toMatch(words);
  expect(world.err().trim().split('\n')).toHaveLength(1);
});

test('a folder of neither is one sentence', async () => {
  const world = makeWorld();
  mkdirSync(join(world.folder, 'empty'));
  expect(await world.run('gap', 'empty')).toBe(2);
  expect(world.err()).toContain('empty holds no trace');
  expect(world.err()).toContain('as in empty/*.jsonl');
  expect(await world.run('gap', 'empty', 'rollouts.jsonl')).toBe(2);
  expect(world.err()).toContain('empty is a folder; name one folder of a trace, or files of rollouts');
  expect(world.err().trim().split('\n')).toHaveLength(2);
});
