// Golden cases of numbers that stand beside the tokens of a batch: KL, losses, rewards, values, whitening. Every number is a
// multiple of 1/16, written down or made by `grid`, so that it is the same in every precision and on every platform.
import type { World } from '../../check/property.ts';
import type { Args, Op } from '../../protocol/message.ts';
import type { Matrix } from '../../vocabulary.ts';
import { type GoldenCase, goldenCase } from '../case.ts';

/** (B, T): value n of the grid, in reading order, is from + ((n * step) mod 16) / 16; `step` is odd, so that 16 differ. */
function grid(rows: number, columns: number, from: number, step: number): number[][] {
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (_, column) => from + (((row * columns + column) * step) % 16) / 16),
  );
}

const PROMPT_WIDTH = 2;
/** Two rows: one of four tokens, one of two and padding behind. */
const PLAIN: Matrix = [
  [0, 0, 1, 1, 1, 1],
  [0, 0, 1, 1, 0, 0],
];
/** Where a tool wrote in the middle of the first row, and the second has one token. */
const GAPS: Matrix = [
  [0, 0, 1, 0, 1, 1],
  [0, 0, 1, 0, 0, 0],
];

/** Two rows of two trained columns: what is of rows can be taken for what is of columns. */
const SQUARE: Matrix = [
  [0, 0, 0, 0, 1, 1],
  [0, 0, 0, 0, 1, 0],
];

/** Log-probabilities of policy, behaviour policy and reference: -2 to -1, near to each other, never equal. */
function tracks(completion_mask: Matrix, spread = 1) {
  const logprobs = grid(2, 6, -2, 5);
  return {
    logprobs,
    old_logprobs: logprobs.map((row, at) =>
      row.map((value, column) => value + (spread * (((at + column) % 3) - 1)) / 8),
    ),
    ref_logprobs: logprobs.map((row, at) => row.map((value, column) => value - ((at + 2 * column) % 5) / 16)),
    completion_mask,
    prompt_width: PROMPT_WIDTH,
  };
}

const klCases: readonly GoldenCase[] = [
  goldenCase('kl/completions', 'kl', () => tracks(PLAIN)),
  goldenCase('kl/gap-of-a-tool', 'kl', () => tracks(GAPS)),
  ...(['k1', 'k2', 'k3', 'abs'] as const).map((name) =>
    goldenCase(`kl/estimator-${name}`, 'kl', ({ hello }) =>
      hello.ops.kl?.kl_estimator?.includes(name)
        ? { ...tracks(PLAIN), kl_estimator: name }
        : `op \`kl\` cannot be asked for the estimator ${name}`,
    ),
  ),
];

/** Far enough off the behaviour policy that ratios are clipped on both sides. */
const FAR = 4;
/** Beyond the second bound of a dual clip, which is 3 and more. */
const FARTHER = 16;

function lossArgs(mask: Matrix, spread = 1): Args<'loss'> {
  return { ...tracks(mask, spread), advantages: [1, -0.5], micro_batches: [[0, 1]] };
}

const offered = (
  op: Op,
  name: 'ranks' | 'micro_batches' | 'entropy',
  { hello }: World,
): string | undefined =>
  hello.ops[op]?.[name] === true ? undefined : `op \`${op}\` does not take \`${name}\``;

const lossCases: readonly GoldenCase[] = [
  goldenCase('loss/one-batch', 'loss', () => lossArgs(PLAIN)),
  goldenCase('loss/clipped-ratios', 'loss', () => lossArgs(PLAIN, FAR)),
  goldenCase('loss/gap-of-a-tool', 'loss', () => lossArgs(GAPS)),
  goldenCase('loss/far-ratios', 'loss', () => lossArgs(PLAIN, FARTHER)),
  goldenCase('loss/row-without-tokens', 'loss', () =>
    lossArgs(PLAIN.map((row, b) => (b === 1 ? row.map(() => 0) : row))),
  ),
  goldenCase('loss/as-many-rows-as-columns', 'loss', () => ({ ...lossArgs(SQUARE), prompt_width: 4 })),
  goldenCase('loss/on-policy', 'loss', () => lossArgs(PLAIN, 0)),
  goldenCase(
    'loss/micro-batches',
    'loss',
    (world) => offered('loss', 'micro_batches', world) ?? { ...lossArgs(PLAIN), micro_batches: [[0], [1]] },
  ),
  goldenCase(
    'loss/two-ranks',
    'loss',
    (world) => offered('loss', 'ranks', world) ?? { ...lossArgs(PLAIN), ranks: [[0], [1]] },
  ),
  goldenCase(
    'loss/entropy-bonus',
    'loss',
    (world) => offered('loss', 'entropy', world) ?? { ...lossArgs(PLAIN), entropy: grid(2, 6, 1, 3) },
  ),
];

const SETTINGS = ['kl', 'advantages', 'loss'] as const;

