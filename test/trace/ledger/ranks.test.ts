// The rules about several processes: each kills a script with its fault, and leaves alone what only looks like it. The
// ledgers are made of lines as the tracer writes them, one list per rank.
import { describe, expect, test } from 'vitest';
import { ledgerProperties } from '../../../properties/ledger/index.ts';
import { encodeTensor } from '../../../src/protocol/tensor.ts';
import type { Ledger } from '../../../src/trace/ledger.ts';
import type { LedgerJudgement } from '../../../src/trace/property.ts';
import type { TraceRecord } from '../../../src/trace/records/records.ts';
import type { ChecksumsRecord, ReplicaRecord } from '../../../src/trace/records/steps.ts';
import { endOf, forwardOf, modelOf, processOf, recordedLedger, stepOf, trainedOf } from '../recorded.ts';

const NAMES = ['wte.weight', 'norm.weight', 'mlp.weight', 'head.weight'];
const BEGIN = 'ranks/replicas-begin-equal';
const STAY = 'ranks/replicas-stay-equal';
const ALONE = 'ranks/no-process-trains-alone';
const REDUCED = 'ranks/gradients-are-reduced';
const CALLED = 'ranks/wrapper-is-called';
const ROWS = 'ranks/each-has-other-rows';
const ALIKE = 'ranks/settings-are-alike';
const LOADER = 'loader/batches-are-new';

/** What one rank recorded of one step. */
interface Step {
  readonly parameters?: readonly number[];
  readonly gradients?: readonly number[];
  readonly facts?: Partial<Omit<ChecksumsRecord, 'kind' | 'of' | 'sums' | 'step' | 'model'>>;
  readonly rows?: readonly (readonly number[])[];
  readonly rate?: number;
  readonly training?: boolean;
  readonly batch?: readonly number[];
}

const whole = (values: readonly number[]) => encodeTensor(values, 'int64');
const floats = (values: readonly number[]) => encodeTensor(values, 'float64');
const SAME = [11, 12, 13, 14];

function rankOf(rank: number, steps: readonly Step[], facts: Partial<ReplicaRecord> = {}): TraceRecord[] {
  const replica: ReplicaRecord = {
    kind: 'replica',
    model: 0,
    names: NAMES,
    shapes: NAMES.map(() => '4x4'),
    apart: [],
    wrapper: null,
    gone: false,
    group: [0, 1],
    ...facts,
  };
  return [
    processOf({ rank, world: 2 }),
    modelOf(),
    replica,
    ...steps.flatMap(
      ({ parameters = SAME, gradients = SAME, rate = 0.001, ...more }, step): TraceRecord[] => [
        { kind: 'checksums', model: 0, step, of: 'parameters', sums: whole(parameters) },
        forwardOf(more.rows ?? [[5, 6, 7, 10 * step + rank]], {
          forward: step,
          step,
          training: more.training ?? true,
          averaged_over: replica.wrapper === null ? 1 : 2,
          ...(more.batch === undefined ? {} : { batch: more.batch }),
        }),
        trainedOf([{ column: 0, target: 6, weight: 0.5 }], { forward: step }),
        {
          kind: 'checksums',
          model: 0,
          step,
          of: 'gradients',
          sums: whole(gradients),
          calls: 1,
          through: 1,
          synced: 1,
          ...more.facts,
        },
        stepOf({ step, learning_rates: [rate] }),
      ],
    ),
    endOf(),
  ];
}

const DDP: Partial<ReplicaRecord> = { wrapper: 'DistributedDataParallel' };
const two = (left: readonly Step[], right: readonly Step[], facts: Partial<ReplicaRecord> = {}): Ledger =>
  recordedLedger([rankOf(0, left, facts), rankOf(1, right, facts)]);

function judge(id: string, ledger: Ledger): LedgerJudgement {
  const property = ledgerProperties.find((each) => each.id === id);
  if (property === undefined) throw new Error(`no property ${id}`);
  return property.needs?.(ledger) === undefined
    ? property.judge(ledger)
    : { judged: 0, setAside: [], findings: [], more: 0 };
}
const told = (id: string, ledger: Ledger): readonly string[] =>
  judge(id, ledger).findings.map(({ sentence }) => sentence);
