// Backward passes inside of models, right and wrong: what --slopes measures tensor by tensor.
import { PAIRS } from '../data.ts';
import type { Cases, FaultyCase } from '../kinds.ts';

const script = (how: string): { words: string; data: typeof PAIRS; options: string } => ({
  words: `losses/slopes.py --data {data} ${how}`,
  data: PAIRS,
  options: '--slopes --strict',
});

const wrong = (how: string, says: RegExp): FaultyCase => ({
  ...script(how),
  found: 'update/gradients-are-slopes',
  says,
});

export const slopes: Cases = {
  clean: {
    'a norm with a backward pass of its own': script(''),
    'dropout and clipping': script('--model gpt2 --dropout 0.2 --clip 0.1'),
    'a model by hand with a tied head': script('--model hand'),
  },
  faulty: {
    'a norm that forgets its root mean square': wrong('--fault norm', /embed_tokens\.weight \(0\.\d+\)/),
    'a gather whose backward pass sums': wrong('--fault gather', /\(0\.5\)/),
    'a gradient of the embedding that is added up twice': wrong(
      '--fault embedding',
      /1 of \d+ tensors.*model\.embed_tokens\.weight \(0\.5\)/,
    ),
    'the same, clipped, with another model': wrong('--model gpt2 --fault gather --clip 0.1', /\(0\.5\)/),
    'an adapter whose gradient has no scaling': wrong('--model hand --fault scale', /\(2\)/),
  },
};
