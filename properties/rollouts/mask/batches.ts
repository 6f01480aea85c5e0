// Which batches are masked: how completions may end is what the trainer declares, or was measured to take.
import { batch, batchCoverage, batchLabels, stopsOf, type World } from '../../../src/index.ts';

const endsOf = (world: World) => ({
  ...stopsOf(world, 'mask'),
  unfinished: world.hello.ops.mask?.unfinished === true,
  alwaysStops: world.semantics.completions_always_stop === true,
  afterStop: world.hello.ops.mask?.after_stop === 'any',
});

export const given = (world: World, minRows = 1) => batch({ minRows, ...endsOf(world) });

export const coverage = (world: World): Readonly<Record<string, number>> => ({
  'unequal prompts': 0.3,
  'repeated prompt': 0.15,
  stopped: 0.5,
  ...batchCoverage(world.hello.tokens, endsOf(world)),
});

/** What most rules of the mask share. */
export const maskRule = {
  stage: 'mask',
  level: 'must',
  ops: ['mask'],
  given: (world: World) => given(world),
  labels: batchLabels,
} as const;
