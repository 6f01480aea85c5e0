// A ledger judged: the events and verdicts of it, and what is said where there was nothing to see.
import { describe, expect, test } from 'vitest';
import type { PropertyResult, RunEvent } from '../../src/check/events.ts';
import { complaintAbout } from '../../src/report/machine/event-shape.ts';
import { blindness, partlyBlind } from '../../src/trace/blindness.ts';
import type { LedgerJudgement, LedgerProperty } from '../../src/trace/property.ts';
import { helloOf, judgeLedger } from '../../src/trace/run.ts';
import {
  endOf,
  forwardOf,
  generateOf,
  modelOf,
  processOf,
  recordedLedger,
  stepOf,
  trainedOf,
} from './recorded.ts';
import { ledgerOf } from './traced.ts';

const REPLAY = { command: '', again: 'npx lossproof trace --from there' };
const FINDING = { kind: 'prompt', sentence: 'Token 3 of row 0 is trained.', given: { ids: [1, 2, 3] } };

function property(judge: LedgerProperty['judge'], needs?: LedgerProperty['needs']): LedgerProperty {
  return {
    id: 'trace/of-a-test',
    title: 'a rule',
    stage: 'trace',
    level: 'must',
    why: 'because',
    catches: [],
    judge,
    ...(needs === undefined ? {} : { needs }),
  };
}

function judged(...properties: readonly LedgerProperty[]) {
  const events: RunEvent[] = [];
  const ledger = ledgerOf({ rows: [{ ids: [1, 5, 6, 2] }] });
  const results = judgeLedger(ledger, properties, { command: 'python train.py', replay: REPLAY }, (event) =>
    events.push(event),
  );
  return { events, results };
}

const holds = { judged: 4, setAside: 1, findings: [], more: 0, labels: { stopped: 3 } };

test('a run has the events of a check, each as reports take them', () => {
  const { events, results } = judged(
    property(() => holds),
    property(() => ({ ...holds, findings: [FINDING] })),
  );
  expect(events.map(({ type }) => type)).toEqual([
    'run-start',
    'property-start',
    'property-end',
    'property-start',
    'property-end',
    'run-end',
  ]);
  for (const event of events) expect(complaintAbout(JSON.parse(JSON.stringify(event)))).toBeUndefined();
  expect(events[0]).toMatchObject({
    command: 'python train.py',
    cases: 1,
    started: '2026-03-01T09:30:00.000Z',
  });
  expect(results.map(({ verdict }) => verdict)).toEqual(['pass', 'fail']);
  expect(results[0]).toMatchObject({ cases: 5, setAside: 1, labels: { stopped: 3 } });
});

test('a finding is a failure with its given, and the others are told behind it', () => {
  const others = [1, 2, 3, 4, 5].map((row) => ({ ...FINDING, sentence: `Row ${row} as well.` }));
  const [result] = judged(
    property(() => ({ ...holds, findings: [{ ...FINDING, note: 'By the mask.' }, ...others], more: 7 })),
  ).results;
  expect(result?.failure).toMatchObject({
    given: { ids: [1, 2, 3] },
    confirmed: 'not re-run',
    lines: [],
    finding: {
      kind: 'prompt',
      sentence: 'Token 3 of row 0 is trained.',
      note: 'By the mask. Also: Row 1 as well. Row 2 as well. Row 3 as well. And 9 more of the same rule.',
    },
  });
  expect(result?.failure?.finding).not.toHaveProperty('given');
  expect(result?.failure?.caseId).toMatch(/^[0-9a-f]+$/);
});

test('nothing judged is skipped, and what is not there is unsupported: neither passes', () => {
  const nothing = { judged: 0, setAside: 0, findings: [], more: 0 };
  const { results } = judged(
    property(() => nothing),
    property(() => ({ ...nothing, setAside: 3 })),
    property(
      () => holds,
      () => 'there is no generate() call',
    ),
  );
  expect(results.map(({ verdict, reason }) => [verdict, reason])).toEqual([
    ['skipped', 'no row of the kind that it checks was trained'],
    ['skipped', 'the evidence of all 3 was ambiguous'],
    ['unsupported', 'there is no generate() call'],
  ]);
});

test('a finding where nothing else could be judged is a failure', () => {
  const { results } = judged(property(() => ({ judged: 0, setAside: 2, findings: [FINDING], more: 0 })));
  expect(results[0]?.verdict).toBe('fail');
});

test('a check that throws is an error of its own, and the others are judged', () => {
  const { results } = judged(
    property(() => {
      throw new TypeError('no such row');
    }),
    property(() => holds),
  );
  expect(results.map(({ verdict }) => verdict)).toEqual(['error', 'pass']);
  expect(results[0]?.reason).toContain('no such row');
});

