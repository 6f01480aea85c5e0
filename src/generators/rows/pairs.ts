// Pairs of a better and a worse completion of one prompt: as ids, for collators, and as log-probabilities, for losses.
import fc from 'fast-check';
import type { Ids, Ragged, Tokens } from '../../vocabulary.ts';
import { logprob } from '../losses/tracks.ts';
import { rarely, timesOver, twinned } from '../rarely.ts';
import { repeated, repeats, withRepeats } from '../rollouts/batch.ts';
import { begun, type Specials, specials } from '../specials.ts';

export interface PairBatch {
  readonly prompts: Ragged;
  readonly chosen: Ragged;
  readonly rejected: Ragged;
  readonly pad: number;
  readonly stops: Ids;
}

export interface PairToken {
  readonly logprob: number;
  readonly ref: number;
}

export interface PairRow {
  readonly chosen: readonly PairToken[];
  readonly rejected: readonly PairToken[];
}

export interface Pairs {
  readonly rows: readonly PairRow[];
}

const MAX_ROWS = 4;
const MAX_PROMPT = 5;
const MAX_BODY = 4;
const MAX_TOKENS = 5;
/** Symbols below this are ordinary tokens, the few above are stop tokens (prompts of several turns have them). */
const ORDINARY = 20;
const STOPS_IN_PROMPT = 3;
const GRAIN = 64;
/** So unlikely a token makes a margin whose sigmoid is 0 in float64, at any usual beta: exp(-746) is. */
const EXTREME = -16384;
const EXTREME_ONE_IN = 3;
/** Of one completion in so many, the policy has moved far from its reference: by this many times as much a token. */
const FAR_ONE_IN = 4;
const FAR = 12;
/** And one in so many has its tokens so many times: more than a short window of them. */
const LONG_ONE_IN = 6;
const LONG = 5;

/** Of one pair in so many the chosen completion begins the rejected one: they part where the shorter one ends. */
const PREFIX_ONE_IN = 5;

interface CompletionSketch {
  readonly body: Ids;
  readonly stop: number | null;
  readonly long: boolean;
}

/** Completions have one token at least: a stop token, or one that the length limit cut off behind. */
export function pairBatch(
  tokens: Tokens | undefined,
  options: { readonly minRows?: number; readonly maxRows?: number } = {},
): fc.Arbitrary<PairBatch> {
  const completion = fc.record({
    body: fc.array(fc.nat(ORDINARY - 1), { maxLength: MAX_BODY, size: 'max' }),
    stop: fc.option(fc.nat(2), { freq: 5 }),
    long: rarely(LONG_ONE_IN),
  });
  const row = fc.record({
    again: repeated(),
    prompt: fc.array(fc.nat(ORDINARY + STOPS_IN_PROMPT - 1), {
      minLength: 1,
      maxLength: MAX_PROMPT,
      size: 'max',
    }),
    chosen: completion,
    rejected: completion,
    begins: rarely(PREFIX_ONE_IN),
  });
  return fc
    .tuple(
      specials(tokens),
      fc.array(row, {
        minLength: options.minRows ?? 1,
        maxLength: options.maxRows ?? MAX_ROWS,
        size: 'max',
      }),
    )
    .map(([special, rows]) => ({
      prompts: withRepeats(rows, ({ prompt }) => prompt).map((prompt) =>
        begun(
          special,
          prompt.map((symbol) => idOf(special, symbol)),
        ),
      ),
      chosen: rows.map(({ chosen, begins }) => completionOf(special, begins ? unstopped(chosen) : chosen)),
      rejected: rows.map(({ chosen, rejected, begins }) => [
        ...(begins ? completionOf(special, unstopped(chosen)) : []),
        ...completionOf(special, rejected),
      ]),
      pad: special.pad,
      stops: special.stops,
    }));
}

function idOf({ plain, stops }: Specials, symbol: number): number {
  const [from, index] = symbol < ORDINARY ? [plain, symbol] : [stops, symbol - ORDINARY];
  return from[index % from.length] ?? 0;
}

/** Cut off at the length limit. */
const unstopped = (completion: CompletionSketch): CompletionSketch => ({ ...completion, stop: null });

