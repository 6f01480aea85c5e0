// Logs about rewards and groups.
import { CUT } from '../healthy.ts';
import { inSteps } from '../watching.ts';
import { answer, fine, type Logs, question, sample, times } from './log.ts';

export const rewardsLogs: Logs = {
  'rewards-of-samples-are-numbers': [
    {
      name: 'a reward is NaN',
      samples: inSteps(
        times(16, (at) => sample({ completion: answer(at), reward: at === 5 ? Number.NaN : 1 })),
        8,
      ),
      kind: 'reward',
      says: /line 6, which has the reward NaN/,
    },
    {
      name: 'an advantage is infinite',
      samples: inSteps(
        times(16, (at) => ({ ...fine(at), ...(at === 2 ? { advantage: Number.NEGATIVE_INFINITY } : {}) })),
        8,
      ),
      kind: 'advantage',
    },
    {
      name: 'a judge that failed, noticed by the trainer',
      samples: inSteps(
        times(16, (at) =>
          sample({ completion: answer(at), reward: at === 5 ? Number.NaN : 1, advantage: 0 }),
        ),
        8,
      ),
    },
    { name: 'numbers', samples: inSteps(times(16, fine), 8) },
  ],
  'completions-of-a-prompt-differ': [
    {
      name: 'a temperature of 0',
      samples: inSteps(
        times(32, (at) =>
          sample({
            prompt: question(Math.floor(at / 4)),
            completion: `${answer(Math.floor(at / 4) % 6)} and so on`,
          }),
        ),
        16,
      ),
      kind: 'equal completions',
    },
    {
      name: 'the same, no step told',
      samples: times(96, (at) => sample({ prompt: `${at >> 2}`, completion: `${CUT} ${at >> 2}` })),
      kind: 'equal completions',
    },
    {
      name: 'they differ',
      samples: inSteps(
        times(32, (at) => sample({ prompt: question(Math.floor(at / 4)), completion: answer(at) })),
        16,
      ),
    },
    {
      name: 'a word each',
      samples: inSteps(
        times(32, (at) => sample({ prompt: question(Math.floor(at / 4)), completion: 'Yes.' })),
        16,
      ),
    },
    {
      name: 'some of the prompts',
      samples: inSteps(
        times(32, (at) =>
          sample({ prompt: question(Math.floor(at / 4)), completion: at % 8 < 4 ? CUT : `${at} ${CUT}` }),
        ),
        16,
      ),
    },
    {
      name: 'a table that is written again with each step',
      samples: times(4, (file) =>
        times(12, (at) => ({ ...fine(at), step: 1, where: `table_${file}.jsonl line ${at + 1}` })),
      ).flat(),
    },
    { name: 'each prompt once', samples: inSteps(times(12, fine), 12) },
    {
      name: 'greedy evaluation',
      samples: inSteps(
        times(32, (at) => sample({ prompt: question(Math.floor(at / 4)), completion: CUT })),
        16,
      ).map((each) => ({ ...each, where: `validation/${each.step}.jsonl line 1` })),
    },
  ],
  'rewards-of-samples-differ': [
    {
      name: 'always -1',
      samples: inSteps(
        times(160, (at) => ({ ...fine(at), reward: -1, advantage: 0 })),
        32,
      ),
      kind: 'one reward',
      says: /all have the reward -1/,
    },
    {
      name: 'always -1 from step 4 on',
      samples: inSteps(
        times(320, (at) => ({ ...fine(at), ...(at < 96 ? {} : { reward: -1, advantage: 0 }) })),
        32,
      ),
      kind: 'one reward',
      says: /rollouts\/\d+\.jsonl/,
    },
    {
      name: 'few are paid',
      samples: inSteps(
        times(320, (at) => ({ ...fine(at), reward: at % 100 === 99 ? 1 : 0, advantage: 0 })),
        32,
      ),
    },
    {
      name: 'a teacher is learned from, and rewards are not',
      samples: inSteps(
        times(320, (at) => ({ ...fine(at), reward: 0, advantage: (at % 5) - 2 })),
        32,
      ),
    },
    {
      name: 'one large step',
      samples: inSteps(
        times(256, (at) => ({ ...fine(at), reward: 0, advantage: 0 })),
        256,
      ),
    },
    {
      name: 'one prompt and one answer',
      samples: inSteps(
        times(256, () => sample({ prompt: 'p', completion: 'Yes.', reward: 1 })),
        16,
      ),
    },
  ],
};
