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
}

export type Processor = 'temperature' | 'top_k' | 'top_p' | 'min_new_tokens';

/** Truncations of a handful of tokens are those of 100,000, and can be read. */
const VOCABULARY = 6;
const MAX_ROWS = 3;
const MAX_GENERATED = 3;
const GRAIN = 16;
const LARGEST = 3 * GRAIN;
/** Half of the rows have likely stop tokens, so that holding them back shows. The half keeps all logits different. */
const RAISED = 3 * GRAIN + 0.5;

/** Only `processors` are ever on. No two logits of a row are equal: which of them a truncation keeps is nobody's rule. */
export function samplingStep(
  processors: readonly Processor[],
  options: { readonly temperatures?: boolean; readonly minRows?: number; readonly oneStop?: boolean } = {},
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
  const setting = (name: Processor, off: number, values: readonly number[]): fc.Arbitrary<number> =>
    processors.includes(name) ? fc.constantFrom(off, ...values) : fc.constant(off);
  return fc
    .record({
      rows: fc.array(row, { minLength: options.minRows ?? 1, maxLength: MAX_ROWS, size: 'max' }),
      steps: fc.nat(MAX_GENERATED),
      stops: fc.uniqueArray(id, { minLength: 1, maxLength: options.oneStop ? 1 : 3 }),
      temperature:
        options.temperatures === false ? fc.constant(1) : setting('temperature', 1, [0.5, 0.75, 1.25, 2]),
      topK: setting('top_k', 0, [1, 2, 3, 5]),
      topP: setting('top_p', 1, [0.5, 0.75, 0.875]),
      minNewTokens: setting('min_new_tokens', 0, [1, 2, 3]),
    })
    .map(({ steps, rows, stops, ...settings }) => ({
      ...settings,
      stops,
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
  if (stops.length > 1) found.push('several stop ids');
  if (rows.some(({ draw }) => draw > 0)) found.push('drawn token is not the likeliest');
  return found;
}
