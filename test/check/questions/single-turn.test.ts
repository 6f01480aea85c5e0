// A mask that is read as a length is right where a completion is one answer: nobody has said so, it is asked; the adapter offers tools,
// it is wrong; it is declared, nothing is asked.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Args,
  type Hello,
  type Property,
  type PropertyResult,
  reject,
  type Semantics,
} from '../../../src/index.ts';
import { type Legal, legal } from '../../conformance/legal.ts';
import {
  CRITIC,
  criticOfLengths,
  klOfLengths,
  lossOfLengths,
  VALUES,
} from '../../conformance/losses/single-turn.ts';
import { clipped, critic } from '../../conformance/losses/value-loss.ts';
import { judgedBy } from './judged.ts';

interface OfLengths {
  readonly ops: Parameters<typeof legal>[1];
  readonly can: Hello['ops'];
  readonly semantics: Semantics;
  /** What is asked of masks with gaps. */
  readonly ids: readonly string[];
}

const POLICY: OfLengths = {
  ops: { loss: lossOfLengths, kl: klOfLengths },
  can: { loss: { sampling_logprobs: true } },
  semantics: { kl_estimator: 'k1' },
  ids: [
    'kl/a-gap-in-the-mask-is-no-token',
    'loss/a-gap-in-the-mask-is-no-token',
    'loss/logged-gap-leaves-out-what-a-tool-wrote',
  ],
};

const OF_CRITIC: OfLengths = {
  ops: criticOfLengths,
  can: CRITIC,
  semantics: VALUES,
  ids: [
    'advantages/whitening-keeps-differences-in-proportion',
    'advantages/whitening-masked-values-do-not-matter',
    'entropy/equals-the-definition',
    'gae/masked-tokens-are-no-steps',
    'gae/masked-values-do-not-matter',
    'gae/nan-under-the-mask-stays-there',
    'kl/over-the-vocabulary-equals-the-definition',
    'kl/over-the-vocabulary-ignores-logits-elsewhere',
    'returns/masked-tokens-are-no-steps',
    'returns/masked-values-do-not-matter',
    'returns/undiscounted-reach-over-gaps',
    'token_rewards/score-survives-masked-tokens',
    'value-loss/equals-the-reference',
    'value-loss/gradient-exactly-where-the-mask-is',
    'value-loss/masked-values-do-not-matter',
    'value-loss/nan-under-the-mask-stays-there',
  ],
};

async function judged(
  { ops, can, semantics, ids }: OfLengths,
  declared: Semantics,
  tools: object = {},
  instead: Partial<Property> = {},
): Promise<readonly PropertyResult[]> {
  const { trainer }: Legal = legal(
    'lengths',
    { ...ops, ...tools },
    { can, semantics: { ...semantics, ...declared } },
  );
  return await judgedBy(ids, trainer, instead);
}

const verdicts = (results: readonly PropertyResult[]): string[] =>
  results.map(({ id, verdict }) => `${id}: ${verdict}`).sort();
const each = (verdict: string, { ids }: OfLengths): string[] => ids.map((id) => `${id}: ${verdict}`);

describe.each([
  ['policy', POLICY],
  ['critic', OF_CRITIC],
])('of a %s', (_, trainer) => {
  test('it is a question where nothing is said', async () => {
    const results = await judged(trainer, {});
    expect(verdicts(results)).toEqual(each('ask', trainer));
    expect(results.map(({ failure }) => failure?.finding?.answers?.at(-1))).toEqual(
      trainer.ids.map(() => expect.stringMatching(/^"single_turn": true {2}\(/)),
    );
  });

  test('it is wrong where tools are offered, whatever is declared, and where several turns are declared', async () => {
    const tools = { trajectory: () => reject('not here') };
    expect(verdicts(await judged(trainer, {}, tools))).toEqual(each('fail', trainer));
    expect(verdicts(await judged(trainer, { single_turn: true }, tools))).toEqual(each('fail', trainer));
    expect(verdicts(await judged(trainer, { single_turn: false }))).toEqual(each('fail', trainer));
  });
});

test('where single turns are declared, what is about gaps alone is not asked', async () => {
  const results = await judged(POLICY, { single_turn: true });
  expect(verdicts(results)).toEqual(each('unsupported', POLICY));
  expect(results[0]?.reason).toBe(
    'semantics.single_turn is true: a completion is one answer, its mask a length',
  );
});

test('and the rest is asked with masked tokens behind the row only', async () => {
  expect(verdicts(await judged(OF_CRITIC, { single_turn: true }))).toEqual(each('pass', OF_CRITIC));
});

test('a case with a gap that was saved before is judged as it would be drawn now', async () => {
  const ids = ['value-loss/gradient-exactly-where-the-mask-is'];
  const saved = { given: () => GAP };
  // What was drawn before single turns were declared goes by the check, as saved cases do, not by the generator.
  expect(verdicts(await judged({ ...OF_CRITIC, ids }, {}, {}, saved))).toEqual([`${ids[0]}: ask`]);
  expect(verdicts(await judged({ ...OF_CRITIC, ids }, { single_turn: true }, {}, saved))).toEqual([
    `${ids[0]}: pass`,
  ]);
});

/** One masked token between two. */
const GAP = fc.constant({
  rows: [
    {
      prompt: 1,
      part: 0,
      tokens: [true, false, true].map((trained) => ({ trained, value: 0, old: 0, target: 1 })),
    },
  ],
});

test.each([
  ['a mask that is read as a length', criticOfLengths.value_loss, 'ask'],
  [
    'a mask that is not looked at',
    (args: Args<'value_loss'>) =>
      critic({ error: clipped(0.2) })({
        ...args,
        completion_mask: args.completion_mask.map((marks) => marks.map(() => 1)),
      }),
    'fail',
  ],
  [
    'a length, of which the other is refused by a crash,',
    (args: Args<'value_loss'>) => {
      if (args.completion_mask.every((marks) => !marks.join('').includes('101'))) throw new Error('no gap');
      return criticOfLengths.value_loss(args);
    },
    'fail',
  ],
])('%s is told from the other by the same rows with masked tokens behind', async (_, value_loss, verdict) => {
  const ids = ['value-loss/gradient-exactly-where-the-mask-is'];
  const results = await judged({ ...OF_CRITIC, ops: { value_loss }, ids }, {}, {}, { given: () => GAP });
  expect(verdicts(results)).toEqual([`${ids[0]}: ${verdict}`]);
});
