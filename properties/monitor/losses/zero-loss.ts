// A loss that is exactly 0. In a group-relative objective it may be: advantages of a group add up to 0, and the ratio
// of a first update is 1, so that the loss is 0 while its gradient is not. What tells a dead loss from that is the
// gradient, and whether there was anything to learn from.
import type { MonitorRule, RuleWorld, Violation } from '../../../src/index.ts';
import { BY_DEVIATION, type SignalKey, signalOf } from '../policy/signal.ts';
import { hasMargins } from '../run-kind.ts';
import { from, type Row, read, watchJoined } from '../watches.ts';
import { hasRollouts, inARow, numberOf, underLossScaler } from '../world.ts';
import { SIGNAL_ROLES, signalKey } from './main-loss.ts';

/** A loss that came down to this has been learnt by heart: what follows may be rounded to 0. */
const LEARNT = 1e-2;
/** What is skipped by a loss scaler now and then is not said of single steps. */
const UNDER_SCALER = 3;

export const zeroLoss: MonitorRule = {
  id: 'monitor/zero-loss',
  title: 'A loss is not exactly 0 in a step that had something to learn from',
  stage: 'monitor',
  level: 'must',
  why: 'A loss that is exactly 0 with a gradient of 0 or NaN trained nothing: every label was masked, the branch that computes it never ran, or a NaN was logged as 0. The run goes on and reports success.',
  catches: ['ZL-01', 'ZL-02', 'TRN-04', 'TOK-06', 'NUM-01'],
  advice:
    'Count the trained tokens of this batch: `lossproof trace` shows which have a gradient, `lossproof view` which are labelled. Look for truncation that cuts the whole answer, a template that is not found, and a batch that is read by position.',
  roles: SIGNAL_ROLES,
  settings: {
    points: inARow(
      3,
      'Where no gradient norm is logged. With one, a single step is enough, since no batch with trained tokens has both.',
    ),
  },
  watch: (world) => {
    const { row, remarks } = judgeZeros(world);
    const watch = watchJoined<SignalKey>({
      keyOf: signalKey,
      row,
      why: { keys: { loss: 'loss of the whole' }, otherwise: 'no step has a loss' },
    });
    return { ...watch, remarks };
  },
};

/** Steps in a row with a loss of 0; of them, those without a gradient; of those, the ones that were due one. */
const NO_ZEROS = { zeros: 0, dead: 0, proved: 0, first: Number.NaN };

/** A supervised loss that is never below it is not rounded to 0. */
const FAR = 0.05;

interface ZeroJudge {
  row(row: Row<SignalKey>): Violation | 'seen' | undefined;
  /** Single steps of a supervised loss, between others that are far from 0 and beside a gradient. */
  remarks(): readonly string[];
}

function judgeZeros(world: RuleWorld): ZeroJudge {
  const signal = signalOf(world);
  const patience = numberOf(world, 'points');
  /** Smallest loss, by size, that was not 0. */
  let smallest = Number.POSITIVE_INFINITY;
  let alive = false;
  /** A gradient flowed: a loss of 0 beside it was rounded, or is that of a policy's first update. */
  let flowed = false;
  let run = NO_ZEROS;
  const single: { name: string; first: number; count: number } = { name: '', first: Number.NaN, count: 0 };

  const remarks = (): string[] =>
    single.count === 0 || smallest < FAR
      ? []
      : [
          `${single.name} is exactly 0 at ${single.count === 1 ? `step ${single.first}` : `${single.count} steps, first at step ${single.first}`}, and never below ${read(Number(smallest.toPrecision(3)))} elsewhere: a NaN that is logged as 0, or a batch without a trained token.`,
        ];

  const judge = (row: Row<SignalKey>): Violation | 'seen' | undefined => {
    const loss = row.values.get('loss');
    if (loss === undefined) return undefined;
    const proof = signal.proofOf(row);
    const grad = row.values.get('grad');
    flowed ||= grad !== undefined && grad > 0 && Number.isFinite(grad);
    if (loss !== 0) {
      run = NO_ZEROS;
      if (Number.isFinite(loss)) {
        alive = true;
        smallest = Math.min(smallest, Math.abs(loss));
      }
      return 'seen';
    }
    const deadGradient = grad !== undefined && (grad === 0 || !Number.isFinite(grad));
    run = {
      zeros: run.zeros + 1,
      dead: deadGradient ? run.dead + 1 : 0,
      // Steps whose groups had no spread prove nothing, and end nothing either.
      proved: deadGradient ? run.proved + (Number.isFinite(proof) ? 1 : 0) : 0,
      first: run.zeros === 0 ? row.step : run.first,
    };
    const broken = hasRollouts(world) ? withRollouts() : supervised();
    return broken === undefined ? 'seen' : broken;

    function supervised(): Violation | undefined {
      if (smallest < LEARNT || (alive && hasMargins(world))) return undefined;
      if (deadGradient) {
        const needed = Number.isFinite(grad) || !underLossScaler(world) ? 1 : UNDER_SCALER;
        return run.dead >= needed ? dead('') : undefined;
      }
      if (run.zeros < patience) {
        if (alive && single.count++ === 0) {
          single.name = row.seriesOf('loss')?.name ?? 'loss';
          single.first = row.step;
        }
        return undefined;
      }
      if (grad === undefined) return said('zero', 'exactly 0', '');
      return alive
        ? undefined
        : said(
            'zero',
            'exactly 0',
            ` while the gradient is not (${grad}): what is logged is not what is optimised`,
          );
    }

    function withRollouts(): Violation | undefined {
      if (!deadGradient) return undefined;
      if (!Number.isFinite(grad)) {
        const needed = underLossScaler(world) ? UNDER_SCALER : 1;
        return run.dead >= needed ? dead('') : undefined;
      }
      // Later in a run, groups without spread become common as prompts are solved; only its beginning is judged by less.
      if (proof >= BY_DEVIATION && (alive || flowed)) return undefined;
      return run.proved >= proof ? dead(`, ${signal.wordsOf(row)}`) : undefined;
    }

    function dead(reason: string): Violation {
      const gradient = grad === 0 ? 'and so is the gradient norm' : `and the gradient norm is ${grad}`;
      const hidden =
        grad === 0 ? '' : ' A loss that is NaN is logged as 0 by trainers that filter NaN from their logs.';
      return said('dead step', `exactly 0, ${gradient}`, `${reason}: nothing was trained`, hidden);
    }

    function said(kind: string, what: string, more: string, then = ''): Violation {
      const series = row.seriesOf('loss');
      const where = series === undefined ? 'the loss' : from(series, run.first, row.step);
      return {
        kind,
        sentence: `${where} is ${what}${more}.${then}`,
        ...(series === undefined ? {} : { series }),
        step: run.first,
        value: 0,
      };
    }
  };
  return { row: judge, remarks };
}
