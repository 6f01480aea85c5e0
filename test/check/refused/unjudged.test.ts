// What an adapter leaves out is told beside the verdict, with the line that changes it; what it answers is not.
import { describe, expect, test } from 'vitest';
import {
  type Args,
  type Hello,
  objectTrainer,
  type Property,
  type RunEvent,
  reject,
  run,
  type Trainer,
} from '../../../src/index.ts';
import { isOptional, kindOf } from '../../../src/protocol/fields.ts';
import { OPS, type Op } from '../../../src/protocol/message.ts';
import { htmlReport } from '../../../src/report/html/run/report.ts';
import { markdownSummary } from '../../../src/report/machine/markdown.ts';
import { merged as mergedOf } from '../../../src/report/merge.ts';
import { runsOf } from '../../../src/report/runs.ts';
import { terminalReport } from '../../../src/report/terminal.ts';
import { PLAIN } from '../../../src/report/text/paint.ts';
import { unjudgedLines } from '../../../src/report/unjudged.ts';
import { echoes } from '../toy.ts';

/** One row of two columns, whatever the kind. */
const ONE: Readonly<Record<string, unknown>> = {
  text: 'x',
  int: 1,
  float: 1,
  flag: true,
  ints: [1],
  floats: [1],
  int_rows: [[1, 1]],
  float_rows: [[1, 1]],
  int_matrix: [[1, 1]],
  float_matrix: [[1, 1]],
  int_track: [[0, 1]],
  float_track: [[0, 1]],
  float_cube: [
    [
      [0, 0],
      [0, 0],
    ],
  ],
};
const filled = (specs: Readonly<Record<string, string>>, optional: readonly string[] = []): object =>
  Object.fromEntries(
    Object.entries(specs).flatMap(([name, spec]) =>
      isOptional(spec) && !optional.includes(name) ? [] : [[name, ONE[kindOf(spec)]]],
    ),
  );

/** Asks each of these ops once a case, whatever it answers. */
const asking = (ops: readonly Op[]): Property =>
  ({
    ...echoes,
    id: 'extract/asks',
    ops,
    coverage: {},
    async check(subject: Parameters<typeof echoes.check>[0]) {
      for (const op of ops) await subject.ask(op, filled(OPS[op].args) as Args<typeof op>);
    },
  }) as unknown as Property;

/** Which optional fields each op answers. */
type Answers = Readonly<Partial<Record<Op, readonly string[]>>>;

/** One batch at one temperature is all that these ever see. */
const NONE_OFFERED: Hello['ops'] = {
  loss: { micro_batches: false },
  sft_loss: { micro_batches: false },
  logprobs: { temperature: false },
};

const answering = (
  answers: Answers,
  others: readonly Op[] = [],
  offered: Hello['ops'] = NONE_OFFERED,
): Trainer =>
  objectTrainer({
    hello: {
      protocol: 1,
      name: 'values',
      ops: Object.fromEntries(
        [...Object.keys(answers), ...others].map((op) => [op, offered[op as Op] ?? {}]),
      ),
    },
    ops: {
      ...Object.fromEntries(others.map((op) => [op, () => reject('it is not asked here')])),
      ...Object.fromEntries(
        (Object.keys(answers) as Op[]).map((op) => [op, () => filled(OPS[op].ok, answers[op])]),
      ),
    },
  });

async function eventsOf(
  trainer: Trainer,
  ops: readonly Op[],
  shard?: { readonly index: number; readonly of: number },
): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  const properties = [
    asking(ops),
    ...(shard === undefined ? [] : [{ ...asking(ops), id: 'extract/asks-again' }]),
  ];
  await run(
    {
      trainer,
      tokenizer: undefined,
      properties,
      seed: 7,
      cases: 3,
      command: 'test',
      ...(shard === undefined ? {} : { shard }),
    },
    (event) => events.push(event),
  );
  return events;
}

const linesOf = (events: readonly RunEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'run-end' ? unjudgedLines(event) : []));
const said = async (answers: Answers, others: readonly Op[] = []): Promise<string[]> =>
  linesOf(await eventsOf(answering(answers, others), Object.keys(answers) as Op[]));

const WEIGHTS = 'return "loss_weights" from `loss` as well: `lossproof.gradient` computes it';

