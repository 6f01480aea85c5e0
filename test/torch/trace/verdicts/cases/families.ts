// Model families of transformers, with ids of chance: their ways of counting positions, their heads, and those that are no causal
// language model, of which nothing is told.
import type { Cases } from '../kinds.ts';

const script = (family: string) => ({ words: `steps/families.py --family ${family}` });

export const families: Cases = {
  clean: Object.fromEntries([
    ...['opt', 'biogpt', 'xglm', 'phi', 'gpt2', 'bloom', 'mamba', 'own'].map((family) => [
      `a family of models: ${family}`,
      { ...script(family), says: /step 1 4 rows, (29 of 45|32 of 48) tokens trained · weights sum to 1 / },
    ]),
    [
      'a model that sees images',
      { ...script('llava'), says: /step 1 4 rows, 28 of 48 tokens trained · weights sum to 1 / },
    ],
    ...['t5', 'bart', 'bert'].map((family) => [
      `no causal language model: ${family}`,
      {
        ...script(family),
        nothing: true,
        says: /is no causal language model; its training is not traced\. .*0 steps, 0 rows, 0 tokens trained/,
      },
    ]),
  ]),
  faulty: Object.fromEntries([
    [
      'placeholders of images that are left in the labels',
      {
        ...script('llava --train-images'),
        found: 'mask/placeholders-are-never-trained',
        says: /Token 1 \(id 5\) is a placeholder of an image.* must not be trained, but it is, and so are 3 more/,
      },
    ],
    ...['xglm', 'gpt2'].map((family) => [
      `left padding without positions: ${family}`,
      {
        words: `steps/families.py --family ${family} --pads left`,
        found: 'collate/positions-count-real-tokens',
        says: /was given no position_ids: it counts columns/,
      },
    ]),
  ]),
};
