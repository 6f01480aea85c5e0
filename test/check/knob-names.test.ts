// Settings whose values are names: any two of them differ in some answer, and a name that does not exist is refused.
import { expect, test } from 'vitest';
import { type Args, objectTrainer, reject } from '../../src/index.ts';
import { judgedBy } from './questions/judged.ts';

const IDS = ['preference_loss/every-knob-turns', 'preference_loss/misspelt-knobs-are-refused'];
const NAMES = ['sigmoid', 'hinge', 'ipo'] as const;

type Losses = Readonly<Record<string, (margin: number) => number>>;
const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
const LOSSES: Losses = {
  sigmoid: (margin) => softplus(-0.1 * margin),
  hinge: (margin) => Math.max(0, 1 - 0.1 * margin),
  ipo: (margin) => (margin - 5) ** 2,
};

/** `fallback`: what a name gives that `losses` does not have; a setting of another name is refused unless `swallows`. */
async function verdicts(losses: Losses, fallback?: string, swallows = false): Promise<readonly string[]> {
  const trainer = objectTrainer({
    hello: {
      protocol: 1,
      name: 'names',
      dtype: 'float64',
      ops: { preference_loss: { knobs: { loss_type: [...NAMES] } } },
    },
    ops: {
      preference_loss: ({ settings = {}, ...args }: Args<'preference_loss'>) => {
        const other = Object.keys(settings).find((name) => name !== 'loss_type');
        if (other !== undefined && !swallows) return reject(`there is no ${other}`);
        const loss = losses[settings.loss_type ?? 'sigmoid'] ?? losses[fallback ?? ''];
        if (loss === undefined) return reject(`there is no ${settings.loss_type}`);
        const total = (rows: readonly (readonly number[])[], b: number): number =>
          (rows[b] ?? []).reduce((sum, value) => sum + value, 0);
        const each = args.chosen_logprobs.map((_, b) => {
          const chosen = total(args.chosen_logprobs, b) - total(args.ref_chosen_logprobs, b);
          return loss(chosen - total(args.rejected_logprobs, b) + total(args.ref_rejected_logprobs, b));
        });
        return { loss: each.reduce((sum, value) => sum + value, 0) / each.length };
      },
    },
  });
  return (await judgedBy(IDS, trainer)).map(({ verdict }) => verdict);
}

test('names that all do something hold, however they are written', async () => {
  expect(await verdicts(LOSSES)).toEqual(['pass', 'pass']);
  expect(await verdicts({ ...LOSSES, hinge: (margin) => Math.max(0, 1 - 0.2 * margin) ** 2 })).toEqual([
    'pass',
    'pass',
  ]);
});

const { sigmoid, hinge, ipo } = LOSSES as Readonly<
  Record<(typeof NAMES)[number], (margin: number) => number>
>;

test.each<[string, Losses, string | undefined, boolean, readonly string[]]>([
  [
    'a name that is never read',
    { sigmoid, hinge: sigmoid, ipo: sigmoid },
    undefined,
    false,
    ['fail', 'pass'],
  ],
  ['a name that is the default', { sigmoid, hinge, ipo: sigmoid }, undefined, false, ['fail', 'pass']],
  ['two names in one branch', { sigmoid, hinge: ipo, ipo }, undefined, false, ['fail', 'pass']],
  ['an unknown name for the default', LOSSES, 'sigmoid', false, ['pass', 'fail']],
  ['a known name that falls to another one', { sigmoid, ipo }, 'ipo', false, ['fail', 'fail']],
  ['a misspelt setting', LOSSES, undefined, true, ['pass', 'fail']],
])('%s fails', async (_, losses, fallback, swallows, expected) => {
  expect(await verdicts(losses, fallback, swallows)).toEqual(expected);
});
