// Rewards in groups of rollouts of the same prompt.
import fc from 'fast-check';
import type { DType, Ragged } from '../../vocabulary.ts';
import { rarely, timesOver } from '../rarely.ts';

export interface Grouped {
  /** One list per prompt; all of the same length G. */
  readonly groups: readonly (readonly number[])[];
  /** One a group; two groups may have the same. */
  readonly prompts: Ragged;
  /** Tokens of each completion, as the rewards stand. */
  readonly lengths: Ragged;
  /** The rows of a group do not stand together: first rows first, as a sampler that repeats the whole batch leaves them. */
  readonly interleaved: boolean;
}

const MAX_GROUPS = 3;
const MAX_GROUP = 4;
/** One batch in so many has as many groups as a group has rows: then an index along the wrong axis goes unseen. */
const SQUARE_ONE_IN = 4;
/** One in so many has groups of so many rows and more: eight and sixteen are what people sample, 64 and 128 what they are proud of. */
const LARGE_ONE_IN = 8;
const LARGE = [
  { rows: 17, as: 'drawn' },
  { rows: 17, as: 'lone' },
  { rows: 130, as: 'rising' },
  { rows: 130, as: 'lone' },
] as const;
/** And as many have so many times the groups. */
const MANY = 4;
/** Where the trainer is fixed to larger groups, a square batch is too many rows to read. */
const MOST_SQUARE = 8;
/** So few that two groups have the same prompt every now and then. */
const PROMPT_IDS = 2;
/** Short completions: one token more is much of a weight. */
const MAX_LENGTH = 8;
/** Rewards of a group that differs by little, as that of an almost solved prompt does, in steps around 0. */
const SMALL = 4;
/** A step is 1 / this. Around 0 it is exact in every format; float16 has no square of the finer one. */
const FINE = 1024;
const FINE_HALF = 64;
/** Of rewards that a length or a penalty of hundreds stands in. */
const FAR = 1_000;
/** Largest less smallest reward, exclusive, for the label. */
const SMALL_SPREAD = 0.1;

export interface GroupOptions {
  /** G, where the trainer is fixed to one. */
  readonly size: number | undefined;
  readonly minGroups?: number;
  /** All rewards of a group equal. */
  readonly constant?: boolean;
  /** Rows of a group need not stand together. */
  readonly interleaved?: boolean | undefined;
  /** What the trainer computes in; default float32. */
  readonly dtype?: DType | undefined;
}

