// Golden cases of what a critic is trained with: rewards of tokens, advantages over its values, returns, whitening.
import type { Args } from '../../../protocol/message.ts';
import type { Matrix } from '../../../vocabulary.ts';
import { type GoldenCase, goldenCase } from '../../case.ts';
import { GAPS, grid, offered, PLAIN, PROMPT_WIDTH } from '../inputs/tracks.ts';

export const criticCases: readonly GoldenCase[] = [
  goldenCase('token_rewards/score-at-the-end', 'token_rewards', () => rewardArgs(PLAIN, 0)),
  goldenCase('token_rewards/less-kl', 'token_rewards', () => rewardArgs(PLAIN, 0.25)),
  goldenCase('token_rewards/gap-of-a-tool', 'token_rewards', () => rewardArgs(GAPS, 0.25)),
  goldenCase('token_rewards/process-rewards', 'token_rewards', ({ hello }) =>
    hello.ops.token_rewards?.process_rewards === true
      ? { ...rewardArgs(PLAIN, 0.25), process_rewards: grid(2, 6, -0.5, 3) }
      : 'op `token_rewards` takes no rewards of single tokens',
  ),
  goldenCase('gae/completions', 'gae', () => gaeArgs(PLAIN, 1, 0.5)),
  goldenCase('gae/discounted', 'gae', () => gaeArgs(PLAIN, 0.75, 0.5)),
  goldenCase('gae/gap-of-a-tool', 'gae', () => gaeArgs(GAPS, 1, 0.5)),
  goldenCase('returns/completions', 'returns', () => returnsArgs(PLAIN, 1)),
  goldenCase('returns/discounted', 'returns', () => returnsArgs(PLAIN, 0.75)),
  goldenCase('returns/gap-of-a-tool', 'returns', () => returnsArgs(GAPS, 0.75)),
  goldenCase('whiten/completions', 'whiten', () => whitenArgs(PLAIN)),
  goldenCase('whiten/gap-of-a-tool', 'whiten', () => whitenArgs(GAPS)),
  goldenCase('whiten/one-token', 'whiten', () =>
    whitenArgs(PLAIN.map((row, b) => row.map((_, t) => (b === 0 && t === 3 ? 1 : 0)))),
  ),
  goldenCase(
    'whiten/two-ranks',
    'whiten',
    (world) => offered('whiten', 'ranks', world) ?? { ...whitenArgs(PLAIN), ranks: [[0], [1]] },
  ),
];

function rewardArgs(completion_mask: Matrix, kl_coef: number): Args<'token_rewards'> {
  return {
    scores: [1, -0.5],
    process_rewards: completion_mask.map((row) => row.map(() => 0)),
    kl: grid(2, 6, -0.25, 7),
    completion_mask,
    prompt_width: PROMPT_WIDTH,
    kl_coef,
  };
}

function gaeArgs(completion_mask: Matrix, gamma: number, lam: number): Args<'gae'> {
  return {
    rewards: grid(2, 6, -0.5, 3),
    values: grid(2, 6, 0, 5),
    completion_mask,
    prompt_width: PROMPT_WIDTH,
    gamma,
    lam,
  };
}

function returnsArgs(completion_mask: Matrix, gamma: number): Args<'returns'> {
  return { rewards: grid(2, 6, -0.5, 3), completion_mask, prompt_width: PROMPT_WIDTH, gamma };
}

function whitenArgs(completion_mask: Matrix): Args<'whiten'> {
  return { values: grid(2, 6, -1, 7), completion_mask, prompt_width: PROMPT_WIDTH };
}
