// Examples of supervised fine-tuning as ids and labels, and prompts alone, with a limit that cuts some of them: at, one
// below and one above their lengths, and where their labels begin and end.
import fc from 'fast-check';
import type { Ids, Tokens } from '../../vocabulary.ts';
import { IGNORE_INDEX } from '../../vocabulary.ts';
import { rarely, timesOver } from '../rarely.ts';
import { repeated, withRepeats } from '../rollouts/batch.ts';
import { begun, type Specials, specials } from '../specials.ts';

export interface Example {
  readonly ids: Ids;
  /** The ids where they are trained, -100 elsewhere. */
  readonly labels: Ids;
}

export interface LimitedExamples {
  readonly examples: readonly Example[];
  /** Tokens that a row may have. */
  readonly limit: number;
  readonly pad: number;
}

export interface LimitedPrompts {
  readonly prompts: readonly Ids[];
  readonly limit: number;
  readonly pad: number;
}

/** Three examples make a middle one; lengths enough to lose two tokens of and keep three. */
const MAX_ROWS = 4;
const MAX_TOKENS = 6;
/** More are packed into one row than are cut. */
const MAX_PACKED = 5;
const MAX_PACKED_TOKENS = 4;
/** One batch in so many has its examples so many times over, all for one row: more than a handful of ids of segments. */
const MANY_ONE_IN = 8;
const TIMES = 6;
/** Another has examples of so many times the tokens. */
const LONGER = 12;
/** At a limit of one token, no trainer has anything left to keep of both ends. */
const LEAST_LIMIT = 2;
/** Symbols below this are ordinary tokens, the two above are stop tokens. */
const ORDINARY = 20;
const SYMBOLS = ORDINARY + 2;

interface Sketch {
  readonly symbols: readonly number[];
  /** So many tokens are labelled; 0: none. */
  readonly answer: number;
  /** So many tokens stand behind them: an answer in the middle is an earlier turn. */
  readonly behind: number;
  /** It ends in a stop token, as answers do. */
  readonly stopped: boolean;
}

/** Mostly three tokens and more: shorter rows have nothing to lose. */
const symbols = (maxLength: number): fc.Arbitrary<number[]> => {
  const some = (minLength: number): fc.Arbitrary<number[]> =>
    fc.array(fc.nat(SYMBOLS - 1), { minLength, maxLength, size: 'max' });
  return fc.oneof({ weight: 1, arbitrary: some(1) }, { weight: 2, arbitrary: some(LEAST_LIMIT + 1) });
};

const sketch = (row: fc.Arbitrary<number[]>, maxLength: number): fc.Arbitrary<Sketch> =>
  fc.record({
    symbols: row,
    // Every token is trained, or a short answer to a long prompt, which a limit cuts away; or one that it cuts in two.
    answer: fc.oneof(
      { weight: 2, arbitrary: fc.constant(maxLength) },
      { weight: 2, arbitrary: fc.constantFrom(1, 2) },
      { weight: 2, arbitrary: fc.integer({ min: LEAST_LIMIT + 1, max: maxLength - 1 }) },
      { weight: 1, arbitrary: fc.nat(maxLength) },
    ),
    behind: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(2) }),
    stopped: fc.boolean(),
  });

/** Examples, some longer than the limit. */
export function cutExamples(tokens: Tokens | undefined): fc.Arbitrary<LimitedExamples> {
  return fc
    .tuple(
      specials(tokens),
      fc.array(fc.record({ again: repeated(), drawn: sketch(symbols(MAX_TOKENS), MAX_TOKENS) }), {
        minLength: 1,
        maxLength: MAX_ROWS,
        size: 'max',
      }),
      limit(),
    )
    .map(([special, rows, { of, by }]) => {
      // Two answers to one prompt are the same where the limit cuts them off.
      const begun = withRepeats(rows, ({ drawn }) => drawn.symbols);
      const examples = rows.map(({ drawn }, at) => laid(special, { ...drawn, symbols: begun[at] ?? [] }));
      return {
        examples,
        limit: near(
          examples.map(({ ids }) => ids.length),
          of,
          by,
        ),
        pad: special.pad,
      };
    });
}

