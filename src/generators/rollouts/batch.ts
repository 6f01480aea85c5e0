// Batches of prompts and sampled completions as ids, in the joint space where extraction and masks go wrong:
// several rows of unequal lengths, pad equal to a stop token, stop tokens inside prompts, completions that stop
// at once, late, or never. A case is what was sampled; how it is padded is the check's business.
import fc from 'fast-check';
import type { Ids, Ragged, Tokens } from '../../vocabulary.ts';
import { rarely, timesOver, twinned } from '../rarely.ts';
import { begun, type Specials, specials } from '../specials.ts';

export interface Batch {
  readonly prompts: Ragged;
  /** As sampled: up to and including the stop token, or cut at the length limit. */
  readonly completions: Ragged;
  readonly pad: number;
  readonly stops: Ids;
  /** What the sampler left behind each stop token; absent: padding. */
  readonly after?: Ragged;
}

export interface BatchOptions {
  readonly tokens: Tokens | undefined;
  readonly unusable?: ReadonlySet<number>;
  /** Generation stops at one id. */
  readonly oneStop?: boolean;
  /** Completions may end early without a stop, or be empty. */
  readonly unfinished?: boolean;
  /** No completion without a stop token. */
  readonly alwaysStops?: boolean;
  /** Anything may stand behind a stop token. */
  readonly afterStop?: boolean;
  readonly minRows?: number;
  /** Prompts of some batches, or completions, are longer than a window of them. */
  readonly long?: boolean;
  /** Default: `MAX_ROWS`. */
  readonly maxRows?: number;
}

/** Rows enough for batch mates to differ; lengths enough for every off-by-one; small enough to read. */
const MAX_ROWS = 4;
const MAX_PROMPT = 6;
const MAX_BODY = 5;
const MAX_AFTER = 2;
/** One batch in so many has its prompts, or its completions, so many times over. */
const LONG_ONE_IN = 6;
const TIMES = 12;
const LONG_PARTS = ['prompt', 'body'] as const;
/** One row in so many repeats the prompt before it: real batches hold several samples of each prompt. */
const REPEAT_ONE_IN = 3;
/** One row in so many was aborted before its first token. */
export const ABORTED_ONE_IN = 4;
/** Symbols below this are ordinary tokens, the few above are stop tokens (prompts only). */
const ORDINARY = 20;
const STOPS_IN_PROMPT = 3;
/** Of the ordinary ones, those that are stop tokens behind the first. */
const STOPS_BEHIND = 5;

interface RowSketch {
  /** The prompt of the row before it. */
  readonly again: boolean;
  readonly prompt: readonly number[];
  readonly body: readonly number[];
  readonly stop: number | null;
  /** Ended before its first token, where such rows are welcome. */
  readonly aborted?: boolean;
  readonly after?: readonly number[];
}

/** An arbitrary batch. */
export function batch(options: BatchOptions): fc.Arbitrary<Batch> {
  const row = fc.record({
    again: repeated(),
    prompt: fc.array(fc.nat(ORDINARY + STOPS_IN_PROMPT - 1), {
      minLength: 1,
      maxLength: MAX_PROMPT,
      size: 'max',
    }),
    body: fc.array(fc.nat(ORDINARY - 1), { minLength: 0, maxLength: MAX_BODY, size: 'max' }),
    stop: options.alwaysStops ? fc.nat(2) : fc.option(fc.nat(2), { freq: 4 }),
    ...(options.unfinished && !options.alwaysStops ? { aborted: rarely(ABORTED_ONE_IN) } : {}),
    ...(options.afterStop ? { after: fc.array(fc.nat(ORDINARY - 1), { maxLength: MAX_AFTER }) } : {}),
  });
  return fc
    .tuple(
      specials(options.tokens, options),
      twinned(
        fc.array(row, {
          minLength: options.minRows ?? 1,
          maxLength: options.maxRows ?? MAX_ROWS,
          size: 'max',
        }),
      ),
      options.long ? fc.nat(2 * LONG_ONE_IN - 1) : fc.constant(0),
    )
    .map(([special, rows, drawn]) => {
      const part = LONG_PARTS[2 * LONG_ONE_IN - 1 - drawn];
      const longer = (row: RowSketch): RowSketch =>
        part === undefined ? row : { ...row, [part]: timesOver(row[part], TIMES) };
      return layOut(special, rows.map(longer), options);
    });
}

function layOut(special: Specials, rows: readonly RowSketch[], options: BatchOptions): Batch {
  const { pad, stops, plain } = special;
  const ordinary = (symbol: number): number => plain[symbol % plain.length] ?? 0;
  const stopAt = (symbol: number): number => stops[symbol % stops.length] ?? 0;
  // What goes on after a stop may stop again.
  const behind = (symbol: number): number =>
    symbol < ORDINARY - STOPS_BEHIND ? ordinary(symbol) : stopAt(symbol);
  // Shorter rows without a stop look like padding where the pad is a stop token, so they stay out even where they
  // are welcome.
  const unfinished = options.unfinished === true && !stops.includes(pad);
  const started = rows.map(({ body, stop, aborted }) =>
    aborted && unfinished ? [] : [...body.map(ordinary), ...(stop === null ? [] : [stopAt(stop)])],
  );
  const width = Math.max(1, ...started.map((row) => row.length));
  // A sampler that was not stopped goes on to the limit.
  const completions = started.map((row, at) =>
    rows[at]?.stop === null && !unfinished
      ? [...row, ...Array.from({ length: width - row.length }, (_, more) => ordinary(at + more + 3))]
      : row,
  );
  const prompts = withRepeats(rows, ({ prompt }) => prompt).map((prompt) =>
    begun(
      special,
      prompt.map((symbol) => (symbol < ORDINARY ? ordinary(symbol) : stopAt(symbol - ORDINARY))),
    ),
  );
  if (!options.afterStop) return { prompts, completions, pad, stops };
  return {
    prompts,
    completions,
    pad,
    stops,
    after: rows.map(({ after, stop, aborted }) =>
      stop === null || (aborted && unfinished) ? [] : (after ?? []).map(behind),
    ),
  };
}

