// 25 mechanisms that make two sides disagree, each at two strengths, over the noise of bf16 logits; and pairs of them.
import type { Change, Place, Planted, Recorded } from './model.ts';
import { bf16 } from './noise.ts';
import {
  bias,
  both,
  frequency,
  heated,
  minP,
  moved,
  otherWeights,
  presence,
  repetition,
  shifted,
  times,
  topK,
  topP,
} from './planted.ts';

export interface Mechanism {
  readonly what: string;
  /** What is to be named; undefined: nothing tells it from other weights, so that nothing may be named and it is no noise. */
  readonly cause: string | undefined;
  readonly side: 'engine' | 'trainer';
  /** By strength, afresh for each set of rollouts: some count rows. */
  readonly strengths: Readonly<Record<string, () => Planted>>;
}

const engine = (change: Change) => (): Planted => ({ engine: change });
const trainer = (change: Change) => (): Planted => ({ trainer: change });
const recorded = (change: NonNullable<Planted['recorded']>) => (): Planted => ({ recorded: change });

export const MECHANISMS: readonly Mechanism[] = [
  of('temperature below 1 in the engine', 'temperature', 'engine', {
    0.7: engine(heated(0.7)),
    0.9: engine(heated(0.9)),
  }),
  of('temperature above 1 in the engine', 'temperature', 'engine', {
    1.2: engine(heated(1.2)),
    1.5: engine(heated(1.5)),
  }),
  of('temperature in the trainer', 'temperature', 'trainer', {
    0.6: trainer(heated(0.6)),
    0.8: trainer(heated(0.8)),
  }),
  of('top-p', 'truncation', 'engine', { 0.6: engine(topP(0.6)), 0.9: engine(topP(0.9)) }),
  of('top-k', 'truncation', 'engine', { 5: engine(topK(5)), 20: engine(topK(20)) }),
  of('min-p', 'truncation', 'engine', { 0.1: engine(minP(0.1)), 0.3: engine(minP(0.3)) }),
  of('values one or two tokens early', 'shift', 'trainer', {
    1: recorded(shifted(1)),
    2: recorded(shifted(2)),
  }),
  of('values one or two tokens late', 'shift', 'trainer', {
    1: recorded(shifted(-1)),
    2: recorded(shifted(-2)),
  }),
  of('presence penalty', 'penalty', 'engine', { 0.3: engine(presence(0.3)), 1: engine(presence(1)) }),
  of('frequency penalty', 'penalty', 'engine', { 0.2: engine(frequency(0.2)), 0.5: engine(frequency(0.5)) }),
  of('repetition penalty', 'penalty', 'engine', {
    1.1: engine(repetition(1.1)),
    1.3: engine(repetition(1.3)),
  }),
  of('bias towards three ids', 'token-bias', 'engine', {
    1.5: engine(bias([7, 30, 77], 1.5)),
    3: engine(bias([7, 30, 77], 3)),
  }),
  of('bias against three ids', 'token-bias', 'engine', {
    '-1': engine(bias([7, 30, 77], -1)),
    '-2': engine(bias([7, 30, 77], -2)),
  }),
  of('prompt and completion joined differently', 'first-token', 'trainer', {
    1: trainer(moved(1, isFirst)),
    2: trainer(moved(2, isFirst)),
  }),
  of('another chat template', 'start', 'trainer', {
    1: trainer(moved(1, fading)),
    1.5: trainer(moved(1.5, fading)),
  }),
  of('a doubled or missing BOS', 'start', 'trainer', {
    0.3: trainer(moved(0.3, fading)),
    0.5: trainer(moved(0.5, fading)),
  }),
  of('weights up to three updates old', 'stale-weights', 'trainer', {
    0.1: () => stale(0.1),
    0.4: () => stale(0.4),
  }),
  of('logarithm of another base', 'scale', 'trainer', {
    '2': recorded(times(Math.LOG2E)),
    '10': recorded(times(Math.LOG10E)),
  }),
  of('temperature after the softmax', 'scale', 'trainer', {
    0.6: recorded(times(1 / 0.6)),
    0.8: recorded(times(1 / 0.8)),
  }),
  of('stop token masked', 'absent', 'trainer', {
    'every row': recorded(zeroed((at, last) => at === last)),
    'every row, and the token before': recorded(zeroed((at, last) => at >= last - 1)),
  }),
  of('tokens filled with 0', 'absent', 'trainer', {
    'every tenth': recorded(zeroed((at) => at % 10 === 3)),
    'every fourth': recorded(zeroed((at) => at % 4 === 3)),
  }),
  of('another stop token', 'last-token', 'trainer', {
    1: recorded(lastOf((each) => each * 2 - 0.5)),
    2: recorded(lastOf((each) => each * 3 - 1)),
  }),
  of('adapter that was not sent', undefined, 'engine', {
    0.95: engine(otherWeights(0.95)),
    0.8: engine(otherWeights(0.8)),
  }),
  of('dropout left on', undefined, 'trainer', { 0.4: trainer(moved(0.4)), 0.8: trainer(moved(0.8)) }),
  of('positions off by the padding, in three of four rows', undefined, 'trainer', {
    0.5: trainer(moved(0.5, isPadded)),
    1: trainer(moved(1, isPadded)),
  }),
];

