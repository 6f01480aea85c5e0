// First or last token of completions: the gap is wide there, to either side.
import type { Cause, Fit } from '../cause.ts';
import { NO_FIT, widthsOf } from '../score.ts';
import { gapAt, type Tokens } from '../tokens.ts';
import { rounded } from './curves.ts';

export const firstToken: Cause = {
  id: 'first-token',
  fitTo: (tokens, { places }) =>
    fitPlace(
      tokens,
      places,
      (at) => tokens.position[at] === 0,
      (times) => ({
        sentence: `The first token of completions has ${times} times the gap of the others: the two sides join prompt and completion differently (a token of the generation prompt, a space, or the prompt's last position).`,
        experiment: 'decode the last 5 prompt ids and the first completion id of one row on each side',
      }),
    ),
};

export const lastToken: Cause = {
  id: 'last-token',
  fitTo: (tokens, { places }) =>
    fitPlace(
      tokens,
      places,
      (at) => tokens.after[at] === 0,
      (times) => ({
        sentence: `The last token of completions has ${times} times the gap of the others: the stop token is another one on the trainer's side, or it is cut off and appended again.`,
        experiment:
          'compare the last completion id and its log-probability of one row on each side; include_stop_str_in_output changes it in vLLM',
      }),
    ),
};

// --- helpers ---

function fitPlace(
  tokens: Tokens,
  places: Uint32Array,
  isThere: (at: number) => boolean,
  words: (times: string) => Pick<Fit, 'sentence' | 'experiment'>,
): Fit | undefined {
  const there = places.filter(isThere);
  const others = places.filter((at) => !isThere(at));
  if (there.length < LEAST_TOKENS || others.length === 0) return undefined;
  const noise = widthsOf(tokens, NO_FIT, others);
  let sum = 0;
  for (const at of there) sum += Math.abs(gapAt(tokens, at)) / noise(at);
  let usual = 0;
  for (const at of others) usual += Math.abs(gapAt(tokens, at)) / noise(at);
  const times = sum / there.length / (usual / others.length);
  if (!(times > LEAST_TIMES)) return undefined;
  return {
    parameters: { times },
    width: (at) => (isThere(at) ? times : 1),
    ...words(rounded(times)),
  };
}

const LEAST_TOKENS = 8;
/** Prefill and decoding use other kernels: a first token may be twice as noisy in a correct run. */
const LEAST_TIMES = 3;
