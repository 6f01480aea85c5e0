// Per-token numbers: log-probabilities of policy, behaviour policy and reference on rows of a prompt and a
// completion. Values are multiples of 1/64, exact in every float format down to bfloat16's neighbourhood, so
// that a difference is the trainer's and not the wire's.
import fc from 'fast-check';
import { FINE, rarely, twinned } from '../rarely.ts';

export interface TokenNumbers {
  readonly logprob: number;
  readonly old: number;
  readonly ref: number;
}

export interface TrackRow {
  /** Prompt tokens. */
  readonly prompt: number;
  /** One entry a completion token. */
  readonly tokens: readonly TokenNumbers[];
  readonly advantage: number;
  /** Index of the micro-batch that the row goes to. */
  readonly part: number;
}

export interface Tracks {
  readonly rows: readonly TrackRow[];
}

export interface TrackOptions {
  /** Every row has at least one completion token. */
  readonly noEmptyRows?: boolean;
  /** Some row has two completion tokens. */
  readonly twoTokens?: boolean;
  /** Some row with a completion token has an advantage. */
  readonly someAdvantage?: boolean;
  /** First minibatch: the behaviour policy and the reference are the policy. */
  readonly onPolicy?: boolean;
  readonly minRows?: number;
  /** Log-ratios of policy and behaviour policy that no token comes near, such as the edges of the clip range. */
  readonly avoid?: readonly number[];
  /** Some tokens are rated altogether differently by the reference: further off than any clamp of a KL. */
  readonly farReference?: boolean;
}

const GRAIN = 64;
/** exp(6) keeps k3 within what float32 holds to four digits after a sum. */
const DEEPEST = 6 * GRAIN;
const MAX_ROWS = 4;
const MAX_PROMPT = 3;
const MAX_TOKENS = 5;
const PARTS = 3;
/** Clamps in use are 10 and 20. */
const FAR = 24 * GRAIN;

/** An arbitrary log-probability in [-6, 0). */
export function logprob(): fc.Arbitrary<number> {
  return fc.integer({ min: 1, max: DEEPEST }).map(
    (n) => -n / GRAIN,
    (value) => -Number(value) * GRAIN,
  );
}

/**
 * An arbitrary batch of per-token log-probabilities (policy, old, reference), in nats, with an advantage and a
 * micro-batch a row.
 */
export function tracks(options: TrackOptions = {}): fc.Arbitrary<Tracks> {
  const token: fc.Arbitrary<TokenNumbers> = options.onPolicy
    ? logprob().map((value) => ({ logprob: value, old: value, ref: value }))
    : fc
        .record({ logprob: logprob(), old: near(), ref: options.farReference ? nearOrFar() : near() })
        .map(({ logprob: value, old, ref }) => belowZero(value, away(old, options.avoid ?? []), ref));
  const row = fc.record({
    prompt: fc.integer({ min: 1, max: MAX_PROMPT }),
    tokens: fc.array(token, { minLength: options.noEmptyRows ? 1 : 0, maxLength: MAX_TOKENS, size: 'max' }),
    advantage: fc.oneof(
      { weight: 4, arbitrary: fc.integer({ min: -12, max: 12 }).map((n) => n / 4 + 0) },
      fc.constant(0),
    ),
    part: fc.nat(PARTS - 1),
  });
  const rows = twinned(
    fc.array(row, { minLength: options.minRows ?? 1, maxLength: MAX_ROWS, size: 'max' }),
  ).filter((drawn) => drawn.some(({ tokens }) => tokens.length > 0));
  const side = fc
    .nat(SIDES.length * SQUARE_ONE_IN - 1)
    .map((n) => SIDES[n - SIDES.length * (SQUARE_ONE_IN - 1)]);
  const certain = options.onPolicy
    ? fc.constant(undefined)
    : fc
        .nat(CERTAIN.length * CERTAIN_ONE_IN - 1)
        .map((n) => CERTAIN[n - CERTAIN.length * (CERTAIN_ONE_IN - 1)]);
  const stretched = fc.record({
    deep: rarely(DEEP_ONE_IN),
    times: fc.nat(TIMES.length * LARGE_ONE_IN - 1).map((n) => TIMES[n - TIMES.length * (LARGE_ONE_IN - 1)]),
  });
  const made = fc.tuple(rows, side, certain, stretched).map(([drawn, square, track, { deep, times }]) => {
    const laid = square === undefined ? drawn : squared(drawn, square);
    const kept = laid.some(({ tokens }) => tokens.length > 0) ? laid : drawn;
    const sure = track === undefined ? kept : withCertain(kept, track, options.avoid ?? []);
    const deeper = deep && track === undefined ? sure.map(unlikelier) : sure;
    return {
      rows:
        times === undefined ? deeper : deeper.map((row) => ({ ...row, advantage: times * row.advantage })),
    };
  });
  return made.filter(
    ({ rows: laid }) =>
      (!options.twoTokens || laid.some(({ tokens }) => tokens.length > 1)) &&
      (!options.someAdvantage || laid.some(({ tokens, advantage }) => tokens.length > 0 && advantage !== 0)),
  );
}