/** On top of what rounding does to both sides. */
export const over = ({ engine: one, trainer: other, ...rest }: Planted): Planted => ({
  engine: one === undefined ? bf16 : both(one, bf16),
  trainer: other === undefined ? bf16 : both(other, bf16),
  ...rest,
});

/** Two at once: the changes of either side, then those of the recorded numbers. */
export const together = (one: Planted, other: Planted): Planted => ({
  ...one,
  ...other,
  recorded: (row) => {
    const first = one.recorded?.(row) ?? row;
    return other.recorded?.(first) ?? first;
  },
  ...(one.engine && other.engine ? { engine: both(one.engine, other.engine) } : {}),
  ...(one.trainer && other.trainer ? { trainer: both(one.trainer, other.trainer) } : {}),
});

/** Mechanism and strength of each of two that a run may well have at once. */
export const PAIRS: readonly (readonly [string, string, string, string])[] = [
  ['temperature below 1 in the engine', '0.7', 'prompt and completion joined differently', '2'],
  ['temperature below 1 in the engine', '0.7', 'stop token masked', 'every row'],
  ['temperature below 1 in the engine', '0.7', 'another chat template', '1.5'],
  ['temperature below 1 in the engine', '0.7', 'tokens filled with 0', 'every tenth'],
  ['temperature below 1 in the engine', '0.7', 'another stop token', '2'],
  ['temperature above 1 in the engine', '1.5', 'prompt and completion joined differently', '2'],
  ['temperature in the trainer', '0.6', 'stop token masked', 'every row'],
  ['top-p', '0.6', 'prompt and completion joined differently', '2'],
  ['top-p', '0.6', 'another chat template', '1.5'],
  ['top-p', '0.6', 'stop token masked', 'every row'],
  ['top-k', '5', 'another stop token', '2'],
  ['top-k', '5', 'weights up to three updates old', '0.4'],
  ['values one or two tokens early', '1', 'temperature below 1 in the engine', '0.7'],
  ['values one or two tokens early', '1', 'top-p', '0.6'],
  ['values one or two tokens late', '1', 'presence penalty', '1'],
  ['presence penalty', '1', 'prompt and completion joined differently', '2'],
  ['presence penalty', '1', 'another chat template', '1.5'],
  ['bias towards three ids', '3', 'another chat template', '1.5'],
  ['bias towards three ids', '3', 'stop token masked', 'every row'],
  ['weights up to three updates old', '0.4', 'prompt and completion joined differently', '2'],
];

export function mechanismOf(what: string): Mechanism {
  const found = MECHANISMS.find((each) => each.what === what);
  if (found === undefined) throw new Error(`no mechanism ${what}`);
  return found;
}

export function plantedOf(what: string, strength: string): Planted {
  const make = mechanismOf(what).strengths[strength];
  if (make === undefined) throw new Error(`${what} has no strength ${strength}`);
  return make();
}

// --- helpers ---

function of(
  what: string,
  cause: string | undefined,
  side: Mechanism['side'],
  strengths: Mechanism['strengths'],
): Mechanism {
  return { what, cause, side, strengths };
}

function isFirst({ position }: Place): number {
  return position === 0 ? 1 : 0;
}

function fading({ position }: Place): number {
  return Math.exp(-position / 8);
}

/** Prompts have 5 to 14 tokens: those of the longest are not padded. */
function isPadded({ prompt }: Place): number {
  return prompt.length < LONG_PROMPT ? 1 : 0;
}
const LONG_PROMPT = 12;

/** The trainer is at step 100. */
function stale(growth: number): Planted {
  const ageOf = (row: number): number => row % 4;
  let row = 0;
  return {
    trainer: moved(growth, ({ row: at }) => ageOf(at)),
    recorded: (each) => {
      const age = ageOf(row++);
      return { ...each, step: 100, version: () => 100 - age };
    },
  };
}

function zeroed(isGone: (at: number, last: number) => boolean): (row: Recorded) => Recorded {
  return (row) => ({
    ...row,
    trainer: row.trainer.map((each, at) => (isGone(at, row.trainer.length - 1) ? 0 : each)),
  });
}

function lastOf(change: (value: number) => number): (row: Recorded) => Recorded {
  return (row) => ({
    ...row,
    trainer: row.trainer.map((each, at) => (at === row.trainer.length - 1 ? change(each) : each)),
  });
}
