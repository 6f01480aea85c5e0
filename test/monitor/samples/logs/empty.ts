// Logs about nothing, and too much.
import { CUT } from '../healthy.ts';
import { inSteps } from '../watching.ts';
import { answer, eot, fine, ids, type Logs, llama, question, sample, texts, times } from './log.ts';

export const emptyLogs: Logs = {
  'completions-are-not-empty': [
    {
      name: 'stops at once',
      samples: texts(times(16, (at) => (at % 4 === 0 ? answer(at) : ''))),
      kind: 'empty completion',
    },
    {
      name: 'stops at once, ids',
      samples: inSteps(
        times(16, () => sample({ completionIds: [eot, eot] })),
        8,
      ),
      tokens: llama.tokens,
      kind: 'empty completion',
    },
    { name: 'some are', samples: texts(times(32, (at) => (at % 4 === 0 ? '' : answer(at)))) },
    { name: 'one word each', samples: texts(times(16, () => 'Yes')) },
    {
      name: 'nothing but a call',
      samples: texts(times(16, () => '<tool_call>\n{"name": "stop", "arguments": {}}\n</tool_call>')),
    },
  ],
  'prompts-are-not-empty': [
    {
      name: 'eaten by truncation',
      samples: inSteps(
        times(16, (at) => sample({ prompt: at % 3 === 0 ? '' : question(at), completion: answer(at) })),
        8,
      ),
      kind: 'empty prompt',
    },
    { name: 'there', samples: inSteps(times(16, fine), 8) },
    {
      name: 'one of a step',
      samples: inSteps(
        times(64, (at) => ({ ...fine(at), ...(at === 9 ? { prompt: '' } : {}) })),
        32,
      ),
    },
  ],
  'completions-end-before-the-limit': [
    {
      name: 'all cut',
      samples: inSteps(
        times(320, (at) => sample({ completion: CUT.slice(at % 90), finish: 'length' })),
        16,
      ),
      kind: 'limit',
    },
    {
      name: 'all of one length and no stop token',
      samples: inSteps(
        times(320, (at) => sample({ completionIds: ids(CUT).slice(at % 3, (at % 3) + 40) })),
        16,
      ),
      tokens: llama.tokens,
      kind: 'limit',
    },
    {
      name: 'stop tokens left out of all',
      samples: inSteps(
        times(320, (at) => sample({ completionIds: ids(answer(at)) })),
        16,
      ),
      tokens: llama.tokens,
    },
    {
      name: 'half of them',
      samples: inSteps(
        times(320, (at) => sample({ completion: CUT, finish: at % 2 === 0 ? 'length' : 'stop' })),
        16,
      ),
    },
  ],
};