test('the script introduces itself by its name, its trainer and its libraries', () => {
  const ledger = ledgerOf({
    processes: [
      { argv: ['/usr/bin/torchrun', 'train.py'], end: endOf({ modules_called: false }) },
      { argv: ['jobs/train.py', '--fast'], rank: 0 },
    ],
    settings: { trainer: 'SFTTrainer' },
    versions: { torch: '2.13.0', trl: '1.13.0' },
  });
  expect(helloOf(ledger)).toMatchObject({
    name: 'train.py (SFTTrainer)',
    runtime: 'python 3.11.0, torch 2.13.0, trl 1.13.0',
    ops: {},
  });
});

test.each([
  [['/usr/bin/python3.11', '-u', '-W', 'ignore', 'jobs/train.py', '--lr', '1'], 'train.py'],
  [['C:\\Python\\python.exe', 'train.py'], 'train.py'],
  [['python', '-m', 'jobs.train', '--fast'], 'python -m jobs.train'],
  [['python', '-c', 'import train'], 'python -c ...'],
  [['/venv/bin/trl', 'sft'], 'trl'],
  [['python'], 'python'],
])('%j is called %s', (argv, name) => {
  expect(helloOf(ledgerOf({ processes: [{ argv }] })).name).toBe(name);
});

const ROW = [1, 5, 2];
const torch = { kind: 'versions' as const, versions: { torch: '2.13.0' }, device: 'cpu' };
const trained = trainedOf([{ column: 0, target: 5, weight: 1 }]);
const finished = endOf({ reason: 'finished' });

test('a training that was seen whole is not blind', () => {
  const ledger = recordedLedger([
    [processOf(), torch, modelOf(), forwardOf([ROW]), trained, stepOf(), endOf()],
  ]);
  expect([...blindness(ledger), ...partlyBlind(ledger)]).toEqual([]);
});

test.each([
  ['no Python process', [], 'No Python process of the command was traced'],
  [
    'no torch',
    [[processOf(), endOf({ torch: false, modules_called: false })]],
    'No process of the command imported torch',
  ],
  [
    'torch, and nothing called',
    [[processOf(), torch, endOf({ modules_called: false })]],
    'torch was imported, but no model was called',
  ],
  [
    'torch, and a model of which nothing is known',
    [[processOf(), torch, finished]],
    'no language model was recognised among them',
  ],
  [
    'an engine of its own',
    [
      [
        processOf(),
        torch,
        { kind: 'blind' as const, what: 'vllm', sentence: 'vLLM samples elsewhere' },
        finished,
      ],
    ],
    'vLLM samples elsewhere.',
  ],
  [
    'a model that only answers',
    [[processOf(), torch, modelOf(), generateOf([[1]], [[1, 2]]), finished]],
    'never with gradients',
  ],
  [
    'no backward pass',
    [[processOf(), torch, modelOf(), forwardOf([ROW]), finished]],
    'no backward pass reached it and no optimiser step was made',
  ],
  [
    'no optimiser step',
    [[processOf(), torch, modelOf(), forwardOf([ROW]), trained, finished]],
    'The script ended before its first optimiser step',
  ],
  [
    'a script that failed',
    [
      [
        processOf(),
        torch,
        modelOf(),
        forwardOf([ROW]),
        endOf({ reason: 'exception', exception: 'ValueError: no' }),
      ],
    ],
    'The script failed before its first optimiser step',
  ],
  [
    'a step of what was not seen',
    [[processOf(), torch, modelOf(), forwardOf([ROW], { grad: false }), stepOf(), endOf()]],
    'The optimiser made a step, but no forward pass with gradients',
  ],
  [
    'a fault of the tracer',
    [
      [
        processOf(),
        torch,
        modelOf(),
        forwardOf([ROW]),
        trained,
        { kind: 'trouble' as const, where: 'backward', traceback: 'Traceback\n  File\nValueError: shapes' },
        stepOf(),
        endOf(),
      ],
    ],
    'The tracer itself failed at backward: ValueError: shapes.',
  ],
])('of %s it is said in a sentence that nothing, or not all, was seen', (_, files, sentence) => {
  const sentences = blindness(recordedLedger(files));
  expect(sentences).toHaveLength(1);
  expect(sentences[0]).toContain(sentence);
  expect(sentences[0]).toMatch(/\.$/);
});

test('steps that were made while no gradient arrived are for the checks to judge', () => {
  const ledger = recordedLedger([
    [processOf(), torch, modelOf(), forwardOf([ROW]), stepOf({ changed: false }), endOf()],
  ]);
  expect(blindness(ledger)).toEqual([]);
});

