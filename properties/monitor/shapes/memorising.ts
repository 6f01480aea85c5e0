// Rows that are learnt by heart, told without an evaluation. Where the rows of a small data set come by again, their loss
// is what the model remembers of them: it falls at the beginning of each pass and hardly within one, a stair a pass. A task
// that can be learnt falls within the passes as well, and a task of low entropy is at its floor within the first.
//
// Of each pass the median of its first and of its last fifth (at least 3 points, at most 9); the drop between two passes is
// ln(last of one / first of the next). Blamed where the loss has come down to a twentieth of what it was at the end of the
// first pass, at least three drops are above ln 1.25 and above 4 deviations of their noise, and the drops together make
// 70 % of the fall in logarithms.
import { type MonitorRule, median, noiseOf, type RuleWorld, type Violation } from '../../../src/index.ts';
import { isMainLoss } from '../losses/main-loss.ts';
import { hasMargins, isReinforced } from '../run-kind.ts';
import { type Row, read, watchJoined } from '../watches.ts';
import { numberOf } from '../world.ts';
import { evaluations } from './evaluations.ts';
import { type Recent, recent } from './rolling.ts';

export const memorising: MonitorRule = {
  id: 'monitor/learnt-by-heart',
  title: 'The loss does not fall pass by pass to a small part of what the first pass left',
  stage: 'monitor',
  level: 'should',
  why: 'A loss that falls between the passes and not within them is that of rows which are remembered. The model says them word by word, and nothing tells how it does on others.',
  catches: [],
  advice:
    'Evaluate on rows that are held out. Train one to three passes, on more data; look for duplicated rows. Where learning by heart is what is wanted, say so with `--known`.',
  roles: ['loss', 'sft_loss', 'epoch'],
  evaluations: true,
  settings: {
    share: { default: 0.05, what: 'Share of the loss at the end of the first pass.' },
    least: { default: 0.3, what: 'Nats at the end of the first pass, below which there is little to learn.' },
  },
  watch: (world) => {
    const held = evaluations();
    const judge = judgePasses(world, (step) => held.improvedSince(step));
    const watch = watchJoined<'loss' | 'epoch'>({
      keyOf: (series) => (isMainLoss(series) ? 'loss' : series.role === 'epoch' ? 'epoch' : undefined),
      row: judge,
      why: 'fewer than 4 passes over the data with 6 logged losses each are told by an epoch that is logged',
    });
    let passes = false;
    return {
      ...watch,
      point(series, step, value, time) {
        // Without passes nothing is joined.
        passes ||= series.role === 'epoch' && !series.evaluation;
        if (!passes && !series.evaluation) return undefined;
        if (!series.evaluation) return watch.point?.(series, step, value, time);
        if (series.role !== 'epoch') held.add(series, step, value);
        return undefined;
      },
    };
  },
};

const MOST_POINTS = 9;
const LEAST_POINTS = 3;
const A_DROP = Math.log(1.25);
const DEVIATIONS = 4;
const DROPS = 3;
const SHARE_OF_FALL = 0.7;

/** Of a pass, before its first row is logged. */
const BEGUN = 0.5;
const NO_DROPS = { count: 0, sum: 0, from: Number.NaN, value: Number.NaN };

interface Pass {
  readonly number: number;
  readonly step: number;
  /** The first step of the pass before. */
  readonly before: number;
  readonly first: number[];
  readonly last: Recent;
  count: number;
  /** Seen from its beginning on. */
  readonly whole: boolean;
}

function judgePasses(
  world: RuleWorld,
  improvedSince: (step: number) => boolean,
): (row: Row<'loss' | 'epoch'>) => Violation | 'seen' | undefined {
  let pass: Pass | undefined;
  /** Of the pass that is over. */
  let end: { readonly level: number; readonly noise: number } | undefined;
  let floor: { readonly level: number; readonly step: number } | undefined;
  let drops = NO_DROPS;
  let dropped = false;

  function finish(done: Pass): void {
    const values = done.last.values(sizeOf(done.count));
    end =
      done.count < 2 * LEAST_POINTS
        ? undefined
        : { level: median(values), noise: noiseOf(done.last.values().map(Math.log)) };
    // Without the whole of the first pass nothing is known of the task.
    if (done.number === 0 && done.whole && end !== undefined)
      floor = { level: end.level, step: done.last.step(0) };
  }

  return (row) => {
    const loss = row.values.get('loss');
    const epoch = row.values.get('epoch');
    if (loss === undefined || epoch === undefined || !(loss > 0) || !(epoch >= 0)) return undefined;
    // A whole number is the end of a pass.
    const number = Math.max(0, Math.ceil(epoch - 1e-6) - 1);
    // A run that goes back begins anew.
    if (pass !== undefined && (row.step < pass.last.step(0) || number < pass.number)) {
      [pass, end, floor] = [undefined, undefined, undefined];
      drops = NO_DROPS;
    }
    if (pass === undefined || number !== pass.number) {
      if (pass !== undefined) finish(pass);
      pass = {
        number,
        step: row.step,
        before: pass?.step ?? row.step,
        first: [],
        last: recent(MOST_POINTS),
        count: 0,
        whole: epoch < number + BEGUN,
      };
      dropped = false;
    }
    pass.count++;
    pass.last.add(row.step, loss);
    if (pass.first.length < MOST_POINTS) pass.first.push(loss);
    const series = row.seriesOf('loss');
    if (
      floor === undefined ||
      end === undefined ||
      series === undefined ||
      isReinforced(world) ||
      hasMargins(world)
    )
      return undefined;
    if (!dropped && pass.first.length >= LEAST_POINTS + 1) {
      dropped = true;
      const drop = Math.log(end.level / median(pass.first));
      const error = (DEVIATIONS * end.noise) / Math.sqrt(LEAST_POINTS);
      if (drop > Math.max(A_DROP, error))
        drops = {
          count: drops.count + 1,
          sum: drops.sum + drop,
          ...(drops.count > 0
            ? { from: drops.from, value: drops.value }
            : { from: pass.step, value: pass.first[0] as number }),
        };
    }
    if (pass.number < 2) return undefined;
    const level = median(pass.last.values());
    const fall = Math.log(floor.level / level);
    const remembered = drops.count >= DROPS && drops.sum >= SHARE_OF_FALL * fall;
    const small = level <= numberOf(world, 'share') * floor.level && floor.level >= numberOf(world, 'least');
    if (!small || !remembered || improvedSince(pass.before)) return 'seen';
    return {
      kind: 'learnt by heart',
      sentence: `${series.name} is ${read(level)} in pass ${pass.number + 1}, and was ${read(floor.level)} at the end of the first (step ${floor.step}); it fell between the passes, by ${Math.round((100 * drops.sum) / fall)} % of the way, not within them.`,
      series,
      step: drops.from,
      value: drops.value,
    };
  };
}

const sizeOf = (count: number): number =>
  Math.min(MOST_POINTS, Math.max(LEAST_POINTS, Math.floor(count / 5)));
