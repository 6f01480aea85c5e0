// Bugs of public projects, rebuilt from their threads, and some of no thread (llama.py): the script without the bug agrees, and
// with it the runs part where the thread says that they do.
import { expect, test } from 'vitest';
import { type Told, twin } from './runs.ts';

interface Bug {
  readonly name: string;
  readonly options: readonly string[];
  /** BUG is what sets the bug, or nothing. */
  readonly command: string;
  readonly change: string;
  readonly where: Partial<Told>;
}

const resumedAfter = (steps: number): readonly string[] => [
  '--save-args',
  `--stop-after ${steps} --checkpoint ck.pt`,
  '--resume-args',
  '--resume ck.pt',
];
const PAIR = '--- python -m torch.distributed.run --standalone --nproc-per-node 2 LLAMA --micro-batch 2 BUG';

const BUGS: readonly Bug[] = [
  {
    name: 'verl-7401',
    // An epoch has four steps.
    options: resumedAfter(4),
    command: 'python LLAMA BUG',
    change: 'resume',
    where: { differs: 'rows', step: 4 },
  },
  {
    name: 'mini-trainer-79',
    options: resumedAfter(3),
    command: 'python LLAMA BUG',
    change: 'resume',
    where: { differs: 'rows', step: 3 },
  },
  {
    name: 'starvla-210',
    options: ['--with', '--micro-batch 2 --accumulate 2'],
    command: 'python LLAMA BUG',
    change: 'pair',
    where: { differs: 'rates', step: 0 },
  },
  {
    name: 'transformers-46634',
    options: ['--with', '--pack'],
    command: 'python LLAMA BUG',
    change: 'pair',
    where: { differs: 'logprobs', step: 0 },
  },
  {
    name: 'olmo-core-828',
    options: ['--with', '--recompute'],
    command: 'python LLAMA --dropout 0.1 BUG',
    change: 'pair',
    // Its dropout, which is drawn anew.
    where: { differs: 'gradients', step: 0, backward_module: 'model.layers.1.mlp.1' },
  },
  {
    name: 'prime-rl-2562',
    options: [],
    command: `python LLAMA BUG ${PAIR}`,
    change: 'pair',
    where: { differs: 'weights', step: 0 },
  },
  {
    name: 'bool-mask',
    options: ['--change', 'attention'],
    command: 'python LLAMA BUG',
    change: 'attention',
    where: { differs: 'logprobs', step: 0, module: 'model.layers.0.self_attn.o_proj' },
  },
  {
    name: 'unscaled',
    options: ['--change', 'attention'],
    command: 'python LLAMA --accumulate 2 --micro-batch 2 BUG',
    change: 'attention',
    where: { differs: 'logprobs', step: 0, module: 'model.layers.0.self_attn.o_proj' },
  },
  {
    name: 'moving-average',
    options: ['--change', 'checkpointing'],
    command: 'python LLAMA --dropout 0.1 BUG',
    change: 'checkpointing',
    where: { differs: 'gradients', step: 0 },
  },
];

test.each(BUGS)('$name: found, and without it all agrees', async (bug) => {
  const run = async (words: string): Promise<Told | undefined> =>
    (await twin(bug.options, bug.command.replaceAll('BUG', words).trim().replaceAll(/ +/g, ' '))).get(
      bug.change,
    );
  expect(await run('')).toMatchObject({ outcome: 'agree' });
  expect(await run(`--bug ${bug.name}`)).toMatchObject({ outcome: 'parts', ...bug.where });
});
