// Divergences from a teacher, and terms on the size of the logits, over all positions or some: prompts may be among them.
import { ANSWERS } from '../correct.ts';
import { PAIRS } from '../data.ts';
import type { Cases, CleanCase, FaultyCase } from '../kinds.ts';

const whole = (more: string, says?: RegExp): CleanCase => ({
  words: `losses/whole.py --data {data} --output {out} ${more}`,
  data: PAIRS,
  options: ANSWERS,
  ...(says === undefined ? {} : { says }),
});
const wrong = (more: string, found: string, says: RegExp): FaultyCase => ({ ...whole(more), found, says });

const SIZE = /loss (softcap \d+, )?a term on the size of the logits \(a z-loss\) step/;
const SIGN = ['trace/large-logits-are-not-rewarded', /a term that falls as the logits grow/] as const;

const COLUMN = ['trace/target-is-the-next-token', /at the column before each/] as const;

export const teachers: Cases = {
  clean: Object.fromEntries(
    (
      [
        [
          '--kl forward --tau 2',
          /loss 1 KL to model 0 at temperature 2 \(with the factor T²; 4 without it\), and no target tokens step/,
        ],
        [
          '--kl forward --over real --vocabulary 40000',
          /loss 1 KL to model 0 at temperature 1, and no target/,
        ],
        ['--kl forward --share 0.5 --tau 2 --over real', /0\.5 cross-entropy \+ 0\.5 KL to model 0 at temp/],
        [
          '--kl reverse',
          /2 rows, 30 of 22 tokens trained.*padding, too.*--meant mask\/padding-is-never-trained/,
        ],
        [
          '--kl reverse --share 0.5 --over labels --chunks 3',
          /0\.5 cross-entropy \+ 0\.5 reverse KL to model 0/,
        ],
        ['--kl reverse --head inside --over real', /loss 1 reverse KL to model 0 at temperature 1/],
        ['--kl jsd --tau 2 --over real', /1 Jensen-Shannon divergence \(0\.5 of the teacher\) to model 0/],
        [
          '--kl jsd --beta 0.1 --over labels',
          /1 Jensen-Shannon divergence \(0\.1 of the teacher\) to model 0/,
        ],
        ['--loop trainer --kl forward --tau 2 --over real', /loss 1 KL to model 1 at temperature 2/],
        ['--loop trainer --kl reverse --over labels', /loss 1 reverse KL to model 1/],
        ['--loop trainer --kl jsd --share 0.5', /0\.5 cross-entropy \+ 0\.5 Jensen-Shannon divergence/],
        ['--z 1e-4 --over real --chunks 2', SIZE],
        ['--cap 15 --z 1e-3', SIZE],
        ['--cap 15 --z 1e-3 --vocabulary 40000', SIZE],
        ['--cap 30 --z 1e-3 --over labels --head hidden', SIZE],
        ['--loop trainer --cap 15 --z 1e-3', SIZE],
      ] as const
    ).map(([more, says]) => [`all of a vocabulary: ${more}`, whole(more, says)]),
  ),
  faulty: Object.fromEntries(
    (
      [
        ['--z=-1e-3', ...SIGN],
        ['--z=-1e-3 --cap 20 --over labels', ...SIGN],
        ['--z=-1e-4 --loop trainer --over real', ...SIGN],
        ['--z=-1e-3 --head hidden', ...SIGN],
        ['--z=-1e-2 --kl forward --share 0.5 --over real', ...SIGN],
        [
          '--kl reverse --share 0.5 --fault prompt',
          'tokenize/prompt-is-not-trained',
          /belongs to the prompt/,
        ],
        ['--kl jsd --over labels --fault stop', 'tokenize/stop-token-is-trained', /is not trained itself/],
        ['--kl forward --tau 2 --over real --fault other-columns', ...COLUMN],
        ['--kl reverse --share 0.5 --over labels --fault other-columns', ...COLUMN],
        ['--kl forward --over real --vocabulary 40000 --fault other-columns', ...COLUMN],
        ['--loop trainer --kl jsd --over real --fault other-columns', ...COLUMN],
        ['--cap 15 --z 1e-3 --fault pads', 'mask/padding-is-never-trained', /is padding/],
      ] as const
    ).map(([more, found, says]) => [`all of a vocabulary, wrong: ${more}`, wrong(more, found, says)]),
  ),
};