/** Whether a row repeats the prompt before it. */
export const repeated = (): fc.Arbitrary<boolean> => rarely(REPEAT_ONE_IN);

/** What `of` says of each row, or of the row that it repeats. */
export function withRepeats<Row extends { readonly again: boolean }, Part>(
  rows: readonly Row[],
  of: (row: Row) => Part,
): Part[] {
  const parts: Part[] = [];
  for (const row of rows) {
    const before = parts.at(-1);
    parts.push(row.again && before !== undefined ? before : of(row));
  }
  return parts;
}

/** Two of these are the same. */
export const repeats = (prompts: readonly unknown[]): boolean =>
  new Set(prompts.map((prompt) => JSON.stringify(prompt))).size < prompts.length;

/**
 * The least share of batches that must have had what hides bugs: what the trainer is fixed to, nobody can vary. Well
 * below what is drawn; a share this small is only ruled thin when there was none of it.
 */
export function batchCoverage(
  tokens: Tokens | undefined,
  options: Pick<BatchOptions, 'unfinished' | 'alwaysStops' | 'oneStop'> = {},
): Readonly<Record<string, number>> {
  const ownPad = tokens === undefined || !tokens.eos_token_ids.includes(tokens.pad_token_id);
  return {
    'unequal completions': 0.25,
    'stopped at once': 0.13,
    ...(options.alwaysStops ? {} : { 'never stopped': 0.15 }),
    ...(tokens === undefined
      ? {
          'prompts begin with a stop': 0.12,
          'pad is a stop token': 0.2,
          ...(options.oneStop ? {} : { 'several stop ids': 0.2 }),
          'special id 0': 0.2,
        }
      : {}),
    ...(options.unfinished && !options.alwaysStops && ownPad
      ? { 'empty completion': tokens === undefined ? 0.06 : 0.13 }
      : {}),
  };
}

/** The label of a batch with a completion that `endsFurther`. */
export const FURTHER_STOP = 'ended by a further stop id';

/** The completion ends with another stop token than the first of them, which is the tokenizer's eos. */
export const endsFurther = (completion: Ids, stops: Ids): boolean =>
  stops.indexOf(completion.at(-1) ?? -1) > 0;

/** What a batch exercises. */
export function batchLabels({ prompts, completions, pad, stops }: Batch): string[] {
  const labels: string[] = [];
  const unequal = (rows: Ragged): boolean => rows.some((row) => row.length !== rows[0]?.length);
  const stopped = completions.map((row) => stops.includes(row.at(-1) ?? -1));
  labels.push(prompts.length === 1 ? 'one row' : 'several rows');
  if (repeats(prompts)) labels.push('repeated prompt');
  if (unequal(prompts)) labels.push('unequal prompts');
  if (prompts.some((row) => row.length >= TIMES)) labels.push('long prompt');
  if (unequal(completions)) labels.push('unequal completions');
  if (stops.includes(pad)) labels.push('pad is a stop token');
  if (stops.length > 1) labels.push('several stop ids');
  if (completions.some((row) => endsFurther(row, stops))) labels.push(FURTHER_STOP);
  if (prompts.some((row) => row.some((id) => stops.includes(id)))) labels.push('stop inside a prompt');
  if (prompts.every(([first]) => first !== undefined && stops.includes(first)))
    labels.push('prompts begin with a stop');
  if (stopped.includes(true)) labels.push('stopped');
  if (stopped.includes(false)) labels.push('never stopped');
  if (completions.some((row, at) => row.length === 1 && stopped[at])) labels.push('stopped at once');
  if (completions.some((row) => row.length === 0)) labels.push('empty completion');
  if ([pad, ...stops].includes(0)) labels.push('special id 0');
  return labels;
}

/** One sampled completion, never empty: ordinary ids, mostly ended by a stop token. */
export function sampled(tokens: Tokens | undefined): fc.Arbitrary<Ids> {
  return fc
    .tuple(
      specials(tokens),
      fc.array(fc.nat(ORDINARY - 1), { minLength: 0, maxLength: MAX_BODY, size: 'max' }),
      fc.option(fc.nat(2), { freq: 4 }),
      rarely(LONG_ONE_IN),
    )
    .map(([{ plain, stops }, drawn, stop, long]) => {
      const some = drawn.length === 0 && stop === null ? [0] : drawn;
      const body = long ? timesOver(some, TIMES) : some;
      return [
        ...body.map((symbol) => plain[symbol % plain.length] ?? 0),
        ...(stop === null ? [] : [stops[stop % stops.length] ?? 0]),
      ];
    });
}
