// Records as a ledger: token-aligned, over micro-batches, ranks and trainings.
import { describe, expect, test } from 'vitest';
import type { LedgerRow } from '../../src/trace/ledger.ts';
import { lossWords, unknownIn } from '../../src/trace/terms.ts';
import {
  endOf,
  forwardOf,
  generateOf,
  modelOf,
  processOf,
  recordedLedger,
  settingsRecord,
  stepOf,
  tokenizerOf,
  trainedOf,
} from './recorded.ts';

const ROW = [1, 5, 6, 2];
const weights = (row: LedgerRow | undefined) => row?.trained.map((each) => each?.weight);
const targets = (row: LedgerRow | undefined) => row?.trained.map((each) => each?.target);

test('what stands at a column trains the token of the next one; behind the row is a place of its own', () => {
  const { rows } = recordedLedger([
    [
      processOf(),
      modelOf(),
      forwardOf([ROW]),
      trainedOf([
        { column: 1, target: 6, weight: 0.5 },
        { column: 3, target: 9, weight: 0.25 },
      ]),
      stepOf(),
    ],
  ]);
  expect(weights(rows[0])).toEqual([undefined, undefined, 0.5, undefined, 0.25]);
  expect(targets(rows[0])).toEqual([undefined, undefined, 6, undefined, 9]);
  expect(rows[0]).toMatchObject({
    step: 0,
    rank: 0,
    forward: 0,
    row: 0,
    ids: ROW,
    reached: true,
    dtype: 'float32',
  });
});

test('what was not measured is undefined, not a number', () => {
  const { rows } = recordedLedger([
    [processOf(), modelOf(), forwardOf([ROW]), trainedOf([{ column: 0 }]), stepOf()],
  ]);
  expect(rows[0]?.trained[1]).toEqual({
    target: undefined,
    weight: undefined,
    residual: undefined,
    temperature: undefined,
    logprob: undefined,
  });
});

test('positions outside of the row are let pass', () => {
  const wild = trainedOf([
    { row: 7, column: 0, target: 5, weight: 1 },
    { column: 4, target: 5, weight: 1 },
    { column: -1, target: 5, weight: 1 },
  ]);
  const { rows } = recordedLedger([[processOf(), modelOf(), forwardOf([ROW]), wild, stepOf()]]);
  expect(weights(rows[0])).toEqual(Array(5).fill(undefined));
});

test('weights are those of the step, over all ranks that are averaged', () => {
  const rank = (at: number) => [
    processOf({ rank: at, world: 2 }),
    modelOf(),
    forwardOf([ROW], { averaged_over: 2 }),
    trainedOf([{ column: 0, target: 5, weight: 0.5 }]),
    stepOf(),
    endOf(),
  ];
  const { rows, steps } = recordedLedger([rank(1), rank(0)]);
  expect(rows.map((row) => [row.rank, row.trained[1]?.weight])).toEqual([
    [0, 0.25],
    [1, 0.25],
  ]);
  expect(steps.map(({ index, ranks }) => [index, ranks.map((each) => each.rank)])).toEqual([[0, [0, 1]]]);
});

test('gradients that were thrown away before the step are not in it', () => {
  const { rows } = recordedLedger([
    [
      processOf(),
      modelOf(),
      forwardOf([ROW], { forward: 0 }),
      trainedOf([{ column: 0, target: 5, weight: 9 }], { forward: 0 }),
      forwardOf([ROW], { forward: 1 }),
      trainedOf([{ column: 1, target: 6, weight: 1 }], { forward: 1 }),
      stepOf({ dropped: [0] }),
    ],
  ]);
  expect(rows.map(({ forward }) => forward)).toEqual([1]);
});

test('the launcher of ranks has no rank that a worker cannot have', () => {
  const worker = (rank: number) => [processOf({ rank, world: 2 }), modelOf(), forwardOf([ROW]), stepOf()];
  const { processes, models } = recordedLedger([[processOf({ pid: 1 }), endOf()], worker(0), worker(1)]);
  expect(processes.map(({ rank }) => rank).sort()).toEqual([0, 0, 1]);
  expect(models.map(({ rank }) => rank)).toEqual([0, 1]);
});

test('workers that know their rank by themselves are told apart', () => {
  const worker = (pid: number) => [
    processOf({ pid }),
    modelOf(),
    forwardOf([ROW], { averaged_over: 2 }),
    stepOf(),
  ];
  const { rows, steps } = recordedLedger([worker(1), worker(2)]);
  expect(rows.map(({ rank, step }) => [rank, step])).toEqual([
    [0, 0],
    [1, 0],
  ]);
  expect(steps).toHaveLength(1);
});

