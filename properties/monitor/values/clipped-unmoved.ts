// Tokens whose ratio was clipped, beside a distance between the two policies that is 0.
import type { MonitorRule } from '../../../src/index.ts';
import { at, read, streakOf, watchJoined } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';

export const clippedHasMoved: MonitorRule = {
  id: 'monitor/clipped-tokens-have-moved',
  title: 'Where ratios are clipped, the policy is not exactly the one that sampled',
  stage: 'monitor',
  level: 'should',
  why: 'A ratio is clipped because the two policies differ by a tenth or more on that token, so that no estimate of their distance is exactly 0. One of the two numbers is computed from other log-probabilities: of the current policy on both sides, or before the update.',
  catches: [],
  advice:
    'Compare which log-probabilities go into the ratio of the loss, and which into the estimate that is logged.',
  roles: ['approx_kl', 'clip_fraction'],
  settings: {
    least: { default: 0.02, what: 'Share of clipped tokens that no rounding of the estimate hides.' },
    points: inARow(5, 'Both may be written before the first update.'),
  },
  watch: (world) => {
    const streak = streakOf(numberOf(world, 'points'));
    return watchJoined<'approx_kl' | 'clip_fraction'>({
      keyOf: ({ role, part, evaluation }) =>
        !evaluation && part === '' && (role === 'approx_kl' || role === 'clip_fraction') ? role : undefined,
      row: ({ step, values, seriesOf }) => {
        const [distance, clipped] = [values.get('approx_kl'), values.get('clip_fraction')];
        const [series, other] = [seriesOf('approx_kl'), seriesOf('clip_fraction')];
        if (distance === undefined || clipped === undefined || series === undefined) return undefined;
        if (!streak.next(distance === 0 && clipped >= numberOf(world, 'least'), step)) return 'seen';
        return {
          kind: 'has not moved',
          sentence: `${at(series, step)} is exactly 0, and ${other?.name} is ${read(clipped)}: a token whose ratio is clipped has moved. It is so from step ${streak.from} on.`,
          series,
          step: streak.from,
          value: distance,
        };
      },
      why: 'no estimate of how far an update went is logged beside the share of clipped tokens',
    });
  },
};