describe('an adapter that answers the value alone', () => {
  test.each<[string, Answers, string]>([
    ['a loss without its gradient', { loss: ['trained_tokens'] }, `the gradient of \`loss\` (${WEIGHTS})`],
    ['a supervised loss', { sft_loss: [] }, 'the gradient of `sft_loss` (return'],
    ['a critic loss', { value_loss: ['trained_tokens'] }, 'the gradient of `value_loss` (return'],
    ['a preference loss', { preference_loss: ['losses'] }, 'the gradient of `preference_loss` (add op'],
    ['a reward model', { reward_loss: ['losses'] }, 'the gradient of `reward_loss` (return "chosen_weights"'],
    [
      'single answers',
      { unpaired_preference_loss: ['kl'] },
      'the gradient of `unpaired_preference_loss` (return',
    ],
    ['scores without a model', { score: [] }, 'whether the numbers of `score` are those of its model (add'],
    ['advantages without the targets', { gae: [] }, 'the targets of the critic (return "returns"'],
  ])('%s', async (_, answers, what) => {
    const [line, ...others] = await said(answers);
    expect(others).toEqual([]);
    expect(line).toContain(`Not judged: ${what}`);
  });

  test('all of it is one sentence', async () => {
    const [line] = await said({ loss: [], sft_loss: [], value_loss: [], score: [] });
    expect(line).toMatch(
      /^Not judged: whether .*`score`.*; the gradient of `loss` .*; the gradient of `sft_loss` .*; 1 more\.$/,
    );
  });
});

describe('what an op is never sent', () => {
  const heard = async (answers: Answers, offered: Hello['ops']): Promise<string[]> =>
    linesOf(await eventsOf(answering(answers, [], offered), Object.keys(answers) as Op[]));

  test.each<[Op, Answers, string]>([
    ['loss', { loss: ['loss_weights'] }, '`loss` over several micro-batches (offer `micro_batches`'],
    ['sft_loss', { sft_loss: ['loss_weights'] }, '`sft_loss` over several micro-batches (offer'],
    ['logprobs', { logprobs: [] }, '`logprobs` at other temperatures than 1 (offer `temperature`'],
  ])('%s', async (op, answers, what) => {
    const [line] = await heard(answers, {});
    expect(line).toContain(`Not judged: ${what}`);
    const offered = op === 'logprobs' ? { temperature: true } : { micro_batches: true };
    expect(await heard(answers, { [op]: offered })).toEqual([]);
    expect(await heard(answers, NONE_OFFERED)).toEqual([]);
  });

  test('is named after what is left out', async () => {
    const [line] = await heard({ loss: [], sft_loss: [] }, {});
    expect(line).toMatch(/gradient of `loss` .*gradient of `sft_loss` .*`loss` over several.*; 1 more\.$/);
  });
});

describe('nothing is said', () => {
  test.each<[string, Answers, readonly Op[]]>([
    ['of a loss with its gradient', { loss: ['loss_weights'] }, []],
    ['of a loss whose step is checked', { loss: [] }, ['train_step']],
    ['of scores beside those of a known model', { score: [] }, ['model_score']],
    ['of a reward loss with its gradient', { reward_loss: ['chosen_weights', 'rejected_weights'] }, []],
    ['of answers that nothing is learned from', { collate: [], entropy: ['mean_entropy'] }, []],
  ])('%s', async (_, answers, others) => {
    expect(await said(answers, others)).toEqual([]);
  });

  test('of an op that nobody asked', async () => {
    expect(linesOf(await eventsOf(answering({ loss: [], collate: [] }), ['collate']))).toEqual([]);
  });
});

test('the terminal, the page, the summary and a merged run say it', async () => {
  const trainer = answering({ loss: [] });
  const events = await eventsOf(trainer, ['loss']);
  const written: string[] = [];
  const report = terminalReport({
    write: (text) => void written.push(text),
    width: 100,
    paint: PLAIN,
    replay: { command: 'replay' },
    live: false,
    quiet: false,
    now: () => 0,
  });
  for (const event of events) report(event);
  expect(written.join('')).toContain('Not judged: the gradient of `loss`');
  expect(htmlReport(runsOf(events))).toContain('Not judged: the gradient of <code>loss</code>');
  expect(markdownSummary(runsOf(events))).toContain('> Not judged: the gradient of');

  const parts = await Promise.all([1, 2].map((index) => eventsOf(trainer, ['loss'], { index, of: 2 })));
  expect(parts.flatMap(linesOf)).toEqual([]);
  const merged = mergedOf(
    parts.flatMap((part, at) => runsOf(part).map((one) => ({ run: one, name: `part ${at}` }))),
  );
  expect('run' in merged && merged.run.end?.unjudged).toEqual([
    { op: 'loss', what: 'the gradient of `loss`', line: WEIGHTS },
  ]);
});