test('two trainings of one command follow one another', () => {
  const training = (pid: number, started: string) => [
    processOf({ pid, started }),
    modelOf(),
    forwardOf([ROW]),
    stepOf(),
    forwardOf([ROW], { forward: 1, step: 1 }),
    stepOf({ step: 1 }),
  ];
  const { rows, steps } = recordedLedger([
    training(1, '2026-03-01T10:00:00Z'),
    training(2, '2026-03-01T09:00:00Z'),
  ]);
  expect(rows.map(({ rank, step }) => [rank, step])).toEqual([
    [0, 0],
    [0, 1],
    [1, 2],
    [1, 3],
  ]);
  expect(steps.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
});

describe('a process that trains nothing', () => {
  const learner = [
    processOf({ pid: 102, started: '2026-03-01T09:30:05Z', name: 'actor Learner', node: 'one' }),
    modelOf(),
    forwardOf([ROW], { time: 110 }),
    trainedOf([{ column: 0, target: 5 }]),
    stepOf({ time: 120 }),
    forwardOf([ROW], { forward: 1, step: 1, time: 210 }),
    trainedOf([{ column: 0, target: 5 }], { forward: 1 }),
    stepOf({ step: 1, time: 220 }),
  ];
  const sampled = (facts: object) => generateOf([[1]], [[1, 5, 2]], facts);
  /** It has begun first, and counts no step. */
  const rollout = (...times: readonly (number | null)[]) => [
    processOf({ pid: 101, name: 'actor Rollout', node: 'two' }),
    modelOf(),
    ...times.map((time, generate) => sampled(time === null ? { generate } : { generate, time })),
  ];

  test('samples for the step that is made next by the clock', () => {
    const { generations } = recordedLedger([rollout(100, 119.5, 121, 230), learner]);
    expect(generations.map(({ step }) => step)).toEqual([0, 0, 1, 2]);
  });

  test('leaves the first rank to the one that trains', () => {
    const { rows, generations, models } = recordedLedger([rollout(100), learner]);
    expect(rows.map(({ rank, step }) => [rank, step])).toEqual([
      [0, 0],
      [0, 1],
    ]);
    expect(generations.map(({ rank }) => rank)).toEqual([1]);
    expect(models.map(({ rank, role }) => [rank, role]).sort()).toEqual([
      [0, 'policy'],
      [1, 'frozen'],
    ]);
  });

  test('scores for that step, too', () => {
    const reference = [
      processOf({ pid: 103 }),
      modelOf(),
      forwardOf([ROW], { grad: false, training: false, time: 105 }),
      forwardOf([ROW], { forward: 1, grad: false, training: false, time: 205 }),
    ];
    expect(recordedLedger([reference, learner]).scored.map(({ step }) => step)).toEqual([0, 1]);
  });

  test('counts its own steps where no time was written down', () => {
    const { generations } = recordedLedger([rollout(null, null), learner]);
    expect(generations.map(({ step }) => step)).toEqual([0, 0]);
  });
});

test('a rank whose gradients another one steps by trains for that step, by the clock', () => {
  const rank = (number: number, ...records: ReturnType<typeof stepOf>[]) => [
    processOf({ pid: 101 + number, rank: number, world: 2 }),
    modelOf(),
    forwardOf([ROW], { time: 110 }),
    trainedOf([{ column: 0, target: 5 }]),
    ...records.slice(0, 1),
    forwardOf([ROW], { forward: 1, step: records.length > 0 ? 1 : 0, time: 210 }),
    trainedOf([{ column: 0, target: 5 }], { forward: 1 }),
    ...records.slice(1),
  ];
  const { rows, steps } = recordedLedger([
    rank(0, stepOf({ time: 120 }), stepOf({ step: 1, time: 220 })),
    rank(1),
  ]);
  expect(rows.map(({ step, rank: of }) => [step, of])).toEqual([
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ]);
  expect(steps.map(({ ranks }) => ranks.map(({ done }) => done !== undefined))).toEqual([
    [true, false],
    [true, false],
  ]);
});

test('two backward passes toward one target add up; toward two, no single target fits', () => {
  const { rows } = recordedLedger([
    [
      processOf(),
      modelOf(),
      forwardOf([ROW]),
      trainedOf([
        { column: 0, target: 5, weight: 0.5, residual: 1e-7, temperature: 1 },
        { column: 1, target: 6, weight: 0.5, residual: 1e-7 },
      ]),
      trainedOf(
        [
          { column: 0, target: 5, weight: -0.2, residual: 2e-7, temperature: 1 },
          { column: 1, target: 7, weight: 0.1, residual: 1e-7 },
        ],
        { dtype: 'bfloat16' },
      ),
      stepOf(),
    ],
  ]);
  const [row] = rows;
  expect(row?.trained[1]).toMatchObject({ target: 5, residual: 2e-7, temperature: 1 });
  expect(row?.trained[1]?.weight).toBeCloseTo(0.3, 12);
  expect(row?.trained[2]).toMatchObject({ target: undefined, weight: undefined, residual: 1 });
  expect(row?.dtype).toBe('bfloat16');
});

test('what one target does not explain is not known, however a trace was written', () => {
  const { rows } = recordedLedger([
    [
      processOf(),
      modelOf(),
      forwardOf([ROW]),
      trainedOf([
        { column: 0, target: 5, weight: 0.5, residual: 0.01 },
        { column: 1, target: 6, weight: 0.5, residual: 1e-7 },
        { column: 2, target: 7, weight: 0, residual: 0.3 },
      ]),
      stepOf(),
    ],
  ]);
  expect(rows[0]?.trained.slice(1, 4).map((each) => [each?.target, each?.weight])).toEqual([
    [undefined, undefined],
    [6, 0.5],
    [7, 0],
  ]);
  expect(unknownIn(rows)).toEqual({ open: 1, all: 2 });
});

test('what torch.autograd.grad computed weighs what the step made of it', () => {
  const { rows } = recordedLedger([
    [
      processOf(),
      modelOf(),
      forwardOf([ROW]),
      trainedOf([{ column: 0, target: 5, weight: 2 }], { pass: 0 }),
      trainedOf([{ column: 0, target: 5, weight: 4 }], { pass: 1 }),
      trainedOf([{ column: 1, target: 6, weight: 4 }], { pass: 2 }),
      trainedOf([{ column: 2, target: 7, weight: 4 }], { pass: 3 }),
      stepOf({ passes: [0, 1, 2], factors: [0.5, 0.25, 0] }),
    ],
  ]);
  expect(rows[0]?.trained[1]?.weight).toBeCloseTo(2, 12);
  expect(rows[0]?.trained[2]).toBeUndefined();
  // Nobody says what became of it.
  expect(rows[0]?.trained[3]).toMatchObject({ target: 7, weight: undefined });
});

test('what else is in the loss is told once, added up over the micro-batches of a step', () => {
  const teacher = { kind: 'teacher', model: 1, temperature: 1.5, sum: 0.25 } as const;
  const smoothing = { kind: 'smoothing', epsilon: 0.0999999 } as const;
  const pass = (forward: number) => [
    forwardOf([ROW], { forward }),
    trainedOf([{ column: 0, target: 5, weight: 0.25, residual: 1e-7 }], {
      forward,
      terms: [teacher, smoothing],
    }),
  ];
  const ledger = recordedLedger([[processOf(), modelOf(), ...pass(0), ...pass(1), stepOf()]]);
  expect(lossWords(ledger)).toEqual([
    '0.5 cross-entropy + 0.5 KL to model 1 at temperature 1.5 (with the factor T²; 1.13 without it), label smoothing 0.1',
  ]);
  const entropy = { kind: 'entropy', sum: null, rewarded: false } as const;
  const other = recordedLedger([
    [processOf(), modelOf(), forwardOf([ROW]), trainedOf([{ column: 0 }], { terms: [entropy] }), stepOf()],
  ]);
  expect(lossWords(other)).toEqual(['entropy term (the loss punishes entropy)']);
});

test('a forward pass with gradients that no backward pass reached is there, and says so', () => {
  const { rows } = recordedLedger([
    [processOf(), modelOf(), forwardOf([ROW, ROW]), stepOf({ changed: false })],
  ]);
  expect(rows.map(({ reached, row }) => [reached, row])).toEqual([
    [false, 0],
    [false, 1],
  ]);
});

test('a backward pass of zeros has reached its rows', () => {
  const { rows } = recordedLedger([
    [processOf(), modelOf(), forwardOf([ROW]), trainedOf([], { not_finite: 3 }), stepOf()],
  ]);
  expect(rows[0]).toMatchObject({ reached: true, notFinite: 3 });
});

test('the reference is another model, or the policy without its adapters', () => {
  const { models, rows, scored } = recordedLedger([
    [
      processOf(),
      modelOf(),
      modelOf({ model: 1 }),
      forwardOf([ROW], { forward: 0, model: 1, grad: false }),
      forwardOf([ROW], { forward: 1, grad: false }),
      forwardOf([ROW], { forward: 2, adapters_off: true }),
      forwardOf([ROW], { forward: 3 }),
      trainedOf([{ column: 0, target: 5, weight: 1 }], { forward: 3 }),
      stepOf(),
    ],
  ]);
  expect(models.map(({ role }) => role)).toEqual(['policy', 'frozen']);
  expect(scored.map(({ forward, by }) => [forward, by])).toEqual([
    [0, 'reference'],
    [1, 'policy'],
    [2, 'reference'],
  ]);
  expect(rows.map(({ forward }) => forward)).toEqual([3]);
});

test('a model that got gradients and that no optimiser holds is no policy', () => {
  const { models } = recordedLedger([
    [
      processOf(),
      modelOf(),
      modelOf({ model: 1 }),
      forwardOf([ROW]),
      forwardOf([ROW], { forward: 1, model: 1 }),
      trainedOf([{ column: 0, target: 5, weight: 1 }]),
      trainedOf([{ column: 0, target: 5, weight: -1 }], { forward: 1 }),
      stepOf(),
    ],
  ]);
  expect(models.map(({ role }) => role)).toEqual(['policy', 'frozen']);
});

test('before the first step a policy is what got gradients', () => {
  const { models, steps } = recordedLedger([
    [
      processOf(),
      modelOf(),
      modelOf({ model: 1 }),
      forwardOf([ROW], { model: 1, grad: false }),
      forwardOf([ROW], { forward: 1 }),
      trainedOf([{ column: 0, target: 5, weight: 1 }], { forward: 1 }),
    ],
  ]);
  expect(models.map(({ role }) => role)).toEqual(['policy', 'frozen']);
  expect(steps).toEqual([{ index: 0, ranks: [{ rank: 0, optimizer: '' }] }]);
});

test('micro-batches are one step, and two optimisers of one model make one', () => {
  const { rows, steps } = recordedLedger([
    [
      processOf(),
      modelOf(),
      forwardOf([ROW]),
      forwardOf([ROW], { forward: 1 }),
      stepOf({ optimizer: 'Muon', gradient_norm: 3 }),
      stepOf({ step: 1, optimizer: 'AdamW', gradient_norm: 4, changed: false }),
      forwardOf([ROW], { forward: 2, step: 2 }),
      stepOf({ step: 2, optimizer: 'Muon' }),
      stepOf({ step: 3, optimizer: 'AdamW' }),
    ],
  ]);
  expect(rows.map(({ step }) => step)).toEqual([0, 0, 1]);
  expect(steps).toHaveLength(2);
  expect(steps[0]?.ranks[0]).toMatchObject({
    optimizer: 'Muon and AdamW',
    done: { gradientNorm: 5, changed: true },
  });
});

test('optimisers of other models are not counted', () => {
  const { steps } = recordedLedger([
    [processOf(), modelOf(), forwardOf([ROW]), stepOf({ models: [], optimizer: 'SGD' }), stepOf()],
  ]);
  expect(steps.map(({ ranks }) => ranks.map(({ optimizer }) => optimizer))).toEqual([['AdamW']]);
});

test('steps without any forward pass of the policy are one step that trained nothing', () => {
  const { rows, steps } = recordedLedger([[processOf(), modelOf(), stepOf({ changed: false })]]);
  expect(rows).toEqual([]);
  expect(steps).toMatchObject([{ index: 0, ranks: [{ done: { changed: false } }] }]);
});

test('a step that a gradient scaler left out is marked', () => {
  const { steps } = recordedLedger([
    [processOf(), modelOf(), forwardOf([ROW]), stepOf({ skipped: true, changed: false })],
  ]);
  expect(steps[0]?.ranks[0]?.done?.skipped).toBe(true);
});

test('the attention mask says what is real, and the ids where there is none', () => {
  const real = (ids: readonly number[], facts: Parameters<typeof forwardOf>[1] = {}, pad = 0) =>
    recordedLedger([
      [processOf(), tokenizerOf({ pad_token_id: pad }), modelOf(), forwardOf([ids], facts), stepOf()],
    ])
      .rows[0]?.real.map(Number)
      .join('');
  expect(real([0, 5, 2, 0], { attention_mask: [[1, 1, 1, 0]] })).toBe('1110');
  expect(real([0, 0, 5, 0, 2, 0])).toBe('001110');
  expect(real([0, 0, 0])).toBe('000');
  // A mask of segment numbers is no answer.
  expect(real([5, 2, 6, 0], { attention_mask: [[1, 1, 2, 0]] })).toBe('1110');
  // Pad is EOS: the first of the run ends the row.
  expect(real([5, 6, 2, 2, 2], {}, 2)).toBe('11100');
  expect(real([2, 2, 5, 6, 2], {}, 2)).toBe('00111');
  // Pad is BOS: the last of the run begins it.
  expect(real([1, 1, 5, 6], {}, 1)).toBe('0111');
  // Packed: pads within it are tokens, those behind it do not count on.
  expect(real([0, 5, 2, 0, 6, 0, 0, 0], { position_ids: [[0, 1, 2, 0, 1, 2, 0, 0]] })).toBe('11111100');
  // Left padding whose positions are said is no packing.
  expect(real([0, 0, 5, 6], { position_ids: [[1, 1, 0, 1]] })).toBe('0011');
});

test('log-probabilities stay where they are, and rows without any have none', () => {
  const logprobs = [[Number.NaN, -1, -2, -3], Array<number>(4).fill(Number.NaN)];
  const { scored } = recordedLedger([
    [processOf(), modelOf(), forwardOf([ROW, ROW], { grad: false, logprobs })],
  ]);
  expect(scored.map((row) => row.logprobs)).toEqual([[Number.NaN, -1, -2, -3], undefined]);
});

test('what generate() returned is prompts and completions without padding', () => {
  const prompts = [
    [0, 1, 5],
    [1, 6, 7],
  ];
  const { generations } = recordedLedger([
    [
      processOf(),
      modelOf(),
      generateOf(
        prompts,
        [
          [0, 1, 5, 8, 2, 0],
          [0, 1, 5, 8, 9, 8],
          [1, 6, 7, 2, 0, 0],
          [1, 6, 7, 9, 0, 0],
        ],
        {
          attention_mask: [
            [0, 1, 1],
            [1, 1, 1],
          ],
          temperature: 0.7,
        },
      ),
    ],
  ]);
  expect(
    generations.map(({ row, promptIds, completionIds, stopped }) => [row, promptIds, completionIds, stopped]),
  ).toEqual([
    [0, [1, 5], [8, 2], true],
    [1, [1, 5], [8, 9, 8], false],
    [2, [1, 6, 7], [2], true],
    [3, [1, 6, 7], [9], false],
  ]);
  expect(generations[0]?.temperature).toBe(0.7);
});

test('what was left to draw from is known where something was drawn', () => {
  const drawn = (settings: Readonly<Record<string, unknown>>, do_sample = true) =>
    recordedLedger([
      [processOf(), modelOf(), generateOf([[3]], [[3, 5]], { settings, do_sample })],
    ]).generations.map(({ topP, topK }) => ({ topP, topK }));
  expect(drawn({ top_p: 0.8, top_k: 20 })).toEqual([{ topP: 0.8, topK: 20 }]);
  expect(drawn({ top_p: 1, top_k: -1 })).toEqual([{}]);
  expect(drawn({ top_p: 0.8 }, false)).toEqual([{}]);
});

test('without a mask, prompts lose their pads only where generate() takes these for padding', () => {
  const promptOf = (pad: number) =>
    recordedLedger([
      [
        processOf(),
        modelOf(),
        generateOf([[2, 2, 5]], [[2, 2, 5, 8, 2]], { pad_token_id: pad, do_sample: false }),
      ],
    ]).generations[0];
  expect(promptOf(2)).toMatchObject({ promptIds: [2, 2, 5], temperature: undefined });
  expect(promptOf(5)?.promptIds).toEqual([2, 2]);
});

test('settings, versions, ends and troubles are passed on', () => {
  const ledger = recordedLedger([
    [
      processOf(),
      { kind: 'versions', versions: { torch: '2.13.0', trl: '1.13.0' }, device: 'cpu' },
      settingsRecord('SFTTrainer', { loss_type: 'nll', assistant_only_loss: true }),
      { kind: 'blind', what: 'vllm', sentence: 'vLLM.' },
      { kind: 'trouble', where: 'forward', traceback: 'oops' },
      endOf(),
    ],
  ]);
  expect(ledger.versions).toEqual({ torch: '2.13.0', trl: '1.13.0' });
  expect(ledger.settings).toMatchObject({ trainer: 'SFTTrainer', semantics: { sft_target: 'assistant' } });
  expect(ledger.processes[0]).toMatchObject({
    end: { reason: 'steps' },
    blind: [{ what: 'vllm' }],
    troubles: [{ where: 'forward' }],
  });
});

test('nothing at all is a ledger of nothing', () => {
  expect(recordedLedger([])).toMatchObject({
    processes: [],
    models: [],
    steps: [],
    rows: [],
    scored: [],
    generations: [],
  });
});