test('a gradient that no single target explains anywhere is no verdict, and one that some do is', () => {
  const row = (...residuals: readonly number[]) => ({
    ids: [5, 6, 7, 2],
    at: Object.fromEntries(residuals.map((residual, at) => [at + 1, { weight: 1, residual }])),
  });
  const versions = { torch: '2.13.0' };
  const [sentence] = blindness(
    ledgerOf({ versions, rows: [row(1.3, 0.9, 1.1)], models: [{ head: 'blocks.0.mlp' }] }),
  );
  expect(sentence).toContain('the head that was found (blocks.0.mlp)');
  expect(blindness(ledgerOf({ versions, rows: [row(1.3, 0.2, 1.1)] }))).toEqual([]);
});

test('an actor of Ray that was killed is named, and one that is a rank with its rank', () => {
  const records = [torch, modelOf(), forwardOf([ROW]), trained, stepOf()];
  const told = (facts: object) => partlyBlind(recordedLedger([[processOf(facts), ...records]]));
  expect(told({ name: 'actor Policy', node: 'one' })).toEqual([
    'Actor Policy (pid 100 on one) was ended from outside; only the part that it had recorded until then is judged.',
  ]);
  expect(told({ name: 'actor Policy', node: 'one', rank: 1, world: 2 })).toEqual([
    'Actor Policy (pid 101, rank 1 on one) was ended from outside; only the part that it had recorded until then is judged.',
  ]);
});

test('the script of a run is that of the driver, whose workers run a file of Ray', () => {
  const actor = [
    processOf({ argv: ['python', 'default_worker.py'], name: 'actor Policy', node: 'one' }),
    modelOf(),
    forwardOf([ROW]),
    trained,
    stepOf(),
    endOf(),
  ];
  const driver = [processOf({ pid: 99, argv: ['python', 'train.py'], name: 'driver', node: 'one' }), endOf()];
  expect(helloOf(recordedLedger([actor, driver])).name).toBe('train.py');
});

test('what was not seen beside a training that was belongs to its report', () => {
  const ledger = recordedLedger([
    [
      processOf(),
      torch,
      { kind: 'blind', what: 'vllm', sentence: 'vLLM samples elsewhere.' },
      modelOf(),
      forwardOf([ROW]),
      trained,
      stepOf(),
    ],
  ]);
  expect(blindness(ledger)).toEqual([]);
  expect(partlyBlind(ledger)).toEqual([
    'vLLM samples elsewhere.',
    'Process 100 (rank 0) was ended from outside; only the part that it had trained until then is judged.',
  ]);
});

describe('what a property notices', () => {
  const ledger = ledgerOf({ rows: [{ ids: [5, 6, 2] }] });
  const notice = { sentence: 'Step 1 trains the batch of step 0 again.', answers: ["--semantics '{}'"] };
  const property = (id: string, judgement: Partial<LedgerJudgement>): LedgerProperty => ({
    id,
    title: id,
    stage: 'trace',
    level: 'should',
    why: '',
    catches: [],
    judge: () => ({ judged: 1, setAside: 0, findings: [], more: 0, notices: [notice], ...judgement }),
  });
  const properties = [
    property('trace/holds', {}),
    property('trace/fails', { findings: [{ kind: 'k', sentence: 'It is.', given: {} }] }),
  ];
  const judged = (
    strict: boolean,
    of = properties,
    meant: readonly string[] = [],
  ): { results: readonly PropertyResult[]; notes: unknown } => {
    const events: RunEvent[] = [];
    const facts = { command: 'python train.py', replay: { command: '' }, strict, meant };
    const results = judgeLedger(ledger, of, facts, (event) => events.push(event));
    const end = events.at(-1);
    return { results, notes: end?.type === 'run-end' ? end.notes : undefined };
  };

  test('is noted, and changes no verdict', () => {
    const { results, notes } = judged(false);
    expect(results.map(({ verdict }) => verdict)).toEqual(['pass', 'fail']);
    expect(notes).toEqual([notice, notice]);
  });

  test('is asked where nothing may be left open; what fails fails by itself', () => {
    const { results, notes } = judged(true);
    expect(results.map(({ verdict }) => verdict)).toEqual(['ask', 'fail']);
    expect(results[0]).toMatchObject({ reason: notice.sentence, answers: notice.answers });
    expect(notes).toEqual([notice]);
  });

  const bare = { sentence: 'The model is trained in evaluation mode.', answers: [] };

  test('that no declaration answers is asked with the option that says that it is meant', () => {
    const one = [property('trace/holds', { notices: [bare] })];
    expect(judged(true, one).results[0]).toMatchObject({
      verdict: 'ask',
      answers: ['--meant trace/holds'],
    });
    expect(judged(true, one, ['trace/holds'])).toMatchObject({
      results: [{ verdict: 'pass' }],
      notes: undefined,
    });
  });

  test('that is a remark is told without a line, and never asked', () => {
    const remark = { ...bare, remark: true };
    const { results, notes } = judged(true, [property('trace/holds', { notices: [remark] })]);
    expect(results[0]).toMatchObject({ verdict: 'pass' });
    expect(notes).toEqual([bare]);
  });
});
