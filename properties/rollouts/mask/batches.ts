// Which batches are masked: how completions may end is what the trainer declares, or was measured to take.
import { batch, batchCoverage, type World } from '../../../src/index.ts';

const endsOf = ({ hello, semantics }: World) => ({
  unfinished: hello.ops.mask?.unfinished === true,
  alwaysStops: semantics.completions_always_stop === true,
  afterStop: hello.ops.mask?.after_stop === 'any',
});

export const given = (world: World, minRows = 1) =>
  batch({ tokens: world.hello.tokens, minRows, ...endsOf(world) });

export const coverage = (world: World): Readonly<Record<string, number>> => ({
  'unequal prompts': 0.3,
  'repeated prompt': 0.15,
  stopped: 0.5,
  ...batchCoverage(world.hello.tokens, endsOf(world)),
});
