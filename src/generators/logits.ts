// Rows of ids with the logits that a model would return for them, over a vocabulary of a few tokens.
import fc from 'fast-check';

export interface LogitRow {
  /** Leading tokens that are prompt, 1 at least. */
  readonly prompt: number;
  /** One entry a token, prompt first: the id, and the logits that the model returns at its position, (V,). */
  readonly tokens: readonly { readonly id: number; readonly logits: readonly number[] }[];
  readonly part: number;
}

export interface LogitBatch {
  readonly vocabulary: number;
  readonly temperature: number;
  readonly rows: readonly LogitRow[];
}

/** Ids must be below it; a softmax over a handful shows every fault that one over 100,000 shows. */
const VOCABULARY = 5;
const GRAIN = 8;
const LARGEST = 6 * GRAIN;
/** Peaked rows: far enough out that a softmax without max-subtraction in float16 would overflow. */
const PEAK = 8;
const MAX_ROWS = 3;
const MAX_TOKENS = 5;

export function logitBatch(options: {
  readonly temperatures: boolean;
  readonly minRows?: number;
}): fc.Arbitrary<LogitBatch> {
  const value = fc.integer({ min: -LARGEST, max: LARGEST }).map((n) => n / GRAIN + 0);
  const logits = fc
    .tuple(fc.array(value, { minLength: VOCABULARY, maxLength: VOCABULARY }), fc.constantFrom(1, 1, 1, PEAK))
    .map(([row, scale]) => row.map((entry) => entry * scale));
  const token = fc.record({ id: fc.nat(VOCABULARY - 1), logits });
  const row = fc
    .record({
      first: token,
      prompt: fc.nat(2),
      rest: fc.array(token, { minLength: 1, maxLength: MAX_TOKENS, size: 'max' }),
      part: fc.nat(2),
    })
    .map(({ first, prompt, rest, part }) => ({
      prompt: Math.min(prompt + 1, rest.length),
      tokens: [first, ...rest],
      part,
    }));
  return fc.record({
    vocabulary: fc.constant(VOCABULARY),
    temperature: options.temperatures ? fc.constantFrom(1, 0.5, 0.75, 1.25, 2) : fc.constant(1),
    rows: fc.array(row, { minLength: options.minRows ?? 1, maxLength: MAX_ROWS, size: 'max' }),
  });
}

export function logitLabels({ rows, temperature }: LogitBatch): string[] {
  const labels: string[] = [];
  if (rows.length > 1) labels.push('several rows');
  if (new Set(rows.map(({ tokens }) => tokens.length)).size > 1) labels.push('unequal rows');
  if (temperature !== 1) labels.push('temperature other than 1');
  if (rows.some(({ prompt, tokens }) => tokens.length - prompt === 1)) labels.push('one completion token');
  if (new Set(rows.map(({ part }) => part)).size > 1) labels.push('several micro-batches');
  return labels;
}
