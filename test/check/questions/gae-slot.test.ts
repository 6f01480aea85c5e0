// What an estimate does with the value right behind a row is a question where nothing else about the row is wrong.
import { expect, test } from 'vitest';
import { type Args, objectTrainer, type Semantics } from '../../../src/index.ts';
import { cell } from '../../conformance/legal.ts';
import { judgedBy } from './judged.ts';

const IDS = [
  'gae/masked-tokens-are-no-steps',
  'gae/masked-values-do-not-matter',
  'gae/nan-under-the-mask-stays-there',
];

interface How {
  /** The value behind the last trained token of row `b`. */
  readonly behind?: (args: Args<'gae'>, b: number) => number;
  /** The value of the state after `t`. */
  readonly next?: (args: Args<'gae'>, b: number, t: number, trained: number) => number;
  /** A masked token is a step. */
  readonly steps?: true;
}

const slot = (args: Args<'gae'>, b: number): number =>
  args.values[b]?.[(args.completion_mask[b] ?? []).lastIndexOf(1) + 1] ?? 0;

function estimate({ behind = () => 0, next = (_, __, ___, trained) => trained, steps }: How) {
  return (args: Args<'gae'>) => ({
    advantages: args.completion_mask.map((mask, b) => {
      let [trained, toCome] = [behind(args, b), 0];
      return mask
        .map((_, t) => t)
        .toReversed()
        .map((t) => {
          if (mask[t] !== 1) {
            if (steps) toCome *= args.gamma * args.lam;
            return 0;
          }
          const delta =
            cell(args.rewards, b, t) + args.gamma * next(args, b, t, trained) - cell(args.values, b, t);
          toCome = delta + args.gamma * args.lam * toCome;
          trained = cell(args.values, b, t);
          return toCome;
        })
        .toReversed();
    }),
  });
}

async function verdicts(how: How, semantics: Semantics = {}): Promise<readonly string[]> {
  const hello = { protocol: 1, name: 'gae', dtype: 'float64', ops: { gae: {} }, semantics } as const;
  const results = await judgedBy(IDS, objectTrainer({ hello, ops: { gae: estimate(how) } }));
  return results.map(({ verdict }) => verdict);
}

test('nothing behind a row is read, and nothing is asked', async () => {
  expect(await verdicts({})).toEqual(['pass', 'pass', 'pass']);
});

test('a row that goes on behind its last token is a question, and none where that is declared', async () => {
  expect(await verdicts({ behind: slot })).toContain('ask');
  expect(await verdicts({ behind: slot })).not.toContain('fail');
  expect(new Set(await verdicts({ behind: slot }, { gae_bootstrap: true }))).toEqual(
    new Set(['unsupported']),
  );
  expect(await verdicts({ behind: slot }, { gae_bootstrap: false })).toContain('fail');
});

test.each<[string, How]>([
  ['the value of the next column, masked or not', { next: ({ values }, b, t) => values[b]?.[t + 1] ?? 0 }],
  ['the value of the last column', { behind: ({ values }, b) => values[b]?.at(-1) ?? 0 }],
  ['the slot behind a row, and masked tokens as steps', { behind: slot, steps: true }],
  ['masked tokens as steps', { steps: true }],
])('%s is wrong', async (_, how) => {
  expect(await verdicts(how, { single_turn: false })).toContain('fail');
});
