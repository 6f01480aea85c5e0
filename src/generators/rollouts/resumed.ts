// Rollouts whose generation was interrupted, for op `partial_rollout`: what was sampled so far, by one policy or several, and what the
// engine would go on with, which may be more than is left of the budget.
import fc from 'fast-check';
import type { Ids, Ragged, Tokens } from '../../vocabulary.ts';
import { logprob } from '../losses/tracks.ts';
import { begun, specials } from '../specials.ts';

export interface Resumed {
  readonly rows: readonly ResumedRow[];
  /** Of the policy that goes on. */
  readonly version: number;
  readonly limit: number;
  readonly stops: Ids;
}

export interface ResumedRow {
  readonly prompt: Ids;
  /** Sampled before: ids, log-probabilities then and now, and versions, in step. */
  readonly partial: readonly ResumedToken[];
  /** Up to a stop token, or beyond the budget. */
  readonly sampled: readonly Omit<ResumedToken, 'rescored' | 'version'>[];
}

export interface ResumedToken {
  readonly id: number;
  readonly logprob: number;
  /** By the policy that goes on. */
  readonly rescored: number;
  readonly version: number;
}

const MAX_ROWS = 3;
const MAX_PROMPT = 3;
const MAX_PARTIAL = 4;
/** Below and above what is left of the budget. */
const MAX_SAMPLED = 6;
const MAX_LEFT = 3;
/** One continuation in so many has no stop token. */
const CUT_ONE_IN = 3;
/** The policy that goes on is this many updates old, and the oldest of those before it fewer. */
const FIRST_VERSION = 7;
const MAX_AGE = 3;
/** No log-probability of a case is that of another policy. */
const LATER = 1 / 64;

/** Interrupted rollouts, none of which is finished: no stop token, and room for one id at least. */
export function resumed(tokens: Tokens | undefined, oneStop: boolean): fc.Arbitrary<Resumed> {
  const symbol = fc.nat(19);
  const said = fc.record({ symbol, logprob: logprob() });
  const row = fc.record({
    prompt: fc.array(symbol, { minLength: 1, maxLength: MAX_PROMPT }),
    // How many updates ago each was sampled; the oldest come first.
    partial: fc.array(fc.record({ said, age: fc.integer({ min: 1, max: MAX_AGE }) }), {
      maxLength: MAX_PARTIAL,
      size: 'max',
    }),
    sampled: fc.array(said, { minLength: 1, maxLength: MAX_SAMPLED, size: 'max' }),
    stop: fc.option(fc.nat(2), { freq: CUT_ONE_IN }),
  });
  return fc
    .record({
      special: specials(tokens, { oneStop }),
      rows: fc.array(row, { minLength: 1, maxLength: MAX_ROWS }),
      left: fc.integer({ min: 1, max: MAX_LEFT }),
    })
    .map(({ special, rows, left }) => {
      const { plain, stops } = special;
      const idOf = (at: number): number => plain[at % plain.length] ?? 0;
      const longest = Math.max(...rows.map(({ partial }) => partial.length));
      return {
        version: FIRST_VERSION,
        limit: longest + left,
        stops,
        rows: rows.map(({ prompt, partial, sampled, stop }) => ({
          prompt: begun(special, prompt.map(idOf)),
          partial: partial
            .toSorted((a, b) => b.age - a.age)
            .map(({ said: { symbol: at, logprob: value }, age }) => ({
              id: idOf(at),
              logprob: value,
              rescored: value - age * LATER,
              version: FIRST_VERSION - age,
            })),
          sampled: sampled.map(({ symbol: at, logprob: value }, place) => ({
            id: stop !== null && place === sampled.length - 1 ? (stops[stop % stops.length] ?? 0) : idOf(at),
            logprob: value,
          })),
        })),
      };
    });
}

/** The request. */
export function resumeArgs({ rows, version, limit, stops }: Resumed) {
  const each = <T>(of: (row: ResumedRow) => T): readonly T[] => rows.map(of);
  return {
    prompt_ids: each(({ prompt }) => prompt) as Ragged,
    partial_ids: each(({ partial }) => partial.map(({ id }) => id)),
    partial_logprobs: each(({ partial }) => partial.map((token) => token.logprob)),
    partial_versions: each(({ partial }) => partial.map((token) => token.version)),
    sampled_ids: each(({ sampled }) => sampled.map(({ id }) => id)),
    sampled_logprobs: each(({ sampled }) => sampled.map((token) => token.logprob)),
    rescored_logprobs: each(({ partial }) => partial.map(({ rescored }) => rescored)),
    version,
    max_new_tokens: limit,
    eos_token_ids: stops,
  };
}

/** What interrupted rollouts exercise. */
export function resumedLabels({ rows, limit, stops }: Resumed): string[] {
  const labels: readonly (readonly [string, boolean])[] = [
    ['several rows', rows.length > 1],
    ['nothing so far', rows.some(({ partial }) => partial.length === 0)],
    ['something so far', rows.some(({ partial }) => partial.length > 0)],
    [
      'several policies so far',
      rows.some(({ partial }) => new Set(partial.map(({ version }) => version)).size > 1),
    ],
    ['more than is left', rows.some(({ partial, sampled }) => partial.length + sampled.length > limit)],
    [
      'stops in time',
      rows.some(
        ({ partial, sampled }) =>
          partial.length + sampled.length <= limit && stops.includes(sampled.at(-1)?.id ?? -1),
      ),
    ],
  ];
  return labels.filter(([, holds]) => holds).map(([label]) => label);
}
