// A loss without a gradient, and one that never moves.
import type { MonitorRule, RuleWorld, Series, Violation } from '../../../src/index.ts';
import { isMainLoss, SIGNAL_ROLES, signalKey } from '../losses/main-loss.ts';
import type { SignalKey } from '../policy/signal.ts';
import { isReinforced } from '../run-kind.ts';
import { at, from, type Row, read, streakOf, watchJoined } from '../watches.ts';
import { declaredNumber, hasRollouts, inARow, numberOf } from '../world.ts';

export const gradientFlows: MonitorRule = {
  id: 'monitor/gradient-flows',
  title: 'A loss that is not 0 has a gradient that is not 0',
  stage: 'monitor',
  level: 'must',
  why: 'The loss looks healthy and nothing is trained: it was detached, computed without gradients, or the parameters are frozen.',
  catches: ['KL-04', 'ZL-02', 'ADV-14'],
  advice:
    'Look for `.detach()`, `.item()`, `torch.no_grad()` between the logits and the loss, for parameters with `requires_grad=False`, and for an optimiser that holds other parameters than the model. If gradients do flow, the norm that is logged is measured at the wrong place.',
  roles: [...SIGNAL_ROLES, 'learning_rate'],
  settings: {
    points: inARow(
      2,
      'No finite batch has a gradient of exactly 0; a second step rules out a batch without trained tokens.',
    ),
    beginning: {
      default: 16,
      what: 'So many from the first logged step on, where nothing tells that these are steps of the optimiser: rewards, a learning rate that moves, or gradient_accumulation_steps. A log of every micro-batch has no norm but where the optimiser takes a step.',
    },
  },
  watch: (world) =>
    watchJoined<SignalKey | 'rate'>({
      keyOf: (series) => signalKey(series) ?? (lrKey(series) === undefined ? undefined : 'rate'),
      row: judgeGradient(world),
      why: {
        keys: { loss: 'loss of the whole', grad: 'gradient norm' },
        otherwise:
          'no step has both a loss and a gradient norm, or all norms are 0 in fewer than 16 steps, as between two steps of an optimiser',
      },
    }),
};

/** Chance that groups without spread explain a row of gradients of exactly 0, below which they do not. */
const CHANCE = 1e-6;
/** Times the longest row of zeros before: where an optimiser takes a step at every n-th batch they are n - 1, and a log may lack points. */
const LONGER = 4;
/** Of the rate, that are no point which a log of micro-batches lacks. */
const MOVES = 3;

function judgeGradient(world: RuleWorld): (row: Row<SignalKey | 'rate'>) => Violation | 'seen' | undefined {
  const needed = numberOf(world, 'points');
  const streak = streakOf(needed);
  let before = Number.NaN;
  let spaced = false;
  let chance = 1;
  /** Longest row of zeros that came to an end, and whether a norm was above 0. */
  let longest = 0;
  let alive = false;
  let rate = Number.NaN;
  /** Times that the rate moved from one norm of 0 to the next: the optimiser took a step. */
  let steps = 0;

  /** Zeros that a log of micro-batches may have in a row. */
  const mayBe = (): number => {
    const declared = declaredNumber(world, 'gradient_accumulation_steps') ?? 0;
    // transformers logs steps of the optimiser, and says at how many of them.
    const ofTrainer = declaredNumber(world, 'logging_steps') !== undefined;
    if (steps >= MOVES || ofTrainer || declared === 1 || isReinforced(world)) return 0;
    return Math.max(declared, alive ? LONGER * longest : declared > 0 ? 0 : numberOf(world, 'beginning') - 1);
  };

  return (row) => {
    const loss = row.values.get('loss');
    const grad = row.values.get('grad');
    if (loss === undefined || grad === undefined) return undefined;
    // A run that goes back begins anew.
    if (row.step < before) streak.next(false, row.step);
    spaced ||= Math.abs(row.step - before) > 1;
    before = row.step;
    // Where all groups are without spread, a gradient of 0 is right, and a loss beside it was smoothed.
    const due = row.values.get('dead') !== 1 && row.values.get('reward std') !== 0;
    const still = grad === 0 && loss !== 0 && Number.isFinite(loss) && due;
    if (!still) {
      longest = Math.max(longest, streak.length);
      alive ||= grad > 0;
    }
    const now = row.values.get('rate') ?? rate;
    if (!still) steps = 0;
    else if (streak.length > 0 && Math.abs(now - rate) > 0) steps++;
    rate = now;
    const long = streak.next(still, row.step);
    chance = still ? chance * deadChance(row) : 1;
    if (!long) return alive || isReinforced(world) ? 'seen' : undefined;
    // Where not every step is logged, the loss is a mean of several and the norm is of the last one, which may be a
    // step whose groups had no spread.
    if (spaced && hasRollouts(world) && chance > CHANCE) return 'seen';
    const series = row.seriesOf('grad');
    const lossSeries = row.seriesOf('loss');
    if (series === undefined || lossSeries === undefined) return 'seen';
    if (streak.length <= mayBe()) return alive ? 'seen' : undefined;
    return {
      kind: 'no gradient',
      sentence: `${from(series, streak.from, row.step)} is exactly 0 while ${lossSeries.name} is ${read(loss)}: the loss does not reach the parameters.`,
      series,
      step: streak.from,
      value: 0,
    };
  };
}

