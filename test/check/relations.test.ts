// The general relations on an op of which everything is known: a right answer passes all of them, and each wrong one is
// caught by the relation that is about it.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { lossRelations } from '../../properties/losses/policy/relations.ts';
import { runCase } from '../../src/check/subject.ts';
import {
  type Args,
  AXES,
  asAsked,
  type Ok,
  OPS,
  objectTrainer,
  overwriteMasked,
  type Property,
  padColumns,
  pickRows,
  RELATIONS,
  relations,
  worldOf,
} from '../../src/index.ts';

type Whiten = (args: Args<'whiten'>) => Ok<'whiten'>;

const TWO_ROWS: Args<'whiten'> = {
  values: [
    [9, 1, 3, 9],
    [9, 5, 9, 9],
  ],
  completion_mask: [
    [0, 1, 1, 0],
    [0, 1, 0, 0],
  ],
  prompt_width: 1,
  ranks: [[0], [1]],
};
/** Those too that `whiten` makes an exception of: they must have nothing to say here, or say it. */
const ALL = Object.fromEntries(RELATIONS.map((name) => [name, {}] as const));

/** Each masked value less the mean over `counted`. */
const centred =
  (counted: (args: Args<'whiten'>, row: number, column: number) => boolean): Whiten =>
  (args) => {
    const all = args.values.flatMap((row, b) => row.filter((_, t) => counted(args, b, t)));
    const mean = all.reduce((sum, value) => sum + value, 0) / all.length;
    return { values: args.values.map((row) => row.map((value) => value - mean)) };
  };
const masked = ({ completion_mask: mask }: Args<'whiten'>, b: number, t: number): boolean =>
  mask[b]?.[t] === 1;

async function verdicts(whiten: Whiten, given = TWO_ROWS): Promise<Record<string, string>> {
  const trainer = objectTrainer({
    hello: { protocol: 1, name: 'x', dtype: 'float64', ops: { whiten: { ranks: true } } },
    ops: { whiten },
  });
  const world = worldOf(trainer, undefined);
  const properties = relations<'whiten', Args<'whiten'>>({
    op: 'whiten',
    stage: 'advantages',
    given: () => fc.constant(given),
    args: (drawn) => drawn,
    relations: ALL,
  });
  const found: Record<string, string> = {};
  for (const property of properties) {
    if (property.needs?.some((need) => need(world) !== undefined)) continue;
    const outcome = await runCase(property, trainer, world, given);
    found[property.id.replace('advantages/', '')] =
      outcome.kind === 'fails' ? outcome.finding.sentence : outcome.kind;
  }
  return found;
}
const broken = (found: Record<string, string>): string[] =>
  Object.keys(found).filter((id) => !['holds', 'refused'].includes(found[id] ?? ''));

describe('relations', () => {
  test('a right answer holds them all, but for what it legally owes to its batch', async () => {
    const found = await verdicts(centred(masked));
    expect(broken(found)).toEqual(['independent-of-batch-mates']);
    expect(Object.keys(found)).toContain('independent-of-ranks');
  });

  test.each<[string, Whiten, string]>([
    ['counts padding', centred(() => true), 'independent-of-padding'],
    ['reads masked values', centred(({ prompt_width: p }, _, t) => t >= p), 'masked-values-do-not-matter'],
    [
      'multiplies by the mask',
      (args) => ({ values: args.values.map((row) => row.map((value) => value + 0 * (row[0] ?? 0))) }),
      'nan-under-the-mask-stays-there',
    ],
    [
      'knows the first row',
      centred((args, b, t) => b === 0 && masked(args, b, t)),
      'independent-of-row-order',
    ],
    [
      'looks at one rank',
      centred((args, b, t) => (args.ranks?.[0] ?? []).includes(b) && masked(args, b, t)),
      'independent-of-ranks',
    ],
    [
      'divides by zero',
      ({ values }) => ({ values: values.map((row) => row.map(() => 0 / 0)) }),
      'finite-on-finite-input',
    ],
  ])('an answer that %s is caught', async (_, whiten, id) => {
    expect(broken(await verdicts(whiten))).toContain(id);
  });

  test('an argument that is written into is a question, and its declaration the answer', async () => {
    const right = centred(masked);
    const found = await verdicts((args) => {
      const answer = right(args);
      for (const row of args.values as number[][]) row[0] = 0;
      return answer;
    });
    expect(found['inputs-are-unchanged']).toMatch(
      /^The trainer writes into values: after the call it does not/,
    );
  });

  test('an answer that remembers is caught', async () => {
    let asked = 0;
    const found = await verdicts(({ values }) => ({
      values: values.map((row) => row.map((x) => x + asked++)),
    }));
    expect(found['same-twice']).toMatch(/values of token 1 of row 0 changes from .* when it is asked again/);
  });
});