const noticed = (id: string, ledger: Ledger): string =>
  (judge(id, ledger).notices ?? []).map(({ sentence }) => sentence).join(' ');
/** All rules of ranks that find something. */
const blaming = (ledger: Ledger): readonly string[] =>
  [BEGIN, STAY, ALONE, REDUCED, CALLED, ROWS, ALIKE, LOADER].filter((id) => told(id, ledger).length > 0);
const weights = ({ rows }: Ledger): readonly unknown[] => rows.map(({ trained }) => trained[1]?.weight);

const GOOD: readonly Step[] = [{}, { parameters: [1, 2, 3, 4], gradients: [5, 6, 7, 8] }];
const OTHER = [21, 22, 23, 24];

describe('one model', () => {
  test.each([DDP, {}])('the same parameters and gradients hold: %o', (facts) => {
    const ledger = two(GOOD, GOOD, facts);
    expect(blaming(ledger)).toEqual([]);
    for (const id of [BEGIN, STAY, ALONE, REDUCED]) expect(judge(id, ledger).judged, id).toBeGreaterThan(0);
  });

  test('other parameters before the first step, and one gradient', () => {
    const ledger = two([{}], [{ parameters: [11, 12, 99, 14] }]);
    expect(told(BEGIN, ledger)).toEqual([
      'Before step 0, the parameters of ranks 0 and 1 are not the same: mlp.weight of 4 tensors.',
    ]);
    expect(blaming(ledger)).toEqual([BEGIN]);
  });

  test('other parameters behind a step with one gradient', () => {
    const ledger = two(GOOD, [{}, { parameters: [1, 2, 3, 5], gradients: [5, 6, 7, 8] }], DDP);
    expect(told(STAY, ledger)[0]).toContain(
      'left others: head.weight of 4 tensors differ between ranks 0 and 1',
    );
    expect(blaming(ledger)).toEqual([STAY]);
  });

  test('experts of their own beside what is shared are nobody’s fault', () => {
    const own = (x: number): Step => ({ parameters: [11, 12, x, 14], gradients: [11, 12, x + 1, 14] });
    expect(blaming(two([own(1), own(3)], [own(2), own(4)]))).toEqual([]);
  });

  test('models of their own from the start are noticed', () => {
    const ledger = two([{}], [{ parameters: OTHER, gradients: OTHER }]);
    expect(blaming(ledger)).toEqual([]);
    expect(noticed(BEGIN, ledger)).toContain('of its own');
  });

  test('shards are not compared, and tensors of other shapes are of another part', () => {
    const ones = [-1, -1, -1, -1];
    const shard: readonly Step[] = [{ parameters: ones, gradients: ones }];
    const sharded = two(shard, shard, { wrapper: 'FSDPModule', apart: [0, 1, 2, 3] });
    expect(blaming(sharded)).toEqual([]);
    expect(judge(REDUCED, sharded).judged + judge(BEGIN, sharded).judged).toBe(0);
    const parts = recordedLedger([
      rankOf(0, [{}]),
      rankOf(1, [{ parameters: OTHER, gradients: OTHER }], { shapes: NAMES.map(() => '2x4') }),
    ]);
    expect(parts.replicas).toBeUndefined();
    expect(blaming(parts)).toEqual([]);
  });
});

