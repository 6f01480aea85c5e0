// The first loss on pairs, before anything is learnt.
import type { MonitorRule } from '../../../src/index.ts';
import { isMainLoss } from '../losses/main-loss.ts';
import { read, watchJoined } from '../watches.ts';
import { declaredNumber, declaredText, numberOf } from '../world.ts';

const MARGIN = /(?:^|\/)(?:rewards?\/margins?|reward_margins?)$/i;
/** The policy still is its reference. */
const NO_MARGIN = 0.005;
/** Twice ln 2 is what losses of two halves begin with (BCO, NCA); losses with squares may begin near another multiple. */
const POWERS = [4, 8, 16, 32, 64, 128, 256, 512, 1024];

export const preferencesBeginAtLogTwo: MonitorRule = {
  id: 'monitor/preference-loss-begins-at-log-2',
  title: 'A loss on pairs does not begin with ln 2 times or over the number of accumulated batches',
  stage: 'monitor',
  level: 'should',
  why: 'While the policy is its reference, -log σ(β·margin) is ln 2. A multiple of it is a loss that was summed over accumulated batches or ranks; a fraction one that was divided twice. The gradient is as much too large or too small, and clipping hides it.',
  catches: ['OPT-12'],
  advice:
    'Look at what divides the loss: the trainer, the accelerator and the script may each divide by the accumulated batches, or none of them.',
  roles: [],
  settings: {
    tolerance: { default: 0.001, what: 'Relative, of the multiple of ln 2.' },
  },
  watch: (world) =>
    watchJoined<'loss' | 'margin'>({
      keyOf: (series) => {
        if (series.evaluation) return undefined;
        if (MARGIN.test(series.name)) return 'margin';
        return isMainLoss(series) ? 'loss' : undefined;
      },
      row: ({ step, values, seriesOf }) => {
        const [loss, margin] = [values.get('loss'), values.get('margin')];
        if (loss === undefined || margin === undefined || !(Math.abs(margin) <= NO_MARGIN)) return undefined;
        if (/ipo|hinge|sppo|apo|bco|nca|,/.test(declaredText(world, 'loss_type') ?? '')) return undefined;
        const times = loss / Math.log1p(Math.exp(-margin));
        const declared = declaredNumber(world, 'gradient_accumulation_steps') ?? 1;
        const factors = [...POWERS, ...(declared > 1 ? [declared] : [])];
        const tolerance = numberOf(world, 'tolerance');
        const factor = factors
          .flatMap((each) => [each, 1 / each])
          .find((each) => Math.abs(times / each - 1) <= tolerance);
        if (factor === undefined) return 'seen';
        const series = seriesOf('loss');
        return {
          kind: factor > 1 ? 'a multiple' : 'a fraction',
          sentence: `${series?.name} at step ${step} is ${read(loss)}, where the margin is ${read(margin)}: ${factor > 1 ? `${factor} times` : `1/${Math.round(1 / factor)} of`} ln 2, which a pair costs while the policy is its reference.`,
          ...(series === undefined ? {} : { series }),
          step,
          value: loss,
        };
      },
      why: { otherwise: 'it logs no margin of pairs that is still 0 beside its loss' },
    }),
};
