// Gradients that lie in parts by rank: the partitions of DeepSpeed's ZeRO, and tensors that are dealt out to optimisers by hand.
// Who bounds them bounds all parts by one norm.
import { CHATS } from '../data.ts';
import type { CleanCase, FaultyCase } from '../kinds.ts';
import { exact, given } from './ranks.ts';

const ZERO =
  'python -m torch.distributed.run --standalone --nproc-per-node 2 places/zero_clip.py --data {data}';
const DEALT = 'torchrun --nproc_per_node 2 ranks/dealt.py --data {data}';
const APART =
  /gradients of rank \d are multiplied by [\d.e-]+ and those of rank \d by [\d.e-]+: not by one factor/;

const zero = (more: string): CleanCase => ({ words: `${ZERO} ${more}`, data: CHATS, options: '--strict' });
const dealt = (more: string): CleanCase => ({
  words: `${DEALT} ${more}`,
  ...given,
  options: `${given.options} --strict`,
});

const clipped = (asked: CleanCase): FaultyCase => ({
  ...asked,
  found: 'ranks/shards-are-clipped-by-one-norm',
  says: APART,
});

export const partitions = {
  clean: {
    ...Object.fromEntries(
      [
        '--stage 1 --clip config',
        '--stage 2 --clip config --bound 0.3',
        '--stage 3 --clip config',
        '--stage 1 --clip whole',
        '--stage 2 --clip whole --bound 0.02',
        '--stage 2 --clip full',
        '--stage 2 --clip both',
        '--stage 1 --clip none',
      ].map((more) => [`ZeRO: ${more}`, zero(more)]),
    ),
    ...Object.fromEntries(
      ['whole', 'summed', 'none', 'summed --wrapped', 'whole --wrapped'].map((way) => [
        `tensors that are dealt out by hand: ${way}`,
        { ...dealt(`--clip ${way}`), exact, tells: 'made-anew' as const },
      ]),
    ),
  },
  faulty: {
    ...Object.fromEntries(
      [
        '--stage 1 --clip own',
        '--stage 2 --clip own --accumulate 2',
        '--stage 3 --clip own',
        '--stage 1 --clip first',
        '--stage 2 --clip capped',
        '--stage 2 --clip mixed --bound 0.05',
      ].map((more) => [`ZeRO: ${more}`, clipped(zero(more))]),
    ),
    ...Object.fromEntries(
      ['own', 'first-half', 'two-bounds', 'own --wrapped'].map((way) => [
        `tensors that are dealt out by hand: ${way}`,
        clipped(dealt(`--clip ${way}`)),
      ]),
    ),
    ...Object.fromEntries(
      [1, 2].map((stage) => [
        `ZeRO ${stage}, clipped by torch, which finds no gradient`,
        {
          ...zero(`--stage ${stage} --clip torch`),
          found: 'update/clipping-is-of-the-whole-gradient',
          says: /was given 21 tensors in step \d, none of which has a gradient: it clips nothing/,
        },
      ]),
    ),
  },
};
