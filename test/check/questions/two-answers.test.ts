// An op with two answers to one request fails wherever two answers are compared. Its `same-twice` says so first, and explains the
// others; what fails of another op stands for itself.
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { inOrder } from '../../../src/check/questions/questions.ts';
import { type Args, type Ok, objectTrainer, type PropertyResult } from '../../../src/index.ts';
import { blocksOf } from '../../../src/report/failure/blocks.ts';
import { PLAIN } from '../../../src/report/text/paint.ts';
import { judgedBy } from './judged.ts';

type Kl = (args: Args<'kl'>) => Ok<'kl'>;
type Returns = (args: Args<'returns'>) => Ok<'returns'>;

const k1: Kl = ({ logprobs, ref_logprobs }) => ({
  kl: logprobs.map((row, b) => row.map((value, t) => value - (ref_logprobs[b]?.[t] ?? 0))),
});
const plus = (ok: Ok<'kl'>, by: () => number): Ok<'kl'> => ({
  kl: (ok.kl ?? []).map((row) => row.map((value) => value + by())),
});
const right: Returns = ({ rewards, completion_mask: mask, gamma }) => ({
  returns: rewards.map((row, b) => {
    let behind = 0;
    return row
      .map((_, t) => row.length - 1 - t)
      .map((t) => {
        if (mask[b]?.[t] === 1) behind = (row[t] ?? 0) + gamma * behind;
        return mask[b]?.[t] === 1 ? behind : 0;
      })
      .toReversed();
  }),
});
const overPadding: Returns = (args) =>
  right({ ...args, completion_mask: args.completion_mask.map((row) => row.map(() => 1)) });

/** Each made anew: all but the first two keep something between requests. */
const KLS = {
  right: () => k1,
  memoised(): Kl {
    const known = new Map<string, Ok<'kl'>>();
    return (args) => {
      const key = JSON.stringify(args);
      const ok = known.get(key) ?? k1(args);
      known.set(key, ok);
      return ok;
    };
  },
  dropout(): Kl {
    let state = 1;
    return (args) =>
      plus(k1(args), () => {
        state = (state * 48_271) % 2_147_483_647;
        return state % 10 === 0 ? 1 : 0;
      });
  },
  cache(): Kl {
    const known = new Map<string, Ok<'kl'>>();
    return (args) => {
      const key = `${args.logprobs.length} ${args.logprobs[0]?.length} ${args.prompt_width}`;
      const ok = known.get(key) ?? k1(args);
      known.set(key, ok);
      return ok;
    };
  },
  counter(): Kl {
    let calls = 0;
    return (args) => {
      calls += 1;
      return plus(k1(args), () => calls / 8);
    };
  },
  'the last request'(): Kl {
    let last = 0;
    return (args) => {
      const ok = plus(k1(args), () => last);
      last = args.logprobs.length / 8;
      return ok;
    };
  },
} as const;

const OPS = ['kl', 'returns'] as const;
const ids = properties
  .filter(
    ({ level, ops: [op, ...more] }) => level === 'must' && more.length === 0 && OPS.some((own) => own === op),
  )
  .map(({ id }) => id);

async function failuresOf(kl: keyof typeof KLS, returns = right): Promise<readonly PropertyResult[]> {
  const trainer = objectTrainer({
    hello: {
      protocol: 1,
      name: 'two answers',
      dtype: 'float64',
      ops: { kl: {}, returns: {} },
      semantics: { own_formulas: ['kl'] },
    },
    ops: { kl: KLS[kl](), returns },
  });
  const results = await judgedBy(ids, trainer, { mostCases: 30 });
  return results.filter(({ verdict }) => verdict === 'fail');
}

test.each(['dropout', 'cache', 'counter', 'the last request'] as const)(
  '%s: one finding explains the others',
  async (kl) => {
    const [first, ...others] = await failuresOf(kl);
    expect(first?.id).toBe('kl/same-twice');
    expect(first?.failure?.explainedBy).toBeUndefined();
    expect(others.length).toBeGreaterThan(0);
    expect(new Set(others.map(({ failure }) => failure?.explainedBy))).toEqual(new Set(['kl/same-twice']));
  },
);

test.each(['right', 'memoised'] as const)('%s has one answer', async (kl) => {
  expect(await failuresOf(kl)).toEqual([]);
});

test('what fails of another op is not explained', async () => {
  const failures = await failuresOf('counter', overPadding);
  const own = failures.filter(({ id }) => !id.startsWith('kl/'));
  expect(own.length).toBeGreaterThan(0);
  expect(own.filter(({ failure }) => failure?.explainedBy !== undefined)).toEqual([]);

  const options = { width: 200, paint: PLAIN, replay: { command: 'replay' } };
  const blocks = blocksOf(failures, () => options).map((lines) => lines.join(' '));
  expect(blocks[0]).toMatch(/^✗ kl\/same-twice/);
  const last = blocks.at(-1) ?? '';
  expect(last).toMatch(/of the same op may be nothing but kl\/same-twice, above/);
  for (const { id } of own) {
    expect(last).not.toContain(id);
    expect(blocks.some((block) => block.startsWith(`✗ ${id} `))).toBe(true);
  }
});

test('whether one request has one answer is asked first in its stage', () => {
  const stages = new Map<string, string[]>();
  for (const { id, stage } of inOrder(properties)) stages.set(stage, [...(stages.get(stage) ?? []), id]);
  for (const [, own] of stages) {
    const twice = own.filter((id) => id.endsWith('same-twice'));
    expect(own.slice(0, twice.length)).toEqual(twice);
  }
});
