// ZeRO 1 by hand: each rank's optimiser holds tensors of its own and sends them to the others. What the ranks multiply theirs by
// is compared, gradients that nobody steps by are not, and values that come from another rank are no surprise.
import { describe, expect, test } from 'vitest';
import { ledgerProperties } from '../../../properties/ledger/index.ts';
import { encodeTensor, type Tensor } from '../../../src/protocol/tensor.ts';
import type { Ledger } from '../../../src/trace/ledger.ts';
import type { TraceRecord } from '../../../src/trace/records/records.ts';
import { endOf, forwardOf, modelOf, processOf, recordedLedger, stepOf, trainedOf } from '../recorded.ts';

const CLIP = 'ranks/shards-are-clipped-by-one-norm';
const REDUCED = 'ranks/gradients-are-reduced';
const MOVES = 'update/every-tensor-moves';
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const SIZES = [4, 1, 0.5, 2, 3, 6, 0.25, 7];

const whole = (values: readonly number[]): Tensor => encodeTensor(values, 'int32');
const floats = (values: readonly number[]): Tensor => encodeTensor(values, 'float64');

interface Rank {
  /** Multiplies the gradients of its own by this. */
  readonly factor: number | readonly number[];
  /** Tensors that its optimiser holds. */
  readonly holds: (at: number) => boolean;
  /** It knows of tensors that moved while no optimiser was at work. */
  readonly anew?: readonly string[];
}

function recordsOf(rank: number, { factor, holds, anew = [] }: Rank): TraceRecord[] {
  const by = (at: number): number =>
    !holds(at) ? 1 : typeof factor === 'number' ? factor : (factor[at] ?? 1);
  const sizes = SIZES.map((size, at) => size * by(at));
  const none = NAMES.map(() => Number.NaN);
  return [
    processOf({ rank, world: 2 }),
    modelOf(),
    {
      kind: 'replica',
      model: 0,
      names: NAMES,
      shapes: NAMES.map(() => '4x4'),
      apart: [],
      wrapper: null,
      gone: false,
      group: [0, 1],
    },
    {
      kind: 'tensors',
      model: 0,
      names: NAMES,
      sizes: NAMES.map(() => 16),
      dtypes: NAMES.map(() => 'float32'),
    },
    {
      kind: 'checksums',
      model: 0,
      step: 0,
      of: 'parameters',
      sums: encodeTensor([1, 2, 3, 4, 5, 6, 7, 8], 'int64'),
    },
    forwardOf([[5, 6, 7, rank]], { forward: 0, step: 0 }),
    trainedOf([{ column: 0, target: 6, weight: 0.5 }], { forward: 0 }),
    {
      kind: 'checksums',
      model: 0,
      step: 0,
      of: 'gradients',
      sums: encodeTensor(
        sizes.map((size) => Math.round(size * 1000)),
        'int64',
      ),
      sizes: floats(sizes),
      // Of a and b, before the script reduced them, and after it.
      local: floats([3, rank]),
      reduced: floats([3, 0.5].map((value, at) => value * by(at))),
      calls: 1,
      through: 1,
      synced: 1,
    },
    {
      kind: 'update',
      model: 0,
      step: 0,
      optimizer: 0,
      tensors: whole(NAMES.map((_, at) => at)),
      norms: floats(sizes),
      peaks: floats(none),
      beside: floats(none),
      moved: whole(NAMES.map((_, at) => Number(holds(at)))),
      rates: floats(NAMES.map(() => 0.001)),
      decays: floats(NAMES.map(() => 0)),
      held: whole(NAMES.map((_, at) => Number(holds(at)))),
      trainable: whole(NAMES.map(() => 1)),
    },
    stepOf({ step: 0 }),
    ...(anew.length === 0
      ? []
      : [
          {
            kind: 'event',
            what: 'made-anew',
            step: 1,
            model: 0,
            place: null,
            names: anew,
            values: { tensors: anew.length },
          } as const,
        ]),
    endOf(),
  ];
}

const even = (at: number): boolean => at % 2 === 0;
const odd = (at: number): boolean => at % 2 === 1;
const ledgerOf = (left: Rank, right: Rank): Ledger =>
  recordedLedger([recordsOf(0, left), recordsOf(1, right)]);
const dealt = (left: Rank['factor'], right: Rank['factor']): Ledger =>
  ledgerOf({ factor: left, holds: even }, { factor: right, holds: odd });

function judge(id: string, ledger: Ledger) {
  const property = ledgerProperties.find((each) => each.id === id);
  if (property === undefined) throw new Error(`no property ${id}`);
  return property.needs?.(ledger) === undefined ? property.judge(ledger) : undefined;
}
const told = (id: string, ledger: Ledger): readonly string[] =>
  (judge(id, ledger)?.findings ?? []).map(({ sentence }) => sentence);

describe('clipping of tensors that are dealt out', () => {
  test.each([
    [0.1, 0.2],
    [0.9, 0.5],
    [1, 0.3],
    [0.01, 0.0105],
  ])('by a norm of each rank is found: %d and %d', (left, right) => {
    expect(told(CLIP, dealt(left, right))[0]).toMatch(
      /gradients of rank \d are multiplied by [\d.]+ and those of rank \d by [\d.]+: not by one factor/,
    );
  });

  test.each([
    [1, 1],
    [0.1, 0.1],
    [0.3, 0.302],
    [2, 2],
  ])('by one norm is right, and no gradient is missed: %d and %d', (left, right) => {
    const ledger = dealt(left, right);
    expect(judge(CLIP, ledger)?.judged).toBe(1);
    expect(told(CLIP, ledger)).toEqual([]);
    expect(told(REDUCED, ledger)).toEqual([]);
  });

  test('more than a factor is compared with none', () => {
    expect(judge(CLIP, dealt([0.1, 1, 0.4, 1, 0.9, 1, 0.3, 1], 0.5))).toBeUndefined();
  });

  test('tensors that both optimisers hold are compared as ever', () => {
    const all = (): boolean => true;
    const ledger = ledgerOf({ factor: 1, holds: all }, { factor: [1, 1, 0.5, 1, 0.1, 1, 1, 1], holds: all });
    expect(judge(CLIP, ledger)).toBeUndefined();
    expect(told(REDUCED, ledger)[0]).toContain('found other gradients: c and e of 8 tensors');
  });

  test('what a rank has clipped is known to be a mean by what the other has', () => {
    const weights = ({ rows }: Ledger): unknown[] => rows.map(({ trained }) => trained[1]?.weight);
    expect(weights(dealt(1, 1))).toEqual([0.25, 0.25]);
    expect(weights(dealt(0.1, 0.1))).toEqual([0.25, 0.25]);
  });
});

test.each<[what: string, anew: readonly string[], says: RegExp | undefined]>([
  ['of tensors that the other rank holds', ['b', 'd', 'h'], undefined],
  [
    'of one of its own among them',
    ['a', 'b', 'd'],
    /Before step 1, 1 tensor changed while no optimiser was at work: a\./,
  ],
])('new values %s', (_, anew, says) => {
  const ledger = ledgerOf({ factor: 1, holds: even, anew }, { factor: 1, holds: odd });
  const notices = (judge(MOVES, ledger)?.notices ?? []).map(({ sentence }) => sentence);
  if (says === undefined) expect(notices).toEqual([]);
  else expect(notices[0]).toMatch(says);
});
