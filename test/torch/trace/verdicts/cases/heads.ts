// Heads that are no module, or no part of the module that takes the ids: found by the gradient that comes back to the hidden states.
import { ANSWERS } from '../correct.ts';
import { PAIRS } from '../data.ts';
import { tokenMean } from '../exact.ts';
import type { Cases, CleanCase, FaultyCase } from '../kinds.ts';

const script = (kind: string, options = `${ANSWERS} --strict`): CleanCase => ({
  words: `steps/heads.py --data {data} --kind ${kind}`,
  data: PAIRS,
  options,
});

const wrong = (kind: string, fault: string, [found, says]: readonly [string, RegExp]): FaultyCase => ({
  ...script(kind, ANSWERS),
  words: `steps/heads.py --data {data} --kind ${kind} --fault ${fault}`,
  found,
  says,
});

const KINDS = ['parameter', 'inside', 'inside-tied', 'apart', 'apart-tied', 'apart-parameter'];
const PROMPT = ['tokenize/prompt-is-not-trained', /belongs to the prompt/] as const;
const STOP = ['tokenize/stop-token-is-trained', /is not trained itself/] as const;
const SAME = ['trace/target-is-the-next-token', /the token that the model had just read/] as const;

export const heads: Cases = {
  clean: {
    ...Object.fromEntries(
      KINDS.map((kind) => [`a head by hand: ${kind}`, { ...script(kind), exact: tokenMean(PAIRS) }]),
    ),
    'a scalar head apart from its body is no language model': { ...script('scalar'), nothing: true },
    'embeddings of texts are no language model': { ...script('pooled'), nothing: true },
  },
  faulty: {
    'a bare parameter: the prompt': wrong('inside', 'prompt', PROMPT),
    "the embedding's weight inside: the stop token": wrong('inside-tied', 'stop', STOP),
    'a layer apart: no shift': wrong('apart', 'same-token', SAME),
    'a layer apart: the prompt': wrong('apart', 'prompt', PROMPT),
    "the embedding's weight apart: the prompt": wrong('apart-tied', 'prompt', PROMPT),
    'a parameter apart: the stop token': wrong('apart-parameter', 'stop', STOP),
  },
};
