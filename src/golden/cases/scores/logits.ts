// Golden cases of what is computed from logits: log-probabilities, entropy, the exact KL.
import type { Args } from '../../../protocol/message.ts';
import type { Matrix } from '../../../vocabulary.ts';
import { type GoldenCase, goldenCase } from '../../case.ts';
import { ATTENTION, COMPLETIONS, INPUT_IDS, logits, PROMPT_WIDTH } from '../inputs/logits.ts';

function logprobArgs(temperature: number): Args<'logprobs'> {
  return {
    input_ids: INPUT_IDS,
    attention_mask: ATTENTION,
    logits: logits(2, 5),
    prompt_width: PROMPT_WIDTH,
    temperature,
  };
}

const scored: readonly GoldenCase[] = [
  goldenCase('logprobs/temperature-one', 'logprobs', () => logprobArgs(1)),
  ...([0.5, 2] as const).map((temperature) =>
    goldenCase(`logprobs/temperature-${temperature}`, 'logprobs', ({ hello }) =>
      hello.ops.logprobs?.temperature === true
        ? logprobArgs(temperature)
        : 'op `logprobs` scores at temperature 1 only',
    ),
  ),
  goldenCase('logprobs/two-shards', 'logprobs', ({ hello }) =>
    hello.ops.logprobs?.shards === true
      ? {
          input_ids: INPUT_IDS.map((row) => row.slice(0, -1)),
          attention_mask: ATTENTION.map((row) => row.slice(0, -1)),
          logits: logits(2, 4),
          prompt_width: PROMPT_WIDTH,
          temperature: 1,
          shards: 2,
        }
      : 'op `logprobs` does not compute in shards',
  ),
];

const entropyArgs = (completion_mask: Matrix): Args<'entropy'> => ({
  input_ids: INPUT_IDS,
  attention_mask: ATTENTION,
  logits: logits(2, 5),
  completion_mask,
  prompt_width: PROMPT_WIDTH,
});

/** The reference's logits are those of the policy one row on. */
const fullKl: readonly GoldenCase[] = ([1, 0.5] as const).map((temperature) =>
  goldenCase(`full_kl/temperature-${temperature === 1 ? 'one' : temperature}`, 'full_kl', ({ hello }) =>
    temperature !== 1 && hello.ops.full_kl?.temperature !== true
      ? 'op `full_kl` is computed at temperature 1 only'
      : { ...entropyArgs(COMPLETIONS), ref_logits: logits(3, 5).slice(1), temperature },
  ),
);

const entropies: readonly GoldenCase[] = [
  goldenCase('entropy/completions', 'entropy', () => entropyArgs(COMPLETIONS)),
  goldenCase('entropy/gap-of-a-tool', 'entropy', () =>
    entropyArgs([
      [0, 0, 1, 0, 1],
      [0, 0, 0, 1, 0],
    ]),
  ),
];

export const logitCases: readonly GoldenCase[] = [...scored, ...entropies, ...fullKl];
