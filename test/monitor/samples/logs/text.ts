// Logs about what is written.
import { ANSWERS, CUT } from '../healthy.ts';
import { inSteps } from '../watching.ts';
import { answer, eot, fine, ids, type Logs, llama, sample, texts, times } from './log.ts';

/** A number from 0 to 1, the same for the same sample, and without a pattern over samples. */
const chance = (at: number): number => Math.abs((Math.sin(at * 12.9898) * 43758.5453) % 1);

export const textLogs: Logs = {
  'completions-do-not-repeat-themselves': [
    {
      name: '!!!!',
      samples: texts(times(16, (at) => (at % 2 === 0 ? '!'.repeat(200 + at) : answer(at)))),
      kind: 'repetition',
      says: /'!' 200 times in a row/,
    },
    {
      name: '!!!! behind a good beginning',
      samples: texts(times(16, (at) => `${(ANSWERS[0] ?? '').slice(0, 60)}${'!'.repeat(300 + at)}`)),
      kind: 'repetition',
    },
    {
      name: 'one sentence over and over',
      samples: texts(times(16, () => 'I think that this is right. '.repeat(30))),
      kind: 'repetition',
    },
    {
      name: 'one token, ids without a tokenizer',
      samples: inSteps(
        times(16, (at) => sample({ completionIds: [...times(60 + at, () => 0), 5] })),
        8,
      ),
      kind: 'repetition',
    },
    {
      name: 'ids in a cycle',
      samples: inSteps(
        times(16, (at) =>
          sample({ completionIds: [...ids('So'), ...times(120 + at, (n) => 300 + (n % 3)), eot] }),
        ),
        8,
      ),
      tokens: llama.tokens,
      kind: 'repetition',
    },
    { name: 'healthy answers', samples: inSteps(times(48, fine), 12) },
    {
      name: 'one of a step',
      samples: texts(times(32, (at) => (at % 8 === 0 ? '!'.repeat(300) : answer(at)))),
    },
    { name: 'a laugh', samples: texts(times(16, () => 'ha '.repeat(12))) },
    {
      name: 'a rule of a table under a text',
      samples: texts(times(16, () => `${CUT}\n${'-'.repeat(80)}\n${CUT}`)),
    },
    {
      name: 'a table of zeros after its derivation',
      samples: texts(times(16, () => `${CUT}\n${'0 & 0 & 0 \\\\\n'.repeat(10)}`)),
    },
    {
      name: 'what was asked for',
      samples: texts(
        times(16, () => 'ab '.repeat(60)),
        'Write "ab ab ab " sixty times',
      ),
    },
    { name: 'a poem with its refrain', samples: texts(times(16, () => ANSWERS[5] ?? '')) },
    {
      name: 'padding behind the answer',
      samples: inSteps(
        times(16, (at) => sample({ completionIds: [...ids(answer(at)), ...times(200, () => 0)] })),
        8,
      ),
    },
  ],
  'tool-calls-are-well-formed': [
    {
      name: 'calls break',
      samples: texts(
        times(192, (at) =>
          at < 96
            ? (ANSWERS[7] ?? '')
            : '<tool_call>\n{"name": "get_weather", "arguments": {"city": Oslo}\n</tool_call>',
        ),
      ),
      kind: 'calls broke',
      says: /is no JSON/,
    },
    {
      name: 'calls never parse',
      samples: texts(times(400, () => "<tool_call>{'name': 'f', 'arguments': {}}</tool_call>")),
      kind: 'calls never parse',
    },
    {
      name: 'a call without a name',
      samples: texts(times(400, () => '<tool_call>{"city": "Oslo"}</tool_call>')),
      kind: 'calls never parse',
    },
    { name: 'well-formed', samples: texts(times(48, () => ANSWERS[7] ?? '')) },
    {
      name: 'the format is being learned',
      samples: texts(
        times(320, (at) =>
          at % 8 > 7 - at / 40 ? (ANSWERS[7] ?? '') : '<tool_call>get the weather</tool_call>',
        ),
      ),
    },
    {
      name: 'a third of them malformed, by chance',
      samples: texts(
        times(3200, (at) =>
          chance(at) < 0.35 ? '<tool_call>get the weather</tool_call>' : (ANSWERS[7] ?? ''),
        ),
      ),
    },
    {
      name: 'tags inside, as Qwen3-Coder writes',
      samples: texts(
        times(
          120,
          () =>
            '<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>',
        ),
      ),
    },
    {
      name: 'a name alone, as GLM writes',
      samples: texts(times(400, () => '<tool_call>get_time</tool_call>')),
    },
    {
      name: 'cut in the middle',
      samples: inSteps(
        times(400, () => sample({ completion: 'I look. <tool_call>\n{"name": "get_wea', finish: 'length' })),
        8,
      ),
    },
    {
      name: 'the closing tag is a stop text',
      samples: inSteps(
        times(400, () =>
          sample({ completion: '<tool_call>\n{"name": "f", "arguments": {}}\n', finish: 'stop' }),
        ),
        8,
      ),
    },
    {
      name: 'spoken of in a thought',
      samples: texts(
        times(
          120,
          () =>
            '<think>I write <tool_call> and then JSON</think>\n<tool_call>{"name": "f", "arguments": {}}</tool_call>',
        ),
      ),
    },
  ],
};