describe('changed requests', () => {
  test('rows move with everything that is theirs, and parts keep their members', () => {
    const turned = pickRows('whiten', { ...TWO_ROWS, ranks: [[0, 1]] }, [1, 0]);
    expect(turned.values).toEqual([TWO_ROWS.values[1], TWO_ROWS.values[0]]);
    expect(turned.ranks).toEqual([[1, 0]]);
    expect(pickRows('whiten', TWO_ROWS, [1]).ranks).toEqual([[0]]);
  });

  test('groups are named by the order in which they come', () => {
    const args = { rewards: [1, 2, 3], group_ids: [4, 4, 7] };
    expect(pickRows('advantages', args, [2, 1, 0])).toEqual({ rewards: [3, 2, 1], group_ids: [0, 1, 1] });
  });

  test('padding is masked, and completions begin later', () => {
    const padded = padColumns('whiten', TWO_ROWS, 1, 2);
    expect(padded.values[0]).toEqual([0, 9, 1, 3, 9, 0, 0]);
    expect(padded.completion_mask[0]).toEqual([0, 0, 1, 1, 0, 0, 0]);
    expect(padded.prompt_width).toBe(2);
  });

  test('only masked values are overwritten', () => {
    expect(overwriteMasked('whiten', TWO_ROWS, 8).values).toEqual([
      [8, 1, 3, 8],
      [8, 5, 8, 8],
    ]);
  });

  test('the axes name every field of their op, and no other', () => {
    for (const [op, axes] of Object.entries(AXES)) {
      const { args, ok } = OPS[op as keyof typeof OPS];
      expect(Object.keys(axes.args).sort(), op).toEqual(Object.keys(args).sort());
      expect(Object.keys(axes.ok).sort(), op).toEqual(Object.keys(ok).sort());
    }
  });
});

/** Ops of rows whose answer to a batch that is stacked on itself is another one by right, and what judges many rows there. */
const NOT_STACKED: Readonly<Record<string, string>> = {
  advantages: 'a group has more answers then; cases have more than 64 rows',
  whiten: 'a sample deviation is another one then; cases have up to 65 rows',
};

test('every op that answers row by row is asked about a batch stacked on itself, or says why not', () => {
  const rows = Object.entries(AXES).filter(([, { ok }]) =>
    Object.values(ok).some((axis) => axis === 'row' || axis === 'token'),
  );
  const without = rows.filter(
    ([op]) =>
      !properties.some(
        ({ id, ops }) => id.endsWith('a-batch-twice-is-the-batch') && ops.some((own) => own === op),
      ),
  );
  expect(without.map(([op]) => op).sort()).toEqual(Object.keys(NOT_STACKED));
});

describe('rows of an answer that says which it kept', () => {
  const args = { input_ids: [[1], [2], [3]], labels: [[1], [2], [3]], max_length: 1 };

  test('are laid where they were asked', () => {
    const laid = asAsked('truncate', args, { input_ids: [[3], [1]], labels: [[30], [10]], kept: [2, 0] });
    expect(laid).toEqual({
      input_ids: [[1], undefined, [3]],
      labels: [[10], undefined, [30]],
      kept: [1, 0, 1],
    });
  });

  test('are 0 where they are gone, of an op that answers nothing else', () => {
    const rollouts = { rewards: [1, 0, 0], group_ids: [0, 1, 1], lengths: [1, 1, 1], truncated: [0, 0, 0] };
    const given = { ...rollouts, max_length: 8, min_reward: -1, max_reward: 1 };
    expect(asAsked('filter_rollouts', given, { kept: [2] })).toEqual({ kept: [0, 0, 1] });
  });

  test('are all of them, in order, where it says nothing', () => {
    const ok = { input_ids: [[1], [2], [3]], labels: [[1], [2], [3]] };
    expect(asAsked('truncate', args, ok)).toEqual(ok);
  });
});

