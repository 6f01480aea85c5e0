// Logs about where completions begin.
import { families } from '../../../../src/tokenizers/load.ts';
import { ANSWERS } from '../healthy.ts';
import { family, inSteps } from '../watching.ts';
import {
  answer,
  fine,
  type Log,
  type Logs,
  llama,
  PLAIN,
  padded,
  question,
  qwen,
  sample,
  texts,
  times,
} from './log.ts';

export const startLogs: Logs = {
  'completions-begin-behind-the-header': [
    ...families.map(
      (name): Log => ({
        name: `cut by the count of tokens, ids, ${name}`,
        samples: padded(family(name), false),
        tokens: family(name).tokens,
        kind: 'header',
      }),
    ),
    {
      name: 'the same, special tokens skipped as TRL does, qwen',
      samples: padded(qwen, true),
      kind: 'header',
      says: /rollouts\/1\.jsonl line 1/,
    },
    { name: 'the same, special tokens skipped, llama3', samples: padded(llama, true), kind: 'header' },
    {
      name: 'the same as text, without a tokenizer',
      samples: texts(times(8, (at) => `<|start_header_id|>assistant<|end_header_id|>\n\n${answer(at)}`)),
      kind: 'header',
    },
    {
      name: 'cut inside the header',
      samples: texts(times(8, (at) => `assistant<|end_header_id|>\n\n${answer(at)}`)),
      tokens: llama.tokens,
      kind: 'header',
    },
    {
      name: 'a template of Mistral, no tokenizer',
      samples: texts(times(8, (at) => `[/INST] ${answer(at)}`)),
      kind: 'header',
    },
    {
      name: 'one of a step',
      samples: texts(times(16, (at) => (at === 3 ? '<|im_start|>user\nhello' : answer(at)))),
    },
    { name: 'headers spoken of', samples: texts(times(16, () => ANSWERS[6] ?? '')) },
    {
      name: 'turns of a tool in the middle',
      samples: texts(
        times(
          8,
          () =>
            'I look.<|im_end|>\n<|im_start|>user\n<tool_response>\n4\n</tool_response><|im_end|>\n<|im_start|>assistant\nIt is 4.',
        ),
      ),
    },
    {
      name: 'channels of gpt-oss',
      samples: texts(
        times(
          8,
          () => '<|channel|>analysis<|message|>2 and 2<|end|><|start|>assistant<|channel|>final<|message|>4',
        ),
      ),
    },
    {
      name: 'the thought opened again',
      samples: inSteps(
        times(8, (at) =>
          sample({ prompt: `${qwen.ask(question(at))}<think>\n`, completion: `<think>\n${answer(at)}` }),
        ),
        8,
      ),
    },
    {
      name: 'an answer that begins with the word assistant',
      samples: texts(times(8, () => 'assistant\nprofessors teach, and help others to.')),
    },
  ],
  'completions-begin-behind-the-prompt': [
    {
      name: 'plain text, cut too early',
      samples: inSteps(
        times(12, (at) =>
          sample({ prompt: PLAIN, completion: `${PLAIN.slice(-60 - at)}? He keeps sixteen.` }),
        ),
        6,
      ),
      kind: 'prompt',
      says: /last 60 of the \d+ characters/,
    },
    {
      name: 'ids without a tokenizer',
      samples: inSteps(
        times(12, (at) =>
          sample({
            promptIds: times(40, (n) => 100 + n),
            completionIds: [...times(20 - at, (n) => 120 + at + n), 7, 8, 9],
          }),
        ),
        6,
      ),
      kind: 'prompt',
    },
    {
      name: 'the whole prompt',
      samples: inSteps(
        times(12, (at) => sample({ prompt: `${at} ${PLAIN}`, completion: `${at} ${PLAIN}? ${answer(at)}` })),
        6,
      ),
      kind: 'prompt',
    },
    {
      name: 'a task of repeating',
      samples: inSteps(
        times(12, (at) => sample({ prompt: `Repeat: ${at} ${PLAIN}`, completion: `${at} ${PLAIN}` })),
        6,
      ),
    },
    {
      name: 'the question quoted and answered',
      samples: inSteps(
        times(12, () =>
          sample({
            prompt: `Read this. What is the capital of the country in the north?`,
            completion: 'What is the capital of the country in the north? It is Oslo.',
          }),
        ),
        6,
      ),
    },
    {
      name: 'a prompt that ends with Answer:',
      samples: inSteps(
        times(12, () => sample({ prompt: `${PLAIN}?\nAnswer:`, completion: 'Answer: 16' })),
        6,
      ),
    },
    {
      name: 'dots that go on',
      samples: inSteps(
        times(12, () =>
          sample({ prompt: `Continue ${'. '.repeat(40)}`, completion: `${'. '.repeat(30)}and so on` }),
        ),
        6,
      ),
    },
    {
      name: 'one of a step',
      samples: inSteps(
        times(12, (at) =>
          at === 0 ? sample({ prompt: PLAIN, completion: `${PLAIN.slice(-70)}? So.` }) : fine(at),
        ),
        6,
      ),
    },
  ],
};
