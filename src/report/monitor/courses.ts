// What a person compares, of the few series that tell whether a run learns: where it began, its best, where it is now.
import type { RunView, SeriesView } from '../../monitor/view.ts';
import { digits } from '../text/numbers.ts';

export interface CourseWords {
  readonly view: SeriesView;
  /** `1.52 at the start, best 1.4 at step 35, now 7.49`. */
  readonly words: string;
}

/** Of the losses and rewards of a run, evaluations too, in the order in which they are logged. */
export function courseWords(run: RunView): readonly CourseWords[] {
  const rewarded = run.series.some(({ series }) => series.role === 'reward');
  return run.series
    .flatMap((view) => {
      const better = betterOf(view, rewarded);
      const words = better === undefined ? undefined : wordsOf(view, better);
      return words === undefined ? [] : [{ view, words }];
    })
    .slice(0, MOST);
}

// --- helpers ---

const MOST = 4;
const FEWEST = 3;

/** The loss of a policy has no best: it is about 0 from the first step to the last. */
function betterOf({ series }: SeriesView, rewarded: boolean): 'lower' | 'higher' | 'neither' | undefined {
  const { role, part } = series;
  if (part !== '') return undefined;
  if (role === 'reward') return 'higher';
  if (role === 'sft_loss') return 'lower';
  if (role === 'loss') return rewarded ? 'neither' : 'lower';
  return undefined;
}

function wordsOf(view: SeriesView, better: 'lower' | 'higher' | 'neither'): string | undefined {
  const points = view.points().filter(({ value }) => Number.isFinite(value));
  const [first] = points;
  if (first === undefined || view.count < FEWEST) return undefined;
  const sign = better === 'higher' ? -1 : 1;
  const best = points.reduce((a, b) => (sign * b.value < sign * a.value ? b : a));
  const now = `now ${short(view.value)}`;
  const extreme = better === 'neither' ? [] : [`best ${short(best.value)} at step ${digits(best.step)}`];
  return [`${short(first.value)} at the start`, ...extreme, now].join(', ');
}

/** Three digits are compared at a glance. */
const short = (value: number): string =>
  Number.isFinite(value) ? digits(Number(value.toPrecision(3))) : String(value);