function completionOf(special: Specials, { body, stop, long }: CompletionSketch): number[] {
  const said = (long ? timesOver(body, LONG) : body).map((symbol) => idOf(special, symbol));
  if (stop !== null) return [...said, idOf(special, ORDINARY + stop)];
  return said.length > 0 ? said : [idOf(special, 0)];
}

/** What a batch of preference pairs exercises as ids. */
export function pairBatchLabels({ prompts, chosen, rejected, pad, stops }: PairBatch): string[] {
  const found: string[] = [];
  const unequal = (rows: Ragged): boolean => rows.some((row) => row.length !== rows[0]?.length);
  if (prompts.length > 1) found.push('several rows');
  if (unequal(prompts)) found.push('unequal prompts');
  if (repeats(prompts)) found.push('repeated prompt');
  if (chosen.some((row, at) => row.length !== rejected[at]?.length)) found.push('halves of unequal length');
  if (chosen.some((row, at) => row.every((id, t) => rejected[at]?.[t] === id)))
    found.push('one half begins the other');
  if (stops.includes(pad)) found.push('pad is a stop token');
  if (prompts.some((row) => row.some((id) => stops.includes(id)))) found.push('stop inside a prompt');
  if ([...chosen, ...rejected].some((row) => row.length === 1)) found.push('one token');
  return found;
}

/** Log-probabilities of the tokens of one completion; near the reference for the most part. */
export function completionNumbers(long = false): fc.Arbitrary<PairToken[]> {
  const token = fc.record({
    logprob: logprob(),
    difference: fc.integer({ min: -GRAIN, max: GRAIN }).map((n) => n / GRAIN + 0),
  });
  return fc
    .record({
      tokens: fc.array(token, { minLength: 1, maxLength: MAX_TOKENS, size: 'max' }),
      times: fc.nat(FAR_ONE_IN - 1).map((n) => (n === FAR_ONE_IN - 1 ? FAR : 1)),
      long: long ? rarely(LONG_ONE_IN) : fc.constant(false),
    })
    .map(({ tokens, times, long: isLong }) =>
      // A far one that is long as well would leave a sigmoid nothing.
      (isLong && times === 1 ? timesOver(tokens, LONG) : tokens).map(
        ({ logprob: value, difference }): PairToken => {
          const by = times * difference;
          // Neither may be above -1/64; where one would be, both move down.
          const moved = value - Math.max(0, value + by + 1 / GRAIN);
          return { logprob: moved, ref: moved + by };
        },
      ),
    );
}

/** Log-probabilities of the tokens of pairs; near the reference for the most part. `extremes`: of some, one is far off. */
export function pairNumbers(
  options: {
    readonly minRows?: number;
    readonly extremes?: boolean;
    /** Some completions have many tokens, which half precision does not add up. */
    readonly long?: boolean;
  } = {},
): fc.Arbitrary<Pairs> {
  const completion = completionNumbers(options.long);
  const far = options.extremes
    ? fc.nat(2 * EXTREME_ONE_IN - 1).map((n) => (n === 1 ? 'chosen' : n === 2 ? 'rejected' : undefined))
    : fc.constant(undefined);
  const row = fc
    .record({ chosen: completion, rejected: completion, far })
    .map(
      ({ far: which, ...pair }): PairRow =>
        which === undefined ? pair : { ...pair, [which]: withUnlikely(pair[which]) },
    );
  return twinned(fc.array(row, { minLength: options.minRows ?? 1, maxLength: MAX_ROWS, size: 'max' })).map(
    (rows) => ({ rows }),
  );
}

/** The same tokens, the first of them hopeless under the policy. */
export const withUnlikely = ([first, ...rest]: readonly PairToken[]): PairToken[] =>
  first === undefined ? [] : [{ ...first, logprob: EXTREME }, ...rest];

/** What preference pairs exercise as log-probabilities. */
export function pairLabels({ rows }: Pairs): string[] {
  const found: string[] = [];
  if (rows.length > 1) found.push('several rows');
  if (rows.some(({ chosen, rejected }) => chosen.length !== rejected.length))
    found.push('halves of unequal length');
  if (new Set(rows.map(({ chosen }) => chosen.length)).size > 1) found.push('unequal rows');
  if (
    rows.some(({ chosen, rejected }) => [...chosen, ...rejected].some((token) => token.logprob === EXTREME))
  )
    found.push('an extreme margin');
  return found;
}
