// Logs about how completions end.
import { ANSWERS, CUT } from '../healthy.ts';
import { inSteps } from '../watching.ts';
import { answer, eot, ids, type Logs, llama, sample, texts, times } from './log.ts';

export const stopsLogs: Logs = {
  'completions-end-at-their-stop-token': [
    {
      name: 'stop tokens in a row, and a pad token of its own',
      samples: inSteps(
        times(8, (at) => sample({ completionIds: [...ids(answer(at)), ...times(2 + at, () => eot)] })),
        8,
      ),
      tokens: { ...llama.tokens, padId: 3 },
      kind: 'repeated stop token',
    },
    {
      name: 'one stop token of two honoured: the model answers itself',
      samples: inSteps(
        times(8, (at) =>
          sample({
            completionIds: ids(
              `${answer(at)}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n${answer(at)}`,
            ),
          }),
        ),
        8,
      ),
      tokens: llama.tokens,
      kind: 'answers itself',
    },
    {
      name: 'the same as text',
      samples: texts(
        times(8, (at) =>
          `${answer(at + 6)}<|im_end|>\n<|im_start|>assistant\n${answer(at)}`.replaceAll(
            '`<|im_end|>`',
            'it',
          ),
        ),
      ),
      kind: 'answers itself',
    },
    {
      name: 'rows of a batch go on behind their stop',
      samples: inSteps(
        times(8, (at) => sample({ completionIds: [...ids('Yes.'), eot, ...ids(CUT.slice(at))] })),
        8,
      ),
      tokens: llama.tokens,
      kind: 'tokens after the stop',
    },
    {
      name: 'pad is eos',
      samples: inSteps(
        times(8, (at) => sample({ completionIds: [...ids('Yes.'), ...times(40 - at, () => eot)] })),
        8,
      ),
      tokens: { ...llama.tokens, padId: eot },
    },
    {
      name: 'a rectangle filled with eos, whatever pad is',
      samples: inSteps(
        times(8, (at) =>
          sample({ completionIds: [...ids('Yes.'), ...times(at, () => 5), ...times(40 - at, () => eot)] }),
        ),
        8,
      ),
      tokens: { ...llama.tokens, padId: 3 },
    },
    {
      name: 'several turns with tools',
      samples: inSteps(
        times(8, () =>
          sample({
            completionIds: ids(
              'I look.<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n4<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nIt is 4.<|eot_id|>',
            ),
          }),
        ),
        8,
      ),
      tokens: llama.tokens,
    },
    {
      name: 'the line end of the template behind the stop token',
      samples: inSteps(
        times(8, (at) => sample({ completionIds: [...ids(answer(at)), eot, ...ids('\n')] })),
        8,
      ),
      tokens: llama.tokens,
    },
    {
      name: 'channels of gpt-oss, whose answers are several messages',
      samples: inSteps(
        times(8, () =>
          sample({
            completionIds: ids(
              '2 and 2<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n4<|eot_id|>',
            ),
          }),
        ),
        8,
      ),
      tokens: {
        ...llama.tokens,
        headers: [...llama.tokens.headers, '<|start|>assistant<|channel|>final<|message|>'],
      },
    },
    {
      name: 'cut at the limit',
      samples: inSteps(
        times(8, () => sample({ completionIds: ids(CUT) })),
        8,
      ),
      tokens: llama.tokens,
    },
    { name: 'a stop token quoted', samples: texts(times(8, () => ANSWERS[6] ?? '')) },
    {
      name: 'text struck through in HTML',
      samples: texts(times(8, () => 'The old price was <s>40</s> and the new one is 30.')),
    },
    {
      name: 'padding kept in the text',
      samples: texts(
        times(8, (at) => `${answer(at + 7)}<|im_end|>${'<|endoftext|>'.repeat(at)}`).filter(
          (text) => !text.includes('`'),
        ),
      ),
    },
  ],
  'finish-reasons-fit-the-ids': [
    {
      name: 'EOS appended to what was cut',
      samples: inSteps(
        times(16, (at) => sample({ finish: 'length', completionIds: [...ids(CUT.slice(at)), eot] })),
        16,
      ),
      tokens: llama.tokens,
      kind: 'stop token appended',
    },
    {
      name: 'the stop token lost',
      samples: inSteps(
        times(32, (at) =>
          sample({ finish: 'stop', completionIds: [...ids(answer(at)), ...(at < 16 ? [eot] : [])] }),
        ),
        16,
      ),
      tokens: llama.tokens,
      kind: 'stop token missing',
    },
    {
      name: 'stop tokens left out everywhere',
      samples: inSteps(
        times(32, (at) => sample({ finish: 'stop', completionIds: ids(answer(at)) })),
        16,
      ),
      tokens: llama.tokens,
    },
    {
      name: 'padding behind the stop token',
      samples: inSteps(
        times(32, (at) =>
          sample({ finish: 'stop', completionIds: [...ids(answer(at)), eot, ...times(at, () => 3)] }),
        ),
        16,
      ),
      tokens: { ...llama.tokens, padId: 3 },
    },
    {
      name: 'padding that is the stop token',
      samples: inSteps(
        times(32, (at) =>
          sample({ finish: 'stop', completionIds: [...ids(answer(at)), ...times(at + 1, () => eot)] }),
        ),
        16,
      ),
      tokens: { ...llama.tokens, padId: eot },
    },
    {
      name: 'a row full after several turns',
      samples: inSteps(
        times(16, () =>
          sample({
            finish: 'length',
            completionIds: [
              ...ids('I look.'),
              eot,
              ...ids('<|start_header_id|>ipython<|end_header_id|>\n\n4'),
              eot,
            ],
          }),
        ),
        16,
      ),
      tokens: llama.tokens,
    },
  ],
};
