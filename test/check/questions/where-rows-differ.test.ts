// A row that is not its conversation is shown beside what it should be, and a tolerance says whose precision it is.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Args, type Message, type Ok, objectTrainer, type PropertyResult } from '../../../src/index.ts';
import { batching, cutting, type Kept } from '../../conformance/text/cut-rows.ts';
import { judgedBy } from './judged.ts';

const SHORT: readonly Message[] = [
  { role: 'user', content: 'where does the river end' },
  { role: 'assistant', content: 'in the sea' },
];
const BATCH = { conversations: [SHORT], side: null, pad: null };

async function judgedRows(kept: Kept): Promise<PropertyResult | undefined> {
  const { trainer, tokenizer } = cutting('rows', { sft_batch: batching(kept) }, {});
  const instead = { given: () => fc.constant(BATCH), coverage: {}, mostCases: 1 };
  const [result] = await judgedBy(['sft-batch/rows-are-the-conversations'], trainer, instead, tokenizer);
  return result;
}

test.each<[string, Kept, RegExp, readonly number[]]>([
  [
    'lost its sixth token',
    (row) => row.toSpliced(5, 1),
    /Without padding, token 5 .* the rendered template has/,
    [5],
  ],
  [
    'has its sixth token twice',
    (row) => row.toSpliced(5, 0, ...row.slice(5, 6)),
    /Without padding, token 6 /,
    [6],
  ],
  ['lost its first tokens', (row) => row.slice(3), /Without padding, token 0 /, [0]],
  ['is backwards', (row) => row.toReversed(), /Without padding, token 0 /, [0]],
])('a row that %s is shown from there on', async (_, kept, sentence, [first]) => {
  const result = await judgedRows(kept);
  const { finding } = result?.failure ?? {};
  expect(finding?.sentence).toMatch(sentence);
  expect(finding?.strips?.[0]?.marks?.[0]).toBe(first);
});

test('a row that is its conversation is not blamed', async () => {
  expect((await judgedRows((row) => row))?.verdict).toBe('pass');
});

/** Every token has the same score: before and after a step, and in the engine. */
async function judgedEngine(
  before: number,
  after: number,
  engine: number,
): Promise<PropertyResult | undefined> {
  const update = ({ completion_ids }: Args<'update'>): Ok<'update'> => {
    const all = (score: number): number[][] => completion_ids.map((ids) => ids.map(() => score));
    return { before: all(before), after: all(after), sampler_after: all(engine) };
  };
  const trainer = objectTrainer({
    hello: {
      protocol: 1,
      name: 'engine',
      dtype: 'float32',
      tokens: { vocab_size: 50, pad_token_id: 0, eos_token_ids: [1] },
      ops: { update: {} },
    },
    ops: { update },
  });
  const [result] = await judgedBy(['update/sampler-has-the-new-weights'], trainer);
  return result;
}

test('the precision that is allowed to an engine is not said to be the trainer’s', async () => {
  const { failure } = (await judgedEngine(-1, -2, -4)) ?? {};
  expect(failure?.finding?.note).toMatch(/^The engine may compute in bfloat16/);
});

test('an engine with the old scores is held to what the trainer computes in', async () => {
  const { failure } = (await judgedEngine(-1, -1.01, -1)) ?? {};
  expect(failure?.finding?.note).toMatch(/^The trainer computes in float32/);
});

test('an engine in half precision is not blamed', async () => {
  expect((await judgedEngine(-1, -2, -2.02))?.verdict).toBe('pass');
});