/** Prompts, some longer than the limit. */
export function cutPrompts(tokens: Tokens | undefined): fc.Arbitrary<LimitedPrompts> {
  return fc
    .tuple(
      specials(tokens),
      fc.array(fc.record({ again: repeated(), row: symbols(MAX_TOKENS) }), {
        minLength: 1,
        maxLength: MAX_ROWS,
        size: 'max',
      }),
      limit(),
    )
    .map(([special, rows, { of, by }]) => {
      // A batch holds as many copies of a prompt as are sampled of it.
      const prompts = withRepeats(rows, ({ row }) => row).map((row) =>
        begun(
          special,
          row.map((symbol) => idOf(special, symbol)),
        ),
      );
      return {
        prompts,
        limit: near(
          prompts.map((ids) => ids.length),
          of,
          by,
        ),
        pad: special.pad,
      };
    });
}

/** Examples that all fit, and a limit at which rows come out full, or a token short of it. */
export function packedExamples(tokens: Tokens | undefined): fc.Arbitrary<LimitedExamples> {
  const packedRow = fc.array(fc.nat(SYMBOLS - 1), {
    minLength: 1,
    maxLength: MAX_PACKED_TOKENS,
    size: 'max',
  });
  return fc
    .tuple(
      specials(tokens),
      fc.array(sketch(packedRow, MAX_PACKED_TOKENS), { minLength: 1, maxLength: MAX_PACKED, size: 'max' }),
      fc.nat(MAX_PACKED - 1),
      fc.nat(2),
      rarely(MANY_ONE_IN),
      rarely(MANY_ONE_IN),
    )
    .map(([special, rows, sum, more, many, long]) => {
      const laidOut = rows.map((row) =>
        laid(special, long ? { ...row, symbols: timesOver(row.symbols, LONGER) } : row),
      );
      const examples = many ? timesOver(laidOut, TIMES) : laidOut;
      const lengths = examples.map(({ ids }) => ids.length);
      const longest = Math.max(LEAST_LIMIT, ...lengths);
      const some = (many ? lengths : lengths.slice(0, sum + 1)).reduce((total, length) => total + length, 0);
      return { examples, limit: Math.max(longest, some + more - 1), pad: special.pad };
    });
}

/** One or two of three examples and more are longer than a row: by a token or two, or by another row and more. */
export function overlongExamples(tokens: Tokens | undefined): fc.Arbitrary<LimitedExamples> {
  const short = fc.array(fc.nat(SYMBOLS - 1), { minLength: 1, maxLength: MAX_PACKED_TOKENS, size: 'max' });
  const most = 2 * (MAX_PACKED_TOKENS + 1) + 2;
  const long = fc.array(fc.nat(SYMBOLS - 1), { minLength: most, maxLength: most });
  return fc
    .tuple(
      specials(tokens),
      fc.array(sketch(short, MAX_PACKED_TOKENS), { minLength: 1, maxLength: MAX_SHORT, size: 'max' }),
      fc.array(
        fc.record({ drawn: sketch(long, most), at: fc.nat(MAX_SHORT), by: fc.constantFrom(...BEYOND) }),
        {
          minLength: 1,
          maxLength: 2,
        },
      ),
      fc.nat(1),
    )
    .map(([special, rows, longer, more]) => {
      const fit = rows.map((row) => laid(special, row));
      const limit = Math.max(LEAST_LIMIT, ...fit.map(({ ids }) => ids.length)) + more;
      const examples = [...fit];
      for (const { drawn, at, by } of longer)
        examples.splice(
          at,
          0,
          laid(special, { ...drawn, symbols: drawn.symbols.slice(0, by.rows * limit + by.tokens) }),
        );
      return { examples, limit, pad: special.pad };
    });
}

