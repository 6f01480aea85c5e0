// Which function has its turn first, should time run out.
import { expect, test } from 'vitest';
import type { Candidate, Dialogue } from '../../../src/discover/dialogue.ts';
import { search } from '../../../src/discover/search.ts';

const candidate = (name: string, ops: Candidate['ops']): Candidate => ({
  file: 'trainer.py',
  name,
  line: 1,
  kind: 'function',
  parameters: [],
  ops,
});

async function turns(...candidates: readonly Candidate[]): Promise<string[]> {
  const names: string[] = [];
  await search({
    dialogue: {
      load: async () => ({ problem: 'nothing is imported here' }),
      restarts: () => 0,
    } as Partial<Dialogue> as Dialogue,
    project: { files: [], candidates, arrays: null },
    properties: [],
    signal: { aborted: false },
    onProgress: (_, __, name) => names.push(name),
  });
  return names;
}

test('losses come before what more is said of', async () => {
  const names = await turns(
    candidate('whiten', { whiten: 12 }),
    candidate('grpo_loss', { loss: 6, kl: 2 }),
    candidate('compute_gae', { gae: 20 }),
    candidate('dpo_loss', { preference_loss: 8 }),
  );
  expect(names).toEqual(['dpo_loss', 'grpo_loss', 'compute_gae', 'whiten']);
});

test('log-probabilities, which other functions take, come before them', async () => {
  const names = await turns(
    candidate('ce_loss', { sft_loss: 9 }),
    candidate('value_loss', { value_loss: 7, loss: 7 }),
    candidate('selective_log_softmax', { logprobs: 5 }),
  );
  expect(names).toEqual(['selective_log_softmax', 'ce_loss', 'value_loss']);
});

test('what no name says anything of comes last', async () => {
  const names = await turns(
    candidate('f', {}),
    candidate('helper', { logprobs: 0, loss: 0 }),
    candidate('pack', { pack: 1 }),
    candidate('sft_loss', { sft_loss: 3 }),
  );
  expect(names).toEqual(['sft_loss', 'pack', 'f', 'helper']);
});
