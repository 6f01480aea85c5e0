// The causes that the tests plant, each at two strengths, over the noise of bf16 logits.
import { type Change, gaussian, type Place, type Planted, STOP } from './model.ts';
import { bf16 } from './noise.ts';

export const heated =
  (t: number): Change =>
  (logits) =>
    logits.map((logit) => logit / t);

export const topP =
  (mass: number): Change =>
  (logits) =>
    keep(logits, (p, before) => before < mass && p > 0);
export const topK =
  (k: number): Change =>
  (logits) =>
    keep(logits, (_, __, rank) => rank < k);
export const minP =
  (least: number): Change =>
  (logits) =>
    keep(logits, (p, _, __, most) => p >= least * most);

/** Of tokens that came before, as vLLM's presence_penalty, frequency_penalty and repetition_penalty. */
export const presence =
  (by: number): Change =>
  (logits, { ids }) =>
    biased(logits, new Set(ids), (logit) => logit - by);
export const frequency =
  (by: number): Change =>
  (logits, { ids }) =>
    biased(logits, new Set(ids), (logit, id) => logit - by * ids.filter((each) => each === id).length);
export const repetition =
  (by: number): Change =>
  (logits, { ids, prompt }) =>
    biased(logits, new Set([...prompt, ...ids]), (logit) => (logit > 0 ? logit / by : logit * by));
export const bias =
  (ids: readonly number[], by: number): Change =>
  (logits) =>
    biased(logits, new Set(ids), (logit) => logit + by);

/** Logits of another network: each moved at random. */
export const moved =
  (by: number, where: (place: Place) => number = () => 1): Change =>
  (logits, place) => {
    const size = by * where(place);
    return size === 0 ? logits : logits.map((logit) => logit + size * gaussian(place.random));
  };

/** Logits of another network that is as sure as this one: `alike` of each is shared. */
export const otherWeights =
  (alike: number): Change =>
  (logits, { random }) => {
    const width = Math.sqrt(logits.reduce((sum, logit) => sum + logit * logit, 0) / logits.length);
    return logits.map((logit) => alike * logit + Math.sqrt(1 - alike * alike) * width * gaussian(random));
  };

export const shifted =
  (by: number): NonNullable<Planted['recorded']> =>
  (row) => ({
    ...row,
    trainer: row.trainer.map((own, at) => row.trainer[at + by] ?? own),
  });

export const times =
  (by: number): NonNullable<Planted['recorded']> =>
  (row) => ({ ...row, trainer: row.trainer.map((each) => each * by) });

/** The age of a row's weights; a trainer that is at step 100. */
const ageOf = (row: number): number => row % 4;

export const both =
  (...changes: readonly Change[]): Change =>
  (logits, place) =>
    changes.reduce((now, change) => change(now, place), logits);

export interface PlantedCase {
  readonly cause: string;
  readonly name: string;
  readonly planted: Planted;
}

/** On top of what rounding does to both sides. */
const over = ({ engine = (each) => each, trainer = (each) => each, ...rest }: Planted): Planted => ({
  engine: both(engine, bf16),
  trainer: both(trainer, bf16),
  ...rest,
});

function stale(growth: number): Planted {
  let row = 0;
  return over({
    trainer: moved(growth, ({ row: at }) => ageOf(at)),
    recorded: (recorded) => {
      const age = ageOf(row++);
      return { ...recorded, step: 100, version: () => 100 - age };
    },
  });
}

