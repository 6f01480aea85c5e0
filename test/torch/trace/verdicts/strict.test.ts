// Correct scripts of the kinds that people write most often, under --strict: not one question about any of them.
import { expect, test } from 'vitest';
import { places } from './cases/places.ts';
import { ranks } from './cases/ranks.ts';
import { CHATS } from './data.ts';
import { type Asked, blamedIn, ofPart, traced } from './run.ts';

const TWO = 'python -m torch.distributed.run --standalone --nproc-per-node 2';
const everyday = (shape: string, before = 'python'): [string, Asked] => [
  shape,
  {
    words: `${before} places/everyday.py --data {data} --output {out} --shape ${shape}`,
    data: CHATS,
  },
];

const ALONE = [
  'lora',
  'dora',
  'checkpointed',
  'halves',
  'reward-lora',
  'compiled',
  'compiled-half',
  'trainer',
];
const SHARED = ['ddp', 'ddp-lora', 'fsdp2', 'fsdp2-lora', 'zero1'];
/** Of the cases, which are not run under --strict otherwise. */
const OTHERS =
  /LoRA|compiled model kept|written by hand that is compiled|FSDP2|ZeRO|no_sync|FullyShardedDataParallel|sharded over/;

const scripts: readonly [string, Asked][] = [
  ...ALONE.map((shape) => everyday(shape)),
  ...SHARED.map((shape) => everyday(shape, TWO)),
  ...Object.entries({ ...places.clean, ...ranks.clean }).filter(([name]) => OTHERS.test(name)),
];

test.concurrent.each(ofPart(scripts))('%s: passes under --strict', async (_, asked) => {
  const run = await traced({ ...asked, options: `${asked.options ?? ''} --strict` });
  expect(blamedIn(run), run.out).toEqual([]);
  expect(run.results.filter(({ verdict }) => verdict === 'pass').length, run.out).toBeGreaterThan(0);
  expect(run.exitCode, run.out).toBe(0);
});