const MAX_SHORT = 3;
/** What is cut off may be a single token, and the last piece may be full. */
const BEYOND = [
  { rows: 1, tokens: 1 },
  { rows: 1, tokens: 2 },
  { rows: 2, tokens: 0 },
  { rows: 2, tokens: 2 },
];

/** The limit as a distance from the length of one of the rows. */
const limit = (): fc.Arbitrary<{ of: number; by: number }> =>
  fc.record({ of: fc.nat(MAX_ROWS - 1), by: fc.constantFrom(0, 1, -1, -2) });

const near = (lengths: readonly number[], of: number, by: number): number =>
  Math.max(LEAST_LIMIT, (lengths[of % lengths.length] ?? 0) + by);

const idOf = ({ plain, stops }: Specials, symbol: number): number =>
  (symbol < ORDINARY ? plain[symbol % plain.length] : stops[symbol % stops.length]) ?? 0;

function laid(special: Specials, { symbols: row, answer, behind, stopped }: Sketch): Example {
  const ids = row.map((symbol, at) =>
    idOf(special, stopped && at === row.length - 1 ? ORDINARY + (symbol % 2) : symbol),
  );
  const end = ids.length - Math.min(behind, ids.length - 1);
  return { ids, labels: ids.map((id, at) => (at >= end - answer && at < end ? id : IGNORE_INDEX)) };
}

const unequal = (rows: readonly Ids[]): boolean => rows.some(({ length }) => length !== rows[0]?.length);

/** What a batch exercises when its rows are truncated. */
export function cutLabels({ examples, limit: most, pad }: LimitedExamples): string[] {
  const found: string[] = [];
  const long = examples.filter(({ ids }) => ids.length > most);
  if (unequal(examples.map(({ ids }) => ids))) found.push('unequal rows');
  if (long.length > 0) found.push('a row is too long');
  if (long.length > 0 && long.length < examples.length) found.push('some rows are too long');
  if (examples.some(({ ids }) => ids.length === most)) found.push('a row just fits');
  if (long.some(({ ids }) => ids.length === most + 1)) found.push('one token too long');
  if (long.some(({ labels }) => trained(labels) && !trained(labels.slice(0, most))))
    found.push('all labels beyond the limit');
  if (long.some(({ labels }) => labels[0] === IGNORE_INDEX && trained(labels.slice(1, most - 1))))
    found.push('an answer is cut in two');
  if (examples.some(({ ids }) => ids.includes(pad))) found.push('pad id inside a row');
  return found;
}

/** What prompts exercise when they are truncated. */
export function promptLabels({ prompts, limit: most, pad }: LimitedPrompts): string[] {
  const found: string[] = [];
  const long = prompts.filter((ids) => ids.length > most);
  if (unequal(prompts)) found.push('unequal rows');
  if (long.length > 0) found.push('a prompt is too long');
  if (long.length > 0 && long.length < prompts.length) found.push('some prompts are too long');
  if (prompts.some((ids) => ids.length === most)) found.push('a prompt just fits');
  if (prompts.some((ids) => ids.includes(pad))) found.push('pad id inside a prompt');
  return found;
}

/** What a batch exercises when its rows are packed. */
export function packLabels({ examples, limit: most, pad }: LimitedExamples): string[] {
  const found: string[] = [];
  const lengths = examples.map(({ ids }) => ids.length);
  const all = lengths.reduce((total, length) => total + length, 0);
  if (examples.length > 2) found.push('three examples or more');
  if (examples.length > 1 && all <= most) found.push('all in one row');
  if (all > most) found.push('several rows');
  if (lengths.includes(1)) found.push('an example of one token');
  if (examples.some(({ labels }) => labels[0] !== IGNORE_INDEX)) found.push('first token is labelled');
  if (examples.some(({ ids }) => ids.at(-1) === pad)) found.push('pad id ends an example');
  return found;
}

const trained = (labels: Ids): boolean => labels.some((label) => label !== IGNORE_INDEX);