describe('one gradient', () => {
  const apart: readonly Step[] = [{ gradients: OTHER }, { parameters: OTHER, gradients: [31, 32, 33, 34] }];

  test('a wrapper that does nothing; the weights are those of each process', () => {
    const ledger = two(GOOD, apart, DDP);
    expect(told(REDUCED, ledger)[0]).toBe(
      'At step 0, the optimisers of ranks 0 and 1 found other gradients: wte.weight and 3 more of 4 tensors.',
    );
    expect(judge(REDUCED, ledger).findings[0]?.note).toContain('its hooks did nothing');
    expect(weights(ledger)).toEqual([0.5, 0.5, 0.5, 0.5]);
    expect(weights(two(GOOD, GOOD, DDP))).toEqual([0.25, 0.25, 0.25, 0.25]);
    expect(blaming(ledger)).toEqual([REDUCED]);
  });

  test('why it does nothing, where that is known', () => {
    const with_ = (facts: Step['facts'], more: Partial<ReplicaRecord> = {}): Ledger =>
      two(
        GOOD.map((step) => ({ ...step, facts: facts ?? {} })),
        apart.map((step) => ({ ...step, facts: facts ?? {} })),
        { ...DDP, ...more },
      );
    expect(judge(REDUCED, with_({ synced: 0 })).findings[0]?.note).toContain('no_sync()');
    expect(judge(REDUCED, with_({}, { gone: true })).findings[0]?.note).toContain('thrown away');
    const past = with_({ through: 0 });
    expect(told(CALLED, past)[0]).toContain('None of the 2 forward passes before step 0 went through');
    expect(blaming(past)).toEqual([CALLED]);
    // Who calls the model inside and reduces by hand is right.
    const byHand = GOOD.map((step): Step => ({ ...step, facts: { through: 0 } }));
    expect(blaming(two(byHand, byHand, DDP))).toEqual([]);
  });

  test('some tensors left out', () => {
    const ledger = two(GOOD, [{ gradients: [11, 12, 99, 98] }, {}]);
    expect(told(REDUCED, ledger)[0]).toContain('mlp.weight and head.weight of 4 tensors');
  });

  test('clipped on one rank: in proportion, tensor by tensor', () => {
    const sizes = (factor: number): Step['facts'] => ({ sizes: floats([1, 2, 3, 4].map((x) => x * factor)) });
    const ledger = two([{ facts: sizes(1) ?? {} }], [{ gradients: OTHER, facts: sizes(0.25) ?? {} }]);
    expect(told(REDUCED, ledger)).toEqual([
      'At step 0, every gradient of rank 1 is 0.25 times that of rank 0.',
    ]);
    expect(blaming(ledger)).toEqual([REDUCED]);
  });

  test('nothing is shared: blamed, unless the parameters meet again', () => {
    const ledger = two(GOOD, apart);
    expect(told(ALONE, ledger)[0]).toContain('before step 1, wte.weight and 3 more of 4 tensors differ');
    expect(blaming(ledger)).toEqual([ALONE]);
    const met = two([...GOOD, {}], [...apart, { gradients: [41, 42, 43, 44] }]);
    expect(blaming(met)).toEqual([]);
    expect(noticed(ALONE, met)).toContain('local SGD');
    const averager = apart.map((step): Step => ({ ...step, facts: { periodic: true } }));
    expect(blaming(two(GOOD, averager, DDP))).toEqual([]);
  });

  test.each([
    ['two steps', 2],
    ['three steps', 3],
    ['seven steps', 7],
  ])('gradients that are reduced inside the optimiser are no local SGD: %s', (_what, count) => {
    const own = (rank: number): readonly Step[] =>
      Array.from({ length: count }, (_, step) => ({
        parameters: SAME.map((sum) => sum + 10 * step),
        gradients: SAME.map((sum) => sum + 100 * rank + step + 1),
      }));
    const ledger = two(own(0), own(1));
    expect(blaming(ledger)).toEqual([]);
    expect(noticed(ALONE, ledger)).toContain('the gradients are reduced inside the optimiser');
    expect(noticed(ALONE, ledger)).not.toContain('local SGD');
  });

  test('a sum by hand is told from a mean', () => {
    const by = (local: number, reduced: number): Step => ({
      facts: { local: floats([local, 1]), reduced: floats([reduced, reduced / 2]) },
    });
    expect(weights(two([by(1, 2)], [by(3, 2)]))).toEqual([0.25, 0.25]);
    expect(weights(two([by(1, 4)], [by(3, 4)]))).toEqual([0.5, 0.5]);
    expect(two([by(1, 7)], [by(3, 7)]).rows[0]?.averagedOver).toBeUndefined();
    // An expert of each rank's own is no word about the others.
    const expert = (local: number, own: number): Step => ({ ...by(local, 2), gradients: [11, 12, 13, own] });
    expect(weights(two([expert(1, 14)], [expert(3, 15)]))).toEqual([0.25, 0.25]);
    // All came to it by themselves: tensor parallelism.
    expect(two([by(2, 2)], [by(2, 2)]).rows[0]?.averagedOver).toBe(1);
  });
});