/** At most the share of groups without spread; where none is logged, nothing is known. */
function deadChance({ values }: Row<SignalKey | 'rate'>): number {
  return values.get('dead') ?? 1;
}

export const lossMoves: MonitorRule = {
  id: 'monitor/loss-moves',
  title: 'The loss does not stay at one value, from the first step on or from any other',
  stage: 'monitor',
  level: 'should',
  why: 'Different batches, or one batch after a step, give different losses. One that never moves is computed from the wrong thing, or no step changes the parameters.',
  catches: ['ZL-05', 'ZL-02'],
  advice:
    'Check that the optimiser holds the parameters of the trained model and that its step is called. Check that the learning rate is large enough for the weights: bfloat16 rounds a step below 1/256 of a weight away.',
  roles: ['loss', 'sft_loss', 'policy_loss', 'learning_rate'],
  settings: {
    points: inARow(
      5,
      'Counted while the learning rate is at least half of its declared peak; a value that is rounded (to four decimals, or to bfloat16) says nothing.',
    ),
  },
  watch: (world) =>
    watchJoined<'loss' | 'lr'>({
      keyOf: (series) => (isMainLoss(series) ? 'loss' : lrKey(series)),
      row: judgeMovement(world),
      why: {
        keys: { loss: 'loss of the whole' },
        otherwise:
          'the loss is logged with four decimals or in bfloat16: equal values need not be equal losses',
      },
    }),
};

const lrKey = ({ role, part }: Series): 'lr' | undefined =>
  role === 'learning_rate' && part === '' ? 'lr' : undefined;

function judgeMovement(world: RuleWorld): (row: Row<'loss' | 'lr'>) => Violation | 'seen' | undefined {
  const needed = numberOf(world, 'points');
  let first: number | undefined;
  let firstStep = Number.NaN;
  let same = 0;
  let moved = false;
  let rounded = false;
  let lastRate = 0;
  const standing = standsStill();
  return (row) => {
    const loss = row.values.get('loss');
    if (loss === undefined || rounded) return undefined;
    if (!Number.isFinite(loss)) return 'seen';
    if (moved) return standing(row, loss) ?? 'seen';
    rounded = isRounded(loss);
    if (rounded) return undefined;
    if (first === undefined) {
      first = loss;
      firstStep = row.step;
    }
    if (loss !== first) {
      moved = true;
      return 'seen';
    }
    const rate = row.values.get('lr');
    const peak = declaredNumber(world, 'learning_rate', 'lr', 'actor.optim.lr') ?? 0;
    // While the rate rises, the first steps may be too small for the precision of the weights.
    const full = rate === undefined || (rate > 0 && rate >= peak / 2 && rate <= lastRate);
    lastRate = rate ?? lastRate;
    if (full) same++;
    const series = row.seriesOf('loss');
    // Of a warm-up that is not logged nothing is known.
    if (rate === undefined && isChance(loss)) return undefined;
    if (same <= needed || series === undefined) return 'seen';
    return {
      kind: 'never moves',
      sentence: `${at(series, firstStep)} is ${read(loss)}, and exactly that at every logged step up to ${row.step}.`,
      series,
      step: firstStep,
      value: loss,
    };
  };
}

/** Points that a loss which has moved must stand at one value. */
const STANDS = 100;
/** Times as long as it stood before: a table whose gaps are filled repeats each value as often. */
const STANDS_LONGER = 4;

function standsStill(): (row: Row<'loss' | 'lr'>, loss: number) => Violation | undefined {
  let last = Number.NaN;
  let since = Number.NaN;
  let stood = 0;
  let longest = 1;
  return (row, loss) => {
    if (loss !== last) {
      longest = Math.max(longest, stood);
      [last, since, stood] = [loss, row.step, 0];
    }
    // Without a rate nothing moves on purpose.
    if (row.values.get('lr') !== 0) stood++;
    const series = row.seriesOf('loss');
    if (stood < Math.max(STANDS, STANDS_LONGER * longest) || isRounded(loss) || series === undefined)
      return undefined;
    return {
      kind: 'stands still',
      sentence: `${at(series, since)} is ${read(loss)}, and exactly that at every logged step up to ${row.step}; it moved before.`,
      series,
      step: since,
      value: loss,
    };
  };
}

/** What preferences cost while the policy is its reference. */
const isChance = (loss: number): boolean => Math.abs(loss - Math.LN2) < 1e-5;

const FOUR_DECIMALS = 1e4;
const scratch = new Float32Array(1);
const bits = new Uint32Array(scratch.buffer);

/** As older trainers log it, or as a loss in bfloat16 is: equal values then need not be equal losses. */
function isRounded(value: number): boolean {
  const scaled = value * FOUR_DECIMALS;
  if (Math.abs(scaled - Math.round(scaled)) < 1e-9 * Math.max(1, Math.abs(scaled))) return true;
  scratch[0] = value;
  return Math.abs((scratch[0] ?? 0) - value) < 1e-12 && ((bits[0] ?? 0) & 0xffff) === 0;
}

export const gradientRules: readonly MonitorRule[] = [gradientFlows, lossMoves];
