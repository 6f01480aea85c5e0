// One decoding step: the logits of the next token of rows that have generated equally many, the sampler's settings, and
// which of the tokens that can be drawn was drawn. Which those are the generator does not know; a check counts them off.
import fc from 'fast-check';
import type { Ids } from '../../vocabulary.ts';

export interface SamplingStep {
  readonly rows: readonly {
    /** Sampled so far. */
    readonly generated: Ids;
    readonly logits: readonly number[];
    /** The token that is drawn: so many places on, among those that can be, the likeliest first. */
    readonly draw: number;
  }[];
  readonly stops: Ids;
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly minNewTokens: number;
  /** Ids in the order in which they may not stand behind one another. */
  readonly banned: readonly Ids[];
}

export type Processor = 'temperature' | 'top_k' | 'top_p' | 'min_new_tokens' | 'banned_sequences';

/** Truncations of a handful of tokens are those of 100,000, and can be read. */
const VOCABULARY = 6;
const MAX_ROWS = 3;
const MAX_GENERATED = 3;
/** Generated so far: what lies in the order of tokens needs several. */
const STEPS = [0, 1, 2, 2, MAX_GENERATED, MAX_GENERATED];
/** With the stop tokens that are held back, one fewer than there are tokens. */
const MAX_BANNED = 2;
const GRAIN = 16;
const LARGEST = 3 * GRAIN;
/** What stands before the last id of a banned sequence: the ids that a row ends in, or what is taken for them. */
const NEAR = ['end', 'end', 'longer', 'start', 'turned'] as const;
const BEFORE: Readonly<Record<(typeof NEAR)[number], (ids: Ids, end: Ids, other: number) => Ids>> = {
  end: (_, end) => end,
  longer: (ids, _, other) => [other, ...ids],
  start: (ids) => ids.slice(0, Math.max(1, ids.length - 1)),
  turned: (_, end) => end.toReversed(),
};
/** Half of the rows have likely stop tokens, so that holding them back shows. The half keeps all logits different. */
const RAISED = 3 * GRAIN + 0.5;

/** Only `processors` are ever on. No two logits of a row are equal: which of them a truncation keeps is nobody's rule. */
export function samplingStep(
  processors: readonly Processor[],
  options: {
    readonly temperatures?: boolean;
    readonly minRows?: number;
    readonly oneStop?: boolean;
    /** Temperatures at which half precision knows no log-probability to a whole number. */
    readonly cold?: boolean;
  } = {},
): fc.Arbitrary<SamplingStep> {
  const id = fc.nat(VOCABULARY - 1);
  const row = fc.record({
    generated: fc.array(id, { minLength: MAX_GENERATED, maxLength: MAX_GENERATED }),
    logits: fc.uniqueArray(fc.integer({ min: -LARGEST, max: LARGEST }), {
      minLength: VOCABULARY,
      maxLength: VOCABULARY,
    }),
    draw: fc.nat(VOCABULARY - 1),
    raised: fc.boolean(),
  });
  const sequence = fc.record({
    of: fc.nat(MAX_ROWS - 1),
    count: fc.nat(MAX_GENERATED),
    near: fc.constantFrom(...NEAR),
    other: id,
    last: id,
  });
  const setting = (name: Processor, off: number, values: readonly number[]): fc.Arbitrary<number> =>
    processors.includes(name) ? fc.constantFrom(off, ...values) : fc.constant(off);
  return fc
    .record({
      rows: fc.array(row, { minLength: options.minRows ?? 1, maxLength: MAX_ROWS, size: 'max' }),
      steps: fc.constantFrom(...STEPS),
      stops: fc.uniqueArray(id, { minLength: 1, maxLength: options.oneStop ? 1 : 3 }),
      temperature:
        options.temperatures === false
          ? fc.constant(1)
          : setting('temperature', 1, [0.5, 0.75, 1.25, 2, 0.25, 0.1, ...(options.cold ? [0.01] : [])]),
      topK: setting('top_k', 0, [1, 2, 3, 5, VOCABULARY, VOCABULARY]),
      topP: setting('top_p', 1, [0.5, 0.75, 0.875]),
      minNewTokens: setting('min_new_tokens', 0, [1, 2, 3]),
      banned: fc.array(sequence, {
        maxLength: processors.includes('banned_sequences') ? MAX_BANNED : 0,
        size: 'max',
      }),
    })
    .map(({ steps, rows, stops, banned: sequences, topP, ...settings }) => ({
      ...settings,
      // What keeps all tokens shows where nothing else drops any.
      topP: settings.topK === VOCABULARY ? 1 : topP,
      stops,
      banned: sequences.map(({ of, count, near, other, last }) => {
        const ids = rows[of % rows.length]?.generated.slice(0, steps) ?? [];
        const end = ids.slice(ids.length - Math.min(count, ids.length));
        return [...BEFORE[near](ids, end, other), last];
      }),
      rows: rows.map(({ generated, logits, draw, raised }) => ({
        generated: generated.slice(0, steps),
        logits: logits.map((n, at) => (n + (raised && stops.includes(at) ? RAISED : 0)) / GRAIN + 0),
        draw,
      })),
    }));
}

/** What one step of sampling exercises. */
export function samplingLabels({ rows, stops, ...step }: SamplingStep): string[] {
  const found: string[] = [];
  if (rows.length > 1) found.push('several rows');
  if (step.temperature !== 1) found.push('temperature other than 1');
  if (step.topK > 0) found.push('top-k');
  if (step.topP < 1) found.push('top-p');
  if (rows.some(({ generated }) => generated.length < step.minNewTokens)) found.push('stops held back');
  if (rows.some(({ generated }) => step.minNewTokens > 0 && generated.length === step.minNewTokens))
    found.push('just enough new tokens');
  if (step.banned.length > 0) found.push('banned sequences');
  if (rows.some(({ generated }) => step.banned.some((each) => each.length > 1 && completes(each, generated))))
    found.push('all but the last of a banned sequence');
  if (stops.length > 1) found.push('several stop ids');
  if (rows.some(({ draw }) => draw > 0)) found.push('drawn token is not the likeliest');
  return found;
}

/** Whether the next token of a row would be the last of this sequence. */
export function completes(sequence: Ids, generated: Ids): boolean {
  const before = sequence.slice(0, -1);
  const end = generated.slice(generated.length - before.length);
  return before.length <= generated.length && before.every((id, at) => id === end[at]);
}
