// Rows of ids with the logits that a model would return for them, over a vocabulary of a few tokens.
import fc from 'fast-check';
import { FINE, rarely, twinned } from '../rarely.ts';

export interface LogitRow {
  /** Leading tokens that are prompt, 1 at least. */
  readonly prompt: number;
  /** One entry per token, prompt first: the id, and the logits that the model returns at its position, (V,). */
  readonly tokens: readonly {
    readonly id: number;
    readonly logits: readonly number[];
    /** Those of the reference model, where there is one. */
    readonly reference?: readonly number[];
    /** Of the completion and not trained; supervised fine-tuning only. */
    readonly ignored?: boolean;
  }[];
  readonly part: number;
}

export interface LogitBatch {
  readonly vocabulary: number;
  readonly temperature: number;
  readonly rows: readonly LogitRow[];
}

/** Ids must be below it; a softmax over a handful shows every fault that one over 100,000 shows. */
const VOCABULARY = 5;
/** But for what keeps the likeliest few: engines hand out 20 log-probabilities, or 100. One batch in so many is wider. */
const WIDE = 130;
const WIDE_ONE_IN = 6;
const FINE_ONE_IN = 6;
const GRAIN = 8;
const LARGEST = 6 * GRAIN;
/** Peaked rows: far enough out that a softmax without max-subtraction would overflow in float32, where exp ends at 88. */
const PEAK = 16;
const MAX_ROWS = 3;
const MAX_TOKENS = 5;
/** Holes in a third of the rows; a row without any label in a quarter of the batches. */
const HOLE_ONE_IN = 6;
const EMPTY_ONE_IN = 8;

/** Arbitrary rows of ids with logits over a small vocabulary, exact in every float format, some peaked. */
export function logitBatch(options: {
  readonly temperatures: boolean;
  readonly minRows?: number;
  /** Some completion tokens are not trained; of some rows none is, but of a batch one at least. */
  readonly holes?: boolean;
  /** Logits of some batches are none of half precision. */
  readonly fine?: boolean;
  /** With a reference's logits beside the policy's. */
  readonly references?: boolean;
}): fc.Arbitrary<LogitBatch> {
  const value = fc.integer({ min: -LARGEST, max: LARGEST }).map((n) => n / GRAIN + 0);
  const logits = fc
    .tuple(fc.array(value, { minLength: VOCABULARY, maxLength: VOCABULARY }), fc.constantFrom(1, 1, 1, PEAK))
    .map(([row, scale]) => row.map((entry) => entry * scale));
  const token = fc.record({
    id: fc.nat(VOCABULARY - 1),
    logits,
    ...(options.references ? { reference: logits } : {}),
    ...(options.holes ? { ignored: rarely(HOLE_ONE_IN) } : {}),
  });
  const row = fc
    .record({
      first: token,
      prompt: fc.nat(2),
      rest: fc.array(token, { minLength: 1, maxLength: MAX_TOKENS, size: 'max' }),
      part: fc.nat(2),
      unlabelled: options.holes ? rarely(EMPTY_ONE_IN) : fc.constant(false),
    })
    .map(({ first, prompt, rest, part, unlabelled }) => ({
      prompt: Math.min(prompt + 1, rest.length),
      tokens: [first, ...(unlabelled ? rest.map((made) => ({ ...made, ignored: true })) : rest)],
      part,
    }));
  return fc
    .record({
      wide: rarely(WIDE_ONE_IN),
      fine: options.fine ? rarely(FINE_ONE_IN) : fc.constant(false),
      temperature: options.temperatures ? fc.constantFrom(1, 0.5, 0.75, 1.25, 2, 0.25) : fc.constant(1),
      rows: twinned(fc.array(row, { minLength: options.minRows ?? 1, maxLength: MAX_ROWS, size: 'max' })).map(
        (rows) => (rows.some((made) => labels(made) > 0) ? rows : rows.map(allLabelled)),
      ),
    })
    .map(({ wide: more, fine, temperature, rows }) => {
      const some = more ? rows.map(withLogits(wide)) : rows;
      return {
        vocabulary: more ? WIDE : VOCABULARY,
        temperature,
        rows: fine ? some.map(withLogits((logits) => logits.map((value) => FINE * value))) : some,
      };
    });
}

const withLogits =
  (change: (logits: readonly number[]) => number[]) =>
  (row: LogitRow): LogitRow => ({
    ...row,
    tokens: row.tokens.map((token) => ({
      ...token,
      logits: change(token.logits),
      ...(token.reference === undefined ? {} : { reference: change(token.reference) }),
    })),
  });

/** More entries, near those that are there. */
const wide = (logits: readonly number[]): number[] =>
  Array.from(
    { length: WIDE },
    (_, id) => (logits[id % VOCABULARY] ?? 0) - Math.floor(id / VOCABULARY) / GRAIN + 0,
  );

/** Trained tokens of a row. */
const labels = ({ prompt, tokens }: LogitRow): number =>
  tokens.slice(prompt).filter(({ ignored }) => ignored !== true).length;

const allLabelled = (row: LogitRow): LogitRow => ({
  ...row,
  tokens: row.tokens.map((token) => ({ ...token, ignored: false })),
});

/** The same rows with the completion tokens that are not trained behind those that are. */
export function holesBehind(drawn: LogitBatch): LogitBatch {
  return {
    ...drawn,
    rows: drawn.rows.map((row) => ({
      ...row,
      tokens: [
        ...row.tokens.slice(0, row.prompt),
        ...row.tokens
          .slice(row.prompt)
          .toSorted((a, b) => Number(a.ignored === true) - Number(b.ignored === true)),
      ],
    })),
  };
}

/** What a batch of logits exercises. */
export function logitLabels({ rows, temperature }: LogitBatch): string[] {
  const found: string[] = [];
  if (rows.length > 1) found.push('several rows');
  if (new Set(rows.map(({ tokens }) => tokens.length)).size > 1) found.push('unequal rows');
  if (temperature !== 1) found.push('temperature other than 1');
  if (rows.some(({ prompt, tokens }) => tokens.length - prompt === 1)) found.push('one completion token');
  if (new Set(rows.map(({ part }) => part)).size > 1) found.push('several micro-batches');
  if (rows.some((row) => labels(row) > 0 && labels(row) < row.tokens.length - row.prompt))
    found.push('labels with holes');
  if (rows.some((row) => labels(row) === 0)) found.push('a row without labels');
  return found;
}