/** The first and the last value of each setting that an op lists; and first and last in turns, which of them is which. */
function knobCases(): GoldenCase[] {
  return SETTINGS.flatMap((op) =>
    (['first', 'last', 'mixed'] as const).map((which) =>
      goldenCase(`${op}/settings-${which}`, op, ({ hello }) => {
        const knobs = Object.entries(hello.ops[op]?.knobs ?? {});
        if (knobs.length === 0) return `op \`${op}\` lists no settings`;
        const settings = Object.fromEntries(
          knobs.map(([name, values], at) => {
            const isFirst = which === 'mixed' ? at % 2 === 0 : which === 'first';
            return [name, values.at(isFirst ? 0 : -1) ?? 0];
          }),
        );
        if (op === 'advantages')
          return { rewards: rewardsOf(2, hello.ops), ...groupsOf(2, hello.ops), settings };
        if (op === 'kl') return { ...tracks(PLAIN), settings };
        const entropy = hello.ops.loss?.entropy === true ? { entropy: grid(2, 6, 1, 3) } : {};
        return { ...lossArgs(PLAIN, FAR), ...entropy, settings };
      }),
    ),
  );
}

type Ops = World['hello']['ops'];
/** Rows a group, where the trainer is not fixed to another number. */
const GROUP = 3;
const sizeOf = (ops: Ops): number => ops.advantages?.group_size ?? GROUP;

/** Eighths, no two of eight next to each other alike. */
function rewardsOf(groups: number, ops: Ops): number[] {
  return Array.from({ length: groups * sizeOf(ops) }, (_, at) => ((at * 3) % 8) / 8);
}

function groupsOf(groups: number, ops: Ops): { group_ids: number[]; prompt_ids: number[][] } {
  const group_ids = Array.from({ length: groups * sizeOf(ops) }, (_, at) => Math.floor(at / sizeOf(ops)));
  return { group_ids, prompt_ids: group_ids.map((group) => [FIRST_PROMPT + group, FIRST_PROMPT]) };
}

/** Ids that only tell prompts apart. */
const FIRST_PROMPT = 5;

const advantageCases: readonly GoldenCase[] = [
  goldenCase('advantages/two-groups', 'advantages', ({ hello: { ops } }) => ({
    rewards: rewardsOf(2, ops),
    ...groupsOf(2, ops),
  })),
  goldenCase('advantages/equal-rewards', 'advantages', ({ hello: { ops } }) => ({
    rewards: rewardsOf(2, ops).map((reward, at) => (at < sizeOf(ops) ? 0.5 : reward)),
    ...groupsOf(2, ops),
  })),
  goldenCase('advantages/right-or-wrong', 'advantages', ({ hello: { ops } }) => ({
    rewards: rewardsOf(2, ops).map((_, at) => (at % sizeOf(ops) === 0 ? 1 : 0)),
    ...groupsOf(2, ops),
  })),
  goldenCase('advantages/interleaved-groups', 'advantages', ({ hello: { ops } }) => {
    if (ops.advantages?.interleaved_groups !== true)
      return 'op `advantages` takes groups that stand together';
    const group_ids = rewardsOf(2, ops).map((_, at) => at % 2);
    return {
      rewards: rewardsOf(2, ops),
      group_ids,
      prompt_ids: group_ids.map((group) => [FIRST_PROMPT + group, FIRST_PROMPT]),
    };
  }),
  goldenCase('advantages/two-ranks', 'advantages', (world) => {
    const { ops } = world.hello;
    const rows = rewardsOf(2, ops).map((_, at) => at);
    // Every group has rows on both.
    const [even, odd] = [rows.filter((at) => at % 2 === 0), rows.filter((at) => at % 2 === 1)];
    return (
      offered('advantages', 'ranks', world) ?? {
        rewards: rewardsOf(2, ops),
        ...groupsOf(2, ops),
        ranks: [even, odd],
      }
    );
  }),
  goldenCase('advantages/small-differences', 'advantages', ({ hello: { ops } }) => ({
    rewards: rewardsOf(2, ops).map((reward) => 0.5 + reward / 8),
    ...groupsOf(2, ops),
  })),
  goldenCase('advantages/one-prompt-twice', 'advantages', ({ hello: { ops } }) => {
    const { group_ids, prompt_ids } = groupsOf(2, ops);
    return { rewards: rewardsOf(2, ops), group_ids, prompt_ids: prompt_ids.map(() => [FIRST_PROMPT]) };
  }),
  goldenCase('advantages/groups-of-one', 'advantages', ({ hello: { ops } }) =>
    ops.advantages?.groups_of_one === true
      ? { rewards: [1, 0.25], group_ids: [0, 1], prompt_ids: [[FIRST_PROMPT], [FIRST_PROMPT + 1]] }
      : 'op `advantages` takes groups of several rows',
  ),
  goldenCase('clip_advantages/both-sides', 'clip_advantages', () => ({
    advantages: [0.5, -7, 5, 5.5, 0, -0.25],
    limit: 5,
  })),
  goldenCase('clip_advantages/nothing-beyond', 'clip_advantages', () => ({
    advantages: [0.5, -1],
    limit: 2,
  })),
];

const criticCases: readonly GoldenCase[] = [
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

function whitenArgs(completion_mask: Matrix): Args<'whiten'> {
  return { values: grid(2, 6, -1, 7), completion_mask, prompt_width: PROMPT_WIDTH };
}

export const trackCases: readonly GoldenCase[] = [
  ...klCases,
  ...criticCases,
  ...advantageCases,
  ...lossCases,
  ...knobCases(),
];