/** Groups of equal size; unless asked for, two rows at least: a group of one has no spread to normalise by. */
export function grouped(options: GroupOptions): fc.Arbitrary<Grouped> {
  const quarters = (from: number) => fc.integer({ min: -8, max: 8 }).map((n) => n / 4 + from);
  const reward = fc.oneof(
    { weight: 3, arbitrary: quarters(0) },
    { weight: 1, arbitrary: fc.constantFrom(0, 1) },
    // Equal rewards say most where their mean is not exact: three times 0.1 leaves a spread of rounding noise.
    { weight: options.constant ? 4 : 1, arbitrary: fc.constantFrom(0.1, 0.3, -0.7, 100.25) },
  );
  const size = options.size;
  const width = size ?? MAX_GROUP;
  const wideOf = (one: fc.Arbitrary<number>) => fc.array(one, { minLength: width, maxLength: width });
  const wide = wideOf(reward);
  const steps = fc.array(fc.integer({ min: -SMALL, max: SMALL }), { minLength: width, maxLength: width });
  const close = fc
    .record({ steps, grain: fc.constantFrom(FINE_HALF, options.dtype === 'float16' ? FINE_HALF : FINE) })
    .map(({ steps, grain }) => steps.map((n) => n / grain + 0));
  // Far from 0, mean square less squared mean is rounding noise; quarters there are exact in single precision.
  const far = wideOf(quarters(FAR));
  const isFine = [undefined, 'float32', 'float64'].includes(options.dtype);
  const group = fc.oneof(
    { weight: 6, arbitrary: wide },
    { weight: 2, arbitrary: close },
    ...(isFine && !options.constant ? [{ weight: 1, arbitrary: far }] : []),
  );
  const length = fc.integer({ min: 1, max: MAX_LENGTH });
  const least = options.minGroups ?? 1;
  // A square of one row each, or of too many, is none.
  const mayBeSquare = size === undefined || (size >= Math.max(2, least) && size <= MOST_SQUARE);
  const most = Math.max(MAX_GROUPS, mayBeSquare ? width : 0);
  return fc
    .record({
      interleaved: options.interleaved ? fc.boolean() : fc.constant(false),
      square: mayBeSquare ? rarely(SQUARE_ONE_IN) : fc.constant(false),
      size: size === undefined ? fc.integer({ min: 2, max: MAX_GROUP }) : fc.constant(size),
      count: fc.integer({ min: least, max: MAX_GROUPS }),
      groups: fc.array(group, { minLength: most, maxLength: most }),
      prompts: fc.array(fc.array(fc.nat(PROMPT_IDS), { minLength: 1, maxLength: 2 }), {
        minLength: most,
        maxLength: most,
      }),
      lengths: fc.array(fc.array(length, { minLength: width, maxLength: width }), {
        minLength: most,
        maxLength: most,
      }),
      // Of many equal rewards a rounded mean leaves the more.
      large:
        size === undefined && !options.constant
          ? fc.tuple(rarely(LARGE_ONE_IN), fc.constantFrom(...LARGE)).map(([is, each]) => (is ? each : null))
          : fc.constant(null),
      many:
        !options.constant && (size === undefined || (size > 1 && size <= MOST_SQUARE))
          ? rarely(LARGE_ONE_IN)
          : fc.constant(false),
    })
    .map(({ square, size: rows, count: drawn, groups, prompts, lengths, interleaved, large, many }) => {
      const count = square ? Math.max(rows, least) : drawn;
      const cut = (group: readonly number[]): readonly number[] =>
        timesOver(group.slice(0, rows), square ? 1 : Math.ceil((large?.rows ?? rows) / rows));
      const as = square ? undefined : large?.as;
      // The first rows of a group of hundreds are not like all of it; and one success of many is many deviations away.
      const inGroup = (reward: number, at: number): number =>
        as === 'lone' ? Number(at === 0) : reward + (as === 'rising' ? Math.floor(at / rows) / FINE_HALF : 0);
      const times = many && !square && large === null ? MANY : 1;
      return {
        interleaved,
        prompts: timesOver(prompts.slice(0, count), times),
        lengths: timesOver(lengths.slice(0, count).map(cut), times),
        // Each time other rewards, so that the statistics of one are not those of the next.
        groups: timesOver(groups.slice(0, count), times).map((group, at) => {
          const kept = cut(group).map(
            (reward, row) => inGroup(reward, row) + Math.floor(at / count) / FINE_HALF,
          );
          return options.constant ? kept.map(() => kept[0] ?? 0) : kept;
        }),
      };
    });
}

/** What grouped rewards exercise. */
export function groupedLabels({ groups, prompts, lengths = [], interleaved }: Grouped): string[] {
  const labels: string[] = interleaved && groups.length > 1 ? ['interleaved groups'] : [];
  if (new Set(prompts.map((ids) => ids.join())).size < prompts.length) labels.push('same prompt twice');
  if (groups.length > 1) labels.push('several groups');
  if (groups.length > 1 && groups.length === groups[0]?.length) labels.push('as many groups as rows in one');
  if (groups.some((group) => group.length === 1)) labels.push('groups of one');
  if (groups.some((group) => new Set(group).size === 1)) labels.push('equal rewards');
  if (groups.some(isSmall)) labels.push('small spread');
  if (lengths.some((group) => new Set(group).size > 1)) labels.push('unequal lengths');
  if (new Set(groups.map((group) => group.reduce((a, b) => a + b, 0) / group.length)).size > 1)
    labels.push('groups of different means');
  return labels;
}

function isSmall(group: readonly number[]): boolean {
  const spread = Math.max(...group) - Math.min(...group);
  return spread > 0 && spread < SMALL_SPREAD;
}
