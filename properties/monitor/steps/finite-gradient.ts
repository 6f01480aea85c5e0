// One step whose gradient is no number while its loss is one. What may explain it away is a loss scaler: it multiplies
// the loss so that small gradients survive fp16, and where they overflow it skips the step and halves its scale. That
// happens in the first steps of a run, while the scale is being found, and now and then afterwards; it is how mixed
// precision is meant to work. So nothing is said of a single step
//  - where the run declares fp16 or logs its scale (what never ends is said by finite-training);
//  - where norms were no numbers from the first step on and then became numbers: nothing but a step that is skipped
//    leaves weights that give one, and whoever skips the first steps has a scaler;
//  - where the losses of this step and of the next one are what they were, and the norm is infinite, which is what an
//    overflow gives, or the learning rate moves, and did not in this step: schedulers are held back with a skipped step.
// NaN alone is not excused. In bfloat16 and float32 nothing is scaled: a NaN is in the batch or in the backward
// pass, and where the next norm is a number again the trainer has dropped that batch and told nobody. A run that
// declares bfloat16 has no scaler at all, and none of this excuses it.
import type { MonitorRule, RuleWorld, Series, Violation, Watch } from '../../../src/index.ts';
import { isMainLoss } from '../losses/main-loss.ts';
import { namesOf } from '../reasons.ts';
import { type Row, watchJoined } from '../watches.ts';
import { inBfloat16, underLossScaler } from '../world.ts';
import { fateOf, mayBeSkipped, type Odd, sameLoss, violationOf } from './odd-norm.ts';

export const gradNormFinite: MonitorRule = {
  id: 'monitor/grad-norm-finite',
  title: 'The gradient norm beside a finite loss is a number in every single step',
  stage: 'monitor',
  level: 'should',
  why: 'One step with a gradient of NaN makes every weight NaN, or its batch is dropped without a word; the loss of that step looks as it always does.',
  catches: ['NUM-02', 'NUM-03', 'NUM-05', 'NUM-06'],
  advice:
    'Look at the batch of this step for rows that are all masked, and for `0 * inf` under a mask. Square roots, norms and logarithms of 0 have a finite value and an infinite gradient. If the run trains in fp16 under a loss scaler, such steps are skipped by design: say so with `--fact fp16=true`.',
  roles: ['grad_norm', 'loss', 'sft_loss', 'policy_loss', 'learning_rate'],
  settings: {},
  watch: (world) => watchNorms(world),
};

/** Norms of parts (`critic`) are judged apart, beside the one loss and the one rate. */
type Key = 'loss' | 'rate' | `norm ${string}`;

function keyOf(series: Series): Key | undefined {
  if (isMainLoss(series)) return 'loss';
  if (series.role === 'grad_norm') return `norm ${series.part}`;
  return series.role === 'learning_rate' && series.part === '' ? 'rate' : undefined;
}

interface Norm {
  /** The first one logged was no number. */
  beganOdd: boolean;
  wasNumber: boolean;
  odd: Odd | undefined;
}

function watchNorms(world: RuleWorld): Watch {
  const norms = new Map<Key, Norm>();
  const found: Violation[] = [];
  const rate = { last: Number.NaN, moved: false };
  let lastLoss: number | undefined;
  /** Some norms began as no numbers and became numbers. */
  let skips = false;
  const excused = (): boolean => underLossScaler(world) || (skips && !inBfloat16(world));

  const rowOf = (row: Row<Key>): Violation | 'seen' | undefined => {
    const now = row.values.get('rate') ?? Number.NaN;
    const heldAt = rate.moved && now === rate.last ? now : undefined;
    if (!Number.isNaN(now)) {
      rate.moved = now !== rate.last && !Number.isNaN(rate.last);
      rate.last = now;
    }
    const loss = row.values.get('loss');
    let seen = false;
    for (const [key, value] of row.values) {
      const series = row.seriesOf(key);
      if (series?.role !== 'grad_norm') continue;
      seen = true;
      const norm = norms.get(key) ?? {
        beganOdd: !Number.isFinite(value),
        wasNumber: false,
        odd: undefined,
      };
      norms.set(key, norm);
      if (norm.odd !== undefined) {
        const fate = fateOf(world, norm.odd, { step: row.step, value, loss, rate: now });
        if (fate === 'open') continue;
        if (fate !== 'skipped' && !excused()) found.push(violationOf(norm.odd, fate.outcome));
        norm.odd = undefined;
      }
      if (Number.isFinite(value)) {
        if (norm.beganOdd && !norm.wasNumber) skips = true;
        norm.wasNumber = true;
      }
      // A loss that is no number is what happened first, and has a rule of its own.
      else if ((norm.wasNumber || inBfloat16(world)) && (loss === undefined || Number.isFinite(loss)))
        norm.odd = { series, step: row.step, value, loss, calm: sameLoss(world, lastLoss, loss), heldAt };
    }
    lastLoss = loss ?? lastLoss;
    return found.shift() ?? (seen ? 'seen' : undefined);
  };

  const watch = watchJoined<Key>({
    keyOf,
    row: rowOf,
    why: ({ counts }) => `no gradient norm is logged beside ${namesOf([...counts.keys()])}`,
  });
  return {
    ...watch,
    end() {
      const said = [watch.end?.() ?? []].flat();
      for (const { odd } of norms.values())
        if (odd !== undefined && !mayBeSkipped(world, odd) && !excused())
          found.push(violationOf(odd, 'Nothing was logged after it.'));
      return [...said, ...found.splice(0)];
    },
  };
}