describe('data and settings', () => {
  const rows = (...steps: readonly number[]): Step[] => steps.map((x) => ({ rows: [[5, 6, 7, x]] }));

  test('the same rows on all ranks', () => {
    expect(told(ROWS, two(rows(1, 2), rows(1, 2), DDP))).toEqual([
      'Every row of 2 steps came to each of ranks 0 and 1: 2 rows instead of 4.',
    ]);
    expect(blaming(two(rows(1, 2), rows(1, 3), DDP))).toEqual([]);
  });

  test('one batch over and over, or one step alone, is noticed', () => {
    for (const same of [rows(1, 1), rows(1)]) {
      expect(blaming(two(same, same, DDP))).toEqual([]);
      expect(noticed(ROWS, two(same, same, DDP))).toContain('train the same 1 row');
    }
  });

  test('ranks that hold parts of a model have one row on purpose', () => {
    const parts = { apart: [2], group: [] };
    expect(blaming(two(rows(1, 2), rows(1, 2), parts))).toEqual([]);
  });

  test('learning rates and modes', () => {
    const ledger = two([{ rate: 0.1 }], [{ rate: 0.2 }], DDP);
    expect(told(ALIKE, ledger)).toEqual([
      'At step 0, rank 0 steps at a learning rate of 0.1 and rank 1 at 0.2.',
    ]);
    expect(told(ALIKE, two([{}], [{ training: false }], DDP))[0]).toContain(
      'in train mode on rank 0 and in eval mode on rank 1',
    );
  });

  test('numbers of steps, where nothing allows for it', () => {
    const ended = (facts: Step['facts'], more: readonly Step[] = GOOD): Ledger =>
      recordedLedger(
        [more, [...more, {}]].map((steps, rank) => [
          ...rankOf(
            rank,
            steps.map((step) => ({ ...step, facts: facts ?? {} })),
            DDP,
          ).slice(0, -1),
          endOf({ reason: 'finished' }),
        ]),
      );
    expect(told(ALIKE, ended({}))).toEqual(['Rank 0 made 2 steps and rank 1 made 3.']);
    expect(told(ALIKE, ended({ joined: true }))).toEqual([]);
    expect(told(ALIKE, ended({}, []))).toEqual([]);
    // The tracer ends the ranks one after the other.
    expect(told(ALIKE, two(GOOD, [...GOOD, {}], DDP))).toEqual([]);
  });
});

