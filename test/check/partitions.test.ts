// Ranks that are processes: what depends on who has which rows is seen, and nothing is asked of a loss of which that is meant.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runCase } from '../../src/check/subject.ts';
import { meansLocal, supportOf } from '../../src/check/support.ts';
import {
  type Args,
  type Ok,
  objectTrainer,
  type Property,
  relations,
  type Semantics,
  worldOf,
} from '../../src/index.ts';

const LOCAL_MEAN: Semantics = { loss_normalization: 'local', sft_aggregation: 'token-mean' };

type Loss = (args: Args<'sft_loss'>) => Ok<'sft_loss'>;

/** Three rows of one label each; the loss of a row is its first logit. */
const THREE: Args<'sft_loss'> = {
  input_ids: [[0], [0], [0]],
  attention_mask: [[1], [1], [1]],
  labels: [[0], [0], [-100]],
  logits: [[[1]], [[4]], [[0]]],
  micro_batches: [[0, 1, 2]],
  ranks: [[0, 1], [2]],
};

const [property] = relations<'sft_loss', Args<'sft_loss'>>({
  op: 'sft_loss',
  stage: 'sft_loss',
  given: () => fc.constant(THREE),
  args: (drawn) => drawn,
  relations: { ranks: { catches: [] } },
}) as readonly [Property<Args<'sft_loss'>>];

const trainerOf = (sft_loss: Loss, ranks: boolean | number, local = false) =>
  objectTrainer({
    hello: {
      protocol: 1,
      name: 'x',
      dtype: 'float64',
      ops: { sft_loss: { ranks } },
      ...(local ? { semantics: { loss_normalization: 'local' as const } } : {}),
    },
    ops: { sft_loss },
  });

async function said(loss: Loss, given = THREE): Promise<string> {
  const trainer = trainerOf(loss, 2);
  const outcome = await runCase(property, trainer, worldOf(trainer, undefined), given);
  return outcome.kind === 'fails' ? outcome.finding.sentence : outcome.kind;
}

const rowsOf = ({ ranks, labels }: Args<'sft_loss'>, rank: number): number[] =>
  (ranks?.[rank] ?? []).filter((row) => labels[row]?.[0] !== -100);
const sumOf = ({ logits }: Args<'sft_loss'>, rows: readonly number[]): number =>
  rows.reduce((sum, row) => sum + (logits[row]?.[0]?.[0] ?? 0), 0);
const both = (args: Args<'sft_loss'>): number[][] => [rowsOf(args, 0), rowsOf(args, 1)];

test('one denominator over all ranks holds, however the rows are dealt', async () => {
  expect(await said((args) => ({ loss: sumOf(args, both(args).flat()) / both(args).flat().length }))).toBe(
    'holds',
  );
});

test('a mean of the means of ranks does not', async () => {
  const means: Loss = (args) => ({
    loss: both(args).reduce((sum, rows) => sum + sumOf(args, rows) / Math.max(rows.length, 1) / 2, 0),
  });
  const uneven = { ...THREE, labels: [[0], [0], [0]] };
  expect(await said(means, uneven)).toMatch(/when one rank has all rows and the others have none/);
});

test('0/0 of a rank without trained tokens is seen where another one has all rows', async () => {
  const empty: Loss = (args) => ({
    loss: both(args).reduce((sum, rows) => sum + (sumOf(args, rows) / rows.length) * (rows.length / 2), 0),
  });
  const finite = { ...THREE, labels: [[0], [0], [0]] };
  const trainer = trainerOf(empty, 2);
  const outcome = await runCase(property, trainer, worldOf(trainer, undefined), finite);
  expect(outcome).toMatchObject({
    kind: 'fails',
    finding: {
      sentence: expect.stringMatching(
        /to NaN when one rank has all rows and the others have none, \[0 1 2 \| none\]/,
      ),
    },
  });
});

test('what one rank does otherwise shows where rows change places', async () => {
  const own: Loss = (args) => ({ loss: sumOf(args, rowsOf(args, 0)) + 2 * sumOf(args, rowsOf(args, 1)) });
  expect(await said(own)).toMatch(
    /when each rank has the rows of the next one, \[2 \| 0 1\] instead of \[0 1 \| 2\]/,
  );
});

test.each([
  [true, false, undefined],
  [2, false, undefined],
  [1, false, /one rank only/],
  [false, false, /does not offer ranks/],
  [2, true, /its own denominator \(loss_normalization "local"\).* check it without torchrun/],
])('with ranks %j, local %j, it is supported or told why not', (ranks, local, why) => {
  const world = worldOf(
    trainerOf(() => ({ loss: 0 }), ranks, local),
    undefined,
  );
  const lack = supportOf(property as unknown as Property, world);
  if (why === undefined) expect(lack).toBeUndefined();
  else expect(lack).toMatch(why);
});

/** Which denominator a trainer has was measured, or it was declared; and so was what the denominator counts. */
test.each<[string, Semantics, Semantics, boolean]>([
  ['declared local is meant', { loss_normalization: 'local', sft_aggregation: 'token-mean' }, {}, true],
  [
    'measured local is not, where the aggregation is declared',
    LOCAL_MEAN,
    { loss_normalization: 'local' },
    false,
  ],
  ['measured local may be, where nothing is declared', LOCAL_MEAN, LOCAL_MEAN, true],
  [
    'the aggregation of another op declares nothing',
    { ...LOCAL_MEAN, value_aggregation: 'token-mean' },
    LOCAL_MEAN,
    true,
  ],
  ['global is global', { loss_normalization: 'global' }, {}, false],
])('%s', (_, semantics, measured, meant) => {
  const world = worldOf(
    trainerOf(() => ({ loss: 0 }), false),
    undefined,
  );
  expect(meansLocal('sft_loss', { ...world, semantics, measured })).toBe(meant);
  expect(meansLocal('kl', { ...world, semantics, measured })).toBe(false);
});