export const PLANTED: readonly (() => PlantedCase)[] = [
  () => ({
    cause: 'temperature',
    name: 'temperature 0.7 in the engine',
    planted: over({ engine: heated(0.7) }),
  }),
  () => ({
    cause: 'temperature',
    name: 'temperature 0.9 in the engine',
    planted: over({ engine: heated(0.9) }),
  }),
  () => ({
    cause: 'temperature',
    name: 'temperature 1.2 in the engine',
    planted: over({ engine: heated(1.2) }),
  }),
  () => ({
    cause: 'temperature',
    name: 'temperature 0.6 in the trainer',
    planted: over({ trainer: heated(0.6) }),
  }),
  () => ({ cause: 'truncation', name: 'top-p 0.9', planted: over({ engine: topP(0.9) }) }),
  () => ({ cause: 'truncation', name: 'top-p 0.6', planted: over({ engine: topP(0.6) }) }),
  () => ({ cause: 'truncation', name: 'top-k 20', planted: over({ engine: topK(20) }) }),
  () => ({ cause: 'truncation', name: 'top-k 5', planted: over({ engine: topK(5) }) }),
  () => ({ cause: 'truncation', name: 'min-p 0.1', planted: over({ engine: minP(0.1) }) }),
  () => ({ cause: 'truncation', name: 'min-p 0.3', planted: over({ engine: minP(0.3) }) }),
  () => ({ cause: 'shift', name: 'shift by one', planted: over({ recorded: shifted(1) }) }),
  () => ({ cause: 'shift', name: 'shift by one, back', planted: over({ recorded: shifted(-1) }) }),
  () => ({ cause: 'shift', name: 'shift by two', planted: over({ recorded: shifted(2) }) }),
  () => ({ cause: 'penalty', name: 'presence penalty 1', planted: over({ engine: presence(1) }) }),
  () => ({ cause: 'penalty', name: 'presence penalty 0.3', planted: over({ engine: presence(0.3) }) }),
  () => ({ cause: 'penalty', name: 'frequency penalty 0.5', planted: over({ engine: frequency(0.5) }) }),
  () => ({ cause: 'penalty', name: 'frequency penalty 0.2', planted: over({ engine: frequency(0.2) }) }),
  () => ({ cause: 'penalty', name: 'repetition penalty 1.3', planted: over({ engine: repetition(1.3) }) }),
  () => ({ cause: 'penalty', name: 'repetition penalty 1.1', planted: over({ engine: repetition(1.1) }) }),
  () => ({
    cause: 'token-bias',
    name: 'bias of 3 on three ids',
    planted: over({ engine: bias([7, 30, 77], 3) }),
  }),
  () => ({
    cause: 'token-bias',
    name: 'bias of 1.5 on three ids',
    planted: over({ engine: bias([7, 30, 77], 1.5) }),
  }),
  () => ({
    cause: 'first-token',
    name: 'first token of another prompt',
    planted: over({ trainer: moved(2, ({ position }) => (position === 0 ? 1 : 0)) }),
  }),
  () => ({
    cause: 'first-token',
    name: 'first token of another space',
    planted: over({ trainer: moved(1, ({ position }) => (position === 0 ? 1 : 0)) }),
  }),
  () => ({
    cause: 'start',
    name: 'another prompt',
    planted: over({ trainer: moved(1.5, ({ position }) => Math.exp(-position / 8)) }),
  }),
  () => ({
    cause: 'start',
    name: 'a doubled BOS',
    planted: over({ trainer: moved(0.5, ({ position }) => Math.exp(-position / 8)) }),
  }),
  () => ({ cause: 'stale-weights', name: 'weights up to three updates old', planted: stale(0.1) }),
  () => ({ cause: 'stale-weights', name: 'weights up to three larger updates old', planted: stale(0.4) }),
  () => ({ cause: 'scale', name: 'base 2', planted: over({ recorded: times(Math.LOG2E) }) }),
  () => ({
    cause: 'scale',
    name: 'divided by 0.8 after the softmax',
    planted: over({ recorded: times(1 / 0.8) }),
  }),
  () => ({
    cause: 'absent',
    name: 'the stop token masked',
    planted: over({
      recorded: (row) => ({
        ...row,
        trainer: row.trainer.map((each, at) => (at === row.trainer.length - 1 ? 0 : each)),
      }),
    }),
  }),
  () => ({
    cause: 'absent',
    name: 'every tenth token masked',
    planted: over({
      recorded: (row) => ({ ...row, trainer: row.trainer.map((each, at) => (at % 10 === 3 ? 0 : each)) }),
    }),
  }),
  () => ({
    cause: 'last-token',
    name: 'another stop token',
    planted: over({
      trainer: (logits, { position }) => bias([STOP], position < 1e9 ? 0 : 0)(logits, undefined as never),
      recorded: (row) => ({
        ...row,
        trainer: row.trainer.map((each, at) => (at === row.trainer.length - 1 ? each * 3 - 1 : each)),
      }),
    }),
  }),
];

// --- helpers ---

function biased(
  logits: Float64Array,
  ids: ReadonlySet<number>,
  by: (logit: number, id: number) => number,
): Float64Array {
  return logits.map((logit, id) => (ids.has(id) ? by(logit, id) : logit));
}

function keep(
  logits: Float64Array,
  isKept: (p: number, before: number, rank: number, most: number) => boolean,
): Float64Array {
  const most = logits.reduce((a, b) => Math.max(a, b));
  const weights = logits.map((logit) => Math.exp(logit - most));
  const total = weights.reduce((a, b) => a + b);
  const order = [...weights.keys()].sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0));
  const kept = logits.slice();
  let before = 0;
  for (const [rank, id] of order.entries()) {
    const p = (weights[id] ?? 0) / total;
    if (!isKept(p, before, rank, 1 / total)) kept[id] = Number.NEGATIVE_INFINITY;
    before += p;
  }
  return kept;
}