/** All tokens of one batch in so many are as unlikely as a token of noise is, by all three; advantages of another are large. */
const DEEP_ONE_IN = 8;
const DEEP = 16;
const LARGE_ONE_IN = 8;
/** Also by as little as half precision rounds away. */
const TIMES = [8, FINE];

const unlikelier = (row: TrackRow): TrackRow => ({
  ...row,
  tokens: row.tokens.map(({ logprob: value, old, ref }) => ({
    logprob: value - DEEP,
    old: old - DEEP,
    ref: ref - DEEP,
  })),
});

/** Whoever sampled the token, or whom it is compared with, was certain of it: 0, which passes for `not there`. */
const CERTAIN = ['old', 'ref'] as const;
const CERTAIN_ONE_IN = 3;
/** Nats that the others may be from it. */
const NEAR_CERTAIN = 3;

/** In each row the first token that the policy itself rates high enough. */
function withCertain(
  rows: readonly TrackRow[],
  track: (typeof CERTAIN)[number],
  edges: readonly number[],
): readonly TrackRow[] {
  const may = ({ logprob: value }: TokenNumbers): boolean =>
    value > -NEAR_CERTAIN && !edges.some((edge) => Math.abs(value - edge) < DISTANCE);
  return rows.map((row) => {
    const first = row.tokens.findIndex(may);
    return {
      ...row,
      tokens: row.tokens.map((token, at) => (at === first ? { ...token, [track]: 0 } : token)),
    };
  });
}

/**
 * Two sizes that agree, where an index along the wrong one of the two goes unseen: rows and columns, rows and
 * completion columns, prompt and completion columns, micro-batches and their rows.
 */
const SIDES = ['row', 'completion', 'prompt', 'parts'] as const;
const SQUARE_ONE_IN = 4;

function squared(rows: readonly TrackRow[], side: (typeof SIDES)[number]): readonly TrackRow[] {
  const width = Math.max(...rows.map(({ tokens }) => tokens.length));
  if (side === 'completion') return rows.map((row) => ({ ...row, tokens: row.tokens.slice(0, rows.length) }));
  if (side === 'row' && rows.length > 1)
    return rows.map((row) => ({ ...row, prompt: 1, tokens: row.tokens.slice(0, rows.length - 1) }));
  if (side === 'prompt')
    return rows.map((row, at) => ({ ...row, prompt: at === 0 ? width : Math.min(row.prompt, width) }));
  if (side === 'parts') return rows.map((row, at) => ({ ...row, part: Math.floor(at / PARTS_OF) }));
  return rows;
}

/** Four rows are two micro-batches of two. */
const PARTS_OF = 2;

/** A difference of log-probabilities: mostly within the clip range or a little beyond, sometimes far. */
function near(): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 3, arbitrary: grains(GRAIN / 2) },
    { weight: 1, arbitrary: grains(3 * GRAIN) },
    fc.constantFrom(0, TINY),
  );
}

/** Little enough to be taken for none, and float16 holds it beside a log-probability. */
const TINY = 1 / 2048;

const nearOrFar = (): fc.Arbitrary<number> => fc.oneof(near(), grains(FAR));

const grains = (most: number): fc.Arbitrary<number> =>
  fc.integer({ min: -most, max: most }).map((n) => n / GRAIN + 0);

/** None of the three is above -1/64; where one would be, all move down, so that their differences stay. */
function belowZero(value: number, old: number, ref: number): TokenNumbers {
  const excess = Math.max(0, value + Math.max(old, ref) + 1 / GRAIN);
  const moved = value - excess;
  return { logprob: moved, old: moved + old, ref: moved + ref };
}

/** A finite difference steps 1/64 to either side, and the edge itself is no multiple of that. */
const DISTANCE = 2.5 / GRAIN;

/** `old` - `logprob`, moved away from 0 until the log-ratio (its negative) is clear of every edge. */
function away(delta: number, edges: readonly number[]): number {
  let moved = delta;
  const step = (delta < 0 ? -1 : 1) / GRAIN;
  while (edges.some((edge) => Math.abs(-moved - edge) < DISTANCE)) moved += step;
  return moved;
}

/** What a per-token batch exercises. */
export function trackLabels({ rows }: Tracks): string[] {
  const labels: string[] = [];
  const lengths = rows.map(({ tokens }) => tokens.length);
  const [prompts, completions] = [Math.max(...rows.map(({ prompt }) => prompt)), Math.max(1, ...lengths)];
  if ([completions, prompts + completions].includes(rows.length)) labels.push('as many rows as columns');
  if (prompts === completions) labels.push('prompt as wide as completion');
  if (rows.length > 1) labels.push('several rows');
  if (new Set(lengths).size > 1) labels.push('unequal completions');
  if (new Set(rows.map(({ prompt }) => prompt)).size > 1) labels.push('unequal prompts');
  if (lengths.includes(0)) labels.push('fully masked row');
  if (rows.some(({ advantage }) => advantage === 0)) labels.push('zero advantage');
  if (rows.some(({ advantage }) => advantage < 0)) labels.push('negative advantage');
  if (new Set(rows.map(({ part }) => part)).size > 1) labels.push('several micro-batches');
  if (rows.some(({ tokens }) => tokens.some(({ logprob: value, old }) => Math.abs(value - old) > 0.2)))
    labels.push('beyond the clip range');
  return labels;
}