describe('a batch without a trained token', () => {
  const given: Args<'value_loss'> = {
    values: [[0, 1]],
    old_values: [[0, 1]],
    returns: [[0, 1]],
    completion_mask: [[0, 1]],
    prompt_width: 1,
    micro_batches: [[0]],
  };

  async function said(ok: Ok<'value_loss'>, own: boolean): Promise<string> {
    const trainer = objectTrainer({
      hello: {
        protocol: 1,
        name: 'x',
        dtype: 'float64',
        ops: { value_loss: {} },
        semantics: own ? { own_formulas: ['value_loss'] } : {},
      },
      ops: { value_loss: () => ok },
    });
    const [property] = relations<'value_loss', Args<'value_loss'>>({
      op: 'value_loss',
      stage: 'value_loss',
      given: () => fc.constant(given),
      args: (drawn) => drawn,
      relations: { untrained: { catches: [] } },
    });
    if (property === undefined) throw new Error('no property');
    const outcome = await runCase(property, trainer, worldOf(trainer, undefined), given);
    return outcome.kind === 'fails' ? outcome.finding.sentence : outcome.kind;
  }
  const weights = (value: number): readonly (readonly number[])[] => [[0, value]];

  test.each<[string, Ok<'value_loss'>, boolean, RegExp]>([
    ['is 0', { loss: 0, loss_weights: weights(0) }, false, /^holds$/],
    ['is a loss', { loss: 0.25, loss_weights: weights(0) }, false, /the loss is 0.25/],
    ['is a gradient', { loss: 0, loss_weights: weights(1) }, false, /the gradient of some token is 1;/],
    ['is NaN', { loss: Number.NaN, loss_weights: weights(Number.NaN) }, false, /the loss is NaN/],
    [
      'is what a formula of its own says, without a gradient',
      { loss: 0.25, loss_weights: weights(0) },
      true,
      /^holds$/,
    ],
    ['is NaN by a formula of its own', { loss: Number.NaN }, true, /the loss is NaN/],
    ['is a gradient by one', { loss: 0.25, loss_weights: weights(1) }, true, /gradient of some token is 1;/],
  ])('%s', async (_, ok, own, sentence) => {
    expect(await said(ok, own)).toMatch(sentence);
  });
});

describe('a loss that padding changes', () => {
  async function advice(
    divisor: (mask: Args<'loss'>['completion_mask']) => number,
  ): Promise<string | undefined> {
    const property = lossRelations.find(({ id }) => id === 'loss/independent-of-padding') as Property;
    const trainer = objectTrainer({
      hello: { protocol: 1, name: 'x', dtype: 'float64', ops: { loss: {} } },
      ops: {
        loss: ({ advantages, completion_mask: mask }) => {
          const one = -(advantages.flat()[0] ?? 0) / divisor(mask);
          return { loss: one, loss_weights: mask.map((row) => row.map((on) => on * one)) };
        },
      },
    });
    const world = worldOf(trainer, undefined);
    const token = { logprob: -1, old: -1, ref: -1 };
    const given = { rows: [{ prompt: 1, tokens: [token, token], advantage: 1, part: 0 }] };
    const outcome = await runCase(property, trainer, world, given);
    return outcome.kind === 'fails' ? outcome.finding.advice : outcome.kind;
  }

  test('is told what to do where it divides by the columns of the request', async () => {
    expect(await advice((mask) => mask[0]?.length ?? 0)).toMatch(
      /^It divides by the 3 columns of the request/,
    );
  });

  test('is told nothing where it divides by something else that padding changes', async () => {
    expect(await advice((mask) => (mask[0]?.length ?? 0) + 5)).toBeUndefined();
  });

  test('holds where it divides by the tokens of the mask', async () => {
    expect(await advice((mask) => mask.flat().filter((on) => on === 1).length)).toBe('holds');
  });
});
