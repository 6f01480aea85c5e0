import { expect, test } from 'vitest';
import { OPS } from '../../src/protocol/message.ts';
import { type Answer, example } from './adapter.ts';
import { ONE_EACH, TRACKS } from './requests.ts';

const EXAMPLES = ['left_padded', 'right_padded', 'stop_excluded'];
const HELLO = { op: 'hello', args: { protocol: 1, harness: 'test' } };
/** Central differences of a smooth function: the error is of the order of the step squared. */
const STEP = 1e-5;

test('the requests here name every op once', () => {
  expect(ONE_EACH.map(({ op }) => op).sort()).toEqual(Object.keys(OPS).sort());
});

test.each(EXAMPLES)(
  '%s answers hello and every op that it names, in the fields of the protocol',
  async (name) => {
    const { answers, exitCode } = await example([name], [HELLO, ...ONE_EACH]);
    expect(exitCode).toBe(0);
    const [hello, ...rest] = answers;
    const named = Object.keys(hello?.ok?.ops as object);
    expect(named.length).toBeGreaterThanOrEqual(12);
    for (const [at, answer] of rest.entries()) {
      const op = ONE_EACH[at]?.op as keyof typeof OPS;
      if (!named.includes(op)) {
        expect(answer.skip).toBeDefined();
        continue;
      }
      const fields = Object.entries(OPS[op].ok);
      const required = fields.filter(([, kind]) => !kind.endsWith('?')).map(([field]) => field);
      expect(Object.keys(answer.ok ?? answer)).toEqual(expect.arrayContaining(required));
      expect(fields.map(([field]) => field)).toEqual(
        expect.arrayContaining(Object.keys(answer.ok ?? answer)),
      );
    }
  },
);

test('left_padded answers every op', async () => {
  const { answers } = await example(['left_padded'], [HELLO]);
  expect(Object.keys(answers[0]?.ok?.ops as object).sort()).toEqual(Object.keys(OPS).sort());
});

test.each(EXAMPLES)('the loss weights of %s are the finite differences of its loss', async (name) => {
  const args = { ...TRACKS, advantages: [1, -1], prompt_width: 0, micro_batches: [[0, 1]] };
  const moved = (row: number, column: number, by: number): number[][] =>
    TRACKS.logprobs.map((values, b) =>
      values.map((value, t) => (b === row && t === column ? value + by : value)),
    );
  const places = TRACKS.logprobs.flatMap((values, row) => values.map((_, column) => ({ row, column })));
  const { answers } = await example(
    [name],
    [
      { op: 'loss', args },
      ...places.flatMap(({ row, column }) =>
        [STEP, -STEP].map((by) => ({ op: 'loss', args: { ...args, logprobs: moved(row, column, by) } })),
      ),
    ],
  );
  const loss = (at: number): number => Number(answers[at]?.ok?.loss);
  const weights = answers[0]?.ok?.loss_weights as number[][];
  expect(weights.flat().some((weight) => weight !== 0)).toBe(true);
  for (const [at, { row, column }] of places.entries()) {
    const slope = (loss(1 + 2 * at) - loss(2 + 2 * at)) / (2 * STEP);
    expect(weights[row]?.[column]).toBeCloseTo(slope, 7);
  }
});

test.each(EXAMPLES)(
  '%s scores a row the same alone and in a batch, and by order and position',
  async (name) => {
    const score = (prompt_ids: number[][], completion_ids: number[][]) => ({
      op: 'score',
      args: { prompt_ids, completion_ids },
    });
    const { answers } = await example(
      [name],
      [
        score([[5], [6, 7, 8]], [[11, 2], [12]]),
        score([[5]], [[11, 2]]),
        score([[7, 6, 8]], [[12]]),
        score([[6, 7, 8]], [[12]]),
        score([[9, 9, 9, 5]], [[11, 2]]),
      ],
    );
    const row = (answer: Answer | undefined, at = 0): unknown =>
      (answer?.ok?.logprobs as number[][] | undefined)?.[at];
    expect(row(answers[0])).toEqual(row(answers[1]));
    expect(row(answers[0], 1)).toEqual(row(answers[3]));
    expect(row(answers[2])).not.toEqual(row(answers[3]));
    expect(row(answers[4])).not.toEqual(row(answers[1]));
  },
);
