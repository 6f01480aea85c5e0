// Properties of one op judge the same cases, and share the trainer's answers. What one of them says must not depend on whether
// others were judged before it.
import { describe, expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { drawSeed } from '../../src/check/cases.ts';
import { type Args, objectTrainer, type PropertyResult, run, type Trainer } from '../../src/index.ts';
import { listMutants, withMutant } from '../mutants/list.ts';

const CASES = 30;

async function judged(trainer: Trainer, ids: readonly string[]): Promise<Map<string, PropertyResult>> {
  const results = await run(
    {
      trainer,
      tokenizer: undefined,
      properties: properties.filter(({ id }) => ids.includes(id)),
      seed: 11,
      cases: CASES,
      command: 'test',
      verdictOnly: true,
    },
    () => undefined,
  );
  return new Map(results.map((result) => [result.id, result]));
}

/** What a user sees of it. */
const told = (result: PropertyResult | undefined): unknown => [
  result?.verdict,
  result?.failure?.given,
  result?.failure?.finding?.sentence,
];

describe('a property judged with the others of its op', () => {
  const mutants = listMutants();
  test.each([
    'KL-02-kl-k1-declared-k3',
    'VAL-03-gae-value-one-late',
    'ADV-06-whiten-over-everything',
    'KL-01-loss-kl-sign',
    'PAD-08-gae-carried-across-rows',
  ])('says of %s what it says alone', async (name) => {
    const wrong = mutants.find(({ id }) => id === name);
    if (wrong === undefined) throw new Error(`no mutant is called ${name}`);
    const own = properties
      .filter(({ ops: [op], level }) => op !== undefined && wrong.ops.includes(op) && level === 'must')
      .map(({ id }) => id);
    await withMutant(wrong, async (trainer) => {
      const together = await judged(trainer, own);
      expect([...together.values()].map(({ verdict }) => verdict)).toContain('fail');
      for (const id of own)
        expect(told((await judged(trainer, [id])).get(id)), id).toEqual(told(together.get(id)));
    });
  });
});

describe('the cases of a run', () => {
  test('are one sequence for each op, and another for another op', () => {
    const [first, second] = properties.filter(({ ops }) => ops[0] === 'mask');
    if (first === undefined || second === undefined) throw new Error('mask has two properties at least');
    expect(drawSeed(3, first)).toBe(drawSeed(3, second));
    expect(drawSeed(3, first)).not.toBe(drawSeed(3, { ...first, ops: ['kl'] }));
    expect(drawSeed(3, first)).not.toBe(drawSeed(3, { ...first, drawnAlone: true }));
    expect(drawSeed(3, first)).not.toBe(drawSeed(4, first));
  });

  test('are asked once for all properties that judge them', async () => {
    const asked = new Map<string, number>();
    const trainer = objectTrainer({
      hello: { protocol: 1, name: 'counting', dtype: 'float64', ops: { returns: {} } },
      ops: {
        returns: (args: Args<'returns'>) => {
          // JSON writes NaN and infinity alike, and 0 and -0.
          const key = JSON.stringify(args, (_, value) =>
            typeof value === 'number' ? (Object.is(value, -0) ? '-0' : String(value)) : value,
          );
          asked.set(key, (asked.get(key) ?? 0) + 1);
          return { returns: args.rewards.map((row) => row.map(() => 0)) };
        },
      },
    });
    await run(
      {
        trainer,
        tokenizer: undefined,
        // That one asks the same request twice on purpose.
        properties: properties.filter(({ id, ops: [op] }) => op === 'returns' && !id.endsWith('/same-twice')),
        seed: 1,
        cases: CASES,
        command: 'test',
        verdictOnly: true,
      },
      () => undefined,
    );
    expect(asked.size).toBeGreaterThan(0);
    expect(Math.max(...asked.values())).toBe(1);
  });
});