describe('loaders', () => {
  const one = (steps: readonly Step[]): Ledger => recordedLedger([rankOf(0, steps)]);
  const batch = (number: number, x: number, loader: readonly number[] = [2, 1, 64, 0]): Step => ({
    rows: [[5, 6, 7, x]],
    batch: [loader[3] ?? 0, number, ...loader.slice(0, 3)],
  });

  test('workers that make the same', () => {
    expect(told(LOADER, one([batch(0, 1), batch(1, 1), batch(2, 2), batch(3, 2)]))).toHaveLength(1);
    expect(told(LOADER, one([batch(0, 1), batch(1, 2)]))).toEqual([]);
    expect(judge(LOADER, one([batch(0, 1), batch(1, 2)])).judged).toBe(2);
  });

  test('a data set of one batch, and another pass over it, are noticed', () => {
    const small = [2, 1, 1, 0];
    for (const steps of [
      [batch(0, 1, small), batch(1, 1, small)],
      [batch(0, 1), batch(0, 1, [2, 1, 64, 1])],
      [batch(0, 1), batch(1, 1), batch(2, 1), batch(3, 1)],
    ]) {
      expect(told(LOADER, one(steps))).toEqual([]);
      expect(noticed(LOADER, one(steps))).toContain('Steps 0 and 1 train the same 1 row');
    }
  });

  test('a row that the data hold more than once is no batch that is given twice', () => {
    const alone = [0, 1, 64, 0];
    const ledger = one([batch(0, 1, alone), batch(1, 1, alone), batch(2, 2, alone)]);
    const ofSeveral = {
      ...ledger,
      rows: ledger.rows.map((row) => ({
        ...row,
        spans: { ...row.spans, origin: { kind: 'dataset', example: 1, form: 'text', shared: true } as const },
      })),
    };
    const remarks = (of: Ledger) => judge(LOADER, of).notices?.map(({ remark }) => remark);
    expect(remarks(ledger)).toEqual([false]);
    expect(remarks(ofSeveral)).toEqual([true]);
  });

  test('one row of the eight that are fetched, of all batches that have several', () => {
    const eight = [0, 8, 64, 0];
    const rest = [0, 1, 64, 0];
    const kept = [batch(0, 1, eight), batch(1, 2, eight)];
    expect(noticed(LOADER, one(kept))).toContain('keeps one and drops 7');
    expect(noticed(LOADER, one([...kept, batch(2, 3, rest)]))).toContain('keeps one and drops 7');
    expect(noticed(LOADER, one([batch(0, 1, rest), batch(1, 2, rest)]))).toBe('');
  });
});

describe('clipping of shards', () => {
  const CLIP = 'ranks/shards-are-clipped-by-one-norm';
  const FSDP: [string, string] = ['FSDPModule', 'reworked'];
  const ZERO: [string, string] = ['DeepSpeedEngine', 'partition'];
  const worked = (
    rank: number,
    factors: readonly (number | undefined)[],
    cosine = 1,
    [wrapper, what] = ['FSDPModule', 'reworked'],
  ): TraceRecord[] => {
    const shard: Partial<ReplicaRecord> = { wrapper, apart: [0, 1, 2, 3] };
    const records = rankOf(rank, GOOD, shard);
    return factors
      .flatMap((factor, step): TraceRecord[] => {
        const mine = records.splice(
          0,
          records.findIndex(({ kind }) => kind === 'step'),
        );
        const event: TraceRecord = {
          kind: 'event',
          what,
          step,
          model: 0,
          place: null,
          names: [],
          values: { factor: factor ?? 1, cosine, tensors: 0 },
        };
        return [...mine, ...(factor === undefined ? [] : [event]), ...records.splice(0, 1)];
      })
      .concat(records);
  };

  test.each([
    [
      [0.1, 0.2],
      [0.1, 0.3],
    ],
    [
      [0.5, 0.9],
      [0.6, 0.7],
    ],
    [
      [0.01, 0.02],
      [0.2, 0.02],
    ],
  ])('by a norm of each rank is found: %o and %o', (left, right) => {
    for (const by of [FSDP, ZERO]) {
      const ledger = recordedLedger([worked(0, left, 1, by), worked(1, right, 1, by)]);
      expect(told(CLIP, ledger)[0]).toMatch(
        /gradients of rank \d are multiplied by [\d.]+ and those of rank \d by/,
      );
    }
  });

  test.each<
    [
      what: string,
      left: readonly (number | undefined)[],
      right: readonly (number | undefined)[],
      cosine?: number,
    ]
  >([
    ['by one norm', [0.1, 0.2], [0.1, 0.2003]],
    ['nothing is clipped', [undefined, undefined], [undefined, undefined]],
    ['a rank has no part of the gradient that was looked at', [0.1, 0.2], [undefined, 0.2]],
    ['gradients are worked on otherwise', [0.1, 0.2], [0.3, 0.4], 0.9],
  ])('is right: %s', (_what, left, right, cosine) => {
    for (const by of [FSDP, ZERO])
      expect(told(CLIP, recordedLedger([worked(0, left, cosine, by), worked(1, right, cosine, by)]))).toEqual(
        [],
      );
  });
});
