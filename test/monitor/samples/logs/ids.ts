// Logs about ids and texts.
import { families } from '../../../../src/tokenizers/load.ts';
import { CUT } from '../healthy.ts';
import { family, inSteps, sampleWithIds } from '../watching.ts';
import { answer, eot, ids, type Log, type Logs, llama, question, sample, times } from './log.ts';

export const idsLogs: Logs = {
  'texts-are-those-of-their-ids': [
    {
      name: 'texts of the row before',
      samples: inSteps(
        times(11, (at) => ({
          ...sampleWithIds(llama, question(at), answer(at)),
          completion: answer(at + 1),
        })),
        11,
      ),
      tokens: llama.tokens,
      kind: 'text of another row',
    },
    {
      name: 'the first token lost',
      samples: inSteps(
        times(11, (at) => {
          const made = sampleWithIds(llama, question(at), `Well, ${CUT.slice(at)}`);
          return { ...made, completionIds: made.completionIds?.slice(1) ?? [] };
        }),
        11,
      ),
      tokens: llama.tokens,
      kind: 'first token lost',
    },
    ...families.map(
      (name): Log => ({
        name: `text and ids of one row, ${name}`,
        samples: inSteps(
          times(24, (at) => sampleWithIds(family(name), question(at), answer(at))),
          12,
        ),
        tokens: family(name).tokens,
      }),
    ),
    {
      name: 'thoughts left out of the text',
      samples: inSteps(
        times(12, (at) => ({
          ...sampleWithIds(llama, question(at), `<think>\n${CUT}\n</think>\n\n${CUT.slice(at, 90)}`),
          completion: CUT.slice(at, 90),
        })),
        12,
      ),
      tokens: llama.tokens,
    },
    {
      name: 'a thought that the prompt opened stands in the text',
      samples: inSteps(
        times(12, (at) => ({
          ...sampleWithIds(llama, question(at), `${CUT}</think>${answer(at)}`),
          completion: `<think>\n${CUT}</think>${answer(at)}`,
        })),
        12,
      ),
      tokens: llama.tokens,
    },
    {
      name: 'text cut at a stop text',
      samples: inSteps(
        times(12, (at) => ({
          ...sampleWithIds(llama, question(at), `${CUT}\nUser: and then`),
          completion: CUT,
        })),
        12,
      ),
      tokens: llama.tokens,
    },
  ],
  'prompts-begin-with-one-bos': [
    {
      name: 'the template and the tokenizer both write it',
      samples: inSteps(
        times(8, (at) => {
          const made = sampleWithIds(llama, question(at), answer(at));
          return { ...made, promptIds: [llama.tokens.bosId ?? 0, ...(made.promptIds ?? [])] };
        }),
        8,
      ),
      tokens: llama.tokens,
      kind: 'double BOS',
    },
    {
      name: 'behind padding',
      samples: inSteps(
        times(8, (at) => {
          const made = sampleWithIds(llama, question(at), answer(at));
          return {
            ...made,
            promptIds: [
              ...times(at, () => llama.tokens.padId ?? 0),
              llama.tokens.bosId ?? 0,
              ...(made.promptIds ?? []),
            ],
          };
        }),
        8,
      ),
      tokens: llama.tokens,
      kind: 'double BOS',
    },
    {
      name: 'as text',
      samples: inSteps(
        times(8, (at) =>
          sample({ prompt: `<|begin_of_text|>${llama.ask(question(at))}`, completion: 'Yes.' }),
        ),
        8,
      ),
      kind: 'double BOS',
    },
    ...families.map(
      (name): Log => ({
        name: `once, ${name}`,
        samples: inSteps(
          times(8, (at) => sampleWithIds(family(name), question(at), answer(at))),
          8,
        ),
        tokens: family(name).tokens,
      }),
    ),
    {
      name: 'padded with BOS',
      samples: inSteps(
        times(8, (at) => sample({ prompt: `${'<s>'.repeat(3 + at)}${question(at)}`, completion: 'Yes.' })),
        8,
      ),
    },
  ],
  'prompt-ids-are-canonical': [
    {
      name: 'put together from letters',
      samples: inSteps(
        times(8, (at) =>
          sample({ promptIds: [...question(at)].flatMap((letter) => ids(letter)), completionIds: [1] }),
        ),
        8,
      ),
      tokens: llama.tokens,
      kind: 'seam',
    },
    ...families.map(
      (name): Log => ({
        name: `as the template writes them, ${name}`,
        samples: inSteps(
          times(12, (at) => sampleWithIds(family(name), question(at), answer(at))),
          12,
        ),
        tokens: family(name).tokens,
      }),
    ),
    {
      name: 'an earlier answer in the prompt, as it was sampled',
      samples: inSteps(
        times(12, (at) =>
          sample({
            promptIds: [
              ...ids(llama.ask(question(at))),
              ...[...answer(at)].flatMap((letter) => ids(letter)),
              eot,
              ...ids('<|start_header_id|>user<|end_header_id|>\n\nGo on<|eot_id|>'),
            ],
            completionIds: [1],
          }),
        ),
        12,
      ),
      tokens: llama.tokens,
    },
  ],
};
