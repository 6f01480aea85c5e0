// A mean beside the smallest and the largest of the same values.
import type { MonitorRule, Series, Watch } from '../../../src/index.ts';
import { read, streakOf } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';

const WORDS = { mean: 'mean', avg: 'mean', average: 'mean', min: 'min', max: 'max' } as const;
type Kind = (typeof WORDS)[keyof typeof WORDS];

/** `response_length/max` is the largest of `response_length/*`. */
function placeOf(name: string): { readonly family: string; readonly kind: Kind } | undefined {
  const words = name.toLowerCase().split(/([/_.\- ])/);
  const found = words.filter((word): word is keyof typeof WORDS => Object.hasOwn(WORDS, word));
  const [word] = found;
  if (word === undefined || found.length !== 1) return undefined;
  return { family: words.map((each) => (each === word ? '*' : each)).join(''), kind: WORDS[word] };
}

interface Family {
  step: number;
  readonly values: Partial<Record<Kind, { readonly series: Series; readonly value: number }>>;
  readonly streak: ReturnType<typeof streakOf>;
  told: boolean;
}

/** Beyond rounding in the log. */
const ROUNDING = 1e-3;

export const meanBetweenExtremes: MonitorRule = {
  id: 'monitor/mean-between-extremes',
  title: 'A mean lies between the smallest and the largest of the same values',
  stage: 'monitor',
  level: 'should',
  why: 'A mean length above that of the longest completion was divided by another count than the completions, or one of the two counts what the other leaves out: padding, the prompt, rows of another rank.',
  catches: [],
  advice:
    'Compare how the two are computed: over which rows, under which mask, over which ranks and batches, and by which count the mean is divided.',
  roles: [],
  settings: { points: inARow(5, 'A mean that is smoothed over several steps follows them late.') },
  watch: (world) => {
    const families = new Map<string, Family>();
    const placeOfSeries = new Map<Series, Family | undefined>();
    const kinds = new Map<Series, Kind>();
    let judged = 0;
    const familyOf = (series: Series): Family | undefined => {
      if (placeOfSeries.has(series)) return placeOfSeries.get(series);
      const place = placeOf(series.name);
      let family = place === undefined ? undefined : families.get(place.family);
      if (place !== undefined) {
        family ??= {
          step: Number.NaN,
          values: {},
          streak: streakOf(numberOf(world, 'points')),
          told: false,
        };
        families.set(place.family, family);
        kinds.set(series, place.kind);
      }
      placeOfSeries.set(series, family);
      return family;
    };
    return {
      point(series, step, value) {
        const family = familyOf(series);
        if (family === undefined || family.told || !Number.isFinite(value)) return undefined;
        if (family.step !== step) {
          family.step = step;
          for (const kind of Object.values(WORDS)) delete family.values[kind];
        }
        family.values[kinds.get(series) as Kind] = { series, value };
        const { mean, min, max } = family.values;
        if (mean === undefined || min === undefined || max === undefined) return undefined;
        judged++;
        const room = ROUNDING * Math.max(Math.abs(min.value), Math.abs(max.value));
        const above = mean.value > max.value + room;
        const below = mean.value < min.value - room;
        if (!family.streak.next((above || below) && min.value <= max.value, step)) return undefined;
        family.told = true;
        const other = above ? max : min;
        return {
          kind: 'outside',
          sentence: `${mean.series.name} at step ${step} is ${read(mean.value)}, and ${other.series.name} is ${read(other.value)}: a mean is never ${above ? 'above the largest' : 'below the smallest'} of its values. It is so from step ${family.streak.from} on.`,
          series: mean.series,
          step: family.streak.from,
          value: mean.value,
          low: min.value,
          high: max.value,
        };
      },
      judged: () => judged,
      why: () => 'no mean was logged with the smallest and the largest of the same values, at one step',
    } satisfies Watch;
  },
};
