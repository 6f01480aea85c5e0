// The data collator of supervised fine-tuning: rows of unequal length become a rectangle, and nothing else happens.
import fc from 'fast-check';
import {
  discard,
  type Finding,
  type Ids,
  IGNORE_INDEX,
  locateRow,
  type Ok,
  type Property,
  type Role,
  relations,
  type Subject,
  specials,
  stripOf,
  tokenAt,
  type World,
} from '../../src/index.ts';

export interface Examples {
  readonly rows: readonly { readonly ids: Ids; readonly labels: Ids }[];
  readonly pad: number;
}

const MAX_ROWS = 4;
const MAX_TOKENS = 7;
const ORDINARY = 20;
/**
 * Widths that rows are padded to or cut at: one batch in so many has a row of so many tokens, one fewer or one more. Mostly the
 * widest, since a row that is longer than one width is cut at all below.
 */
const WIDTHS = [8, 16, 32, 64, 128, 128, 128, 128];
/** And lengths that a byte, or positions in bfloat16, do not count. Whether rows of more are cut is asked by long-rows.ts. */
const LONG_WIDTHS = [8, 16, 32, 64, 128, 128, 260, 520];
const LONG_ONE_IN = 2;

const givenOf = (world: World, widths: readonly number[]): fc.Arbitrary<Examples> =>
  fc
    .tuple(
      specials(world.hello.tokens),
      fc.array(
        fc.array(fc.record({ symbol: fc.nat(ORDINARY + 2), trained: fc.boolean() }), {
          minLength: 1,
          maxLength: MAX_TOKENS,
          size: 'max',
        }),
        { minLength: 1, maxLength: MAX_ROWS, size: 'max' },
      ),
      fc.nat(LONG_ONE_IN - 1).map((n) => n === LONG_ONE_IN - 1),
      fc.record({ width: fc.constantFrom(...widths), by: fc.constantFrom(0, 1, -1) }),
    )
    .map(([{ pad, stops, plain }, rows, long, { width, by }]) => ({
      pad,
      rows: rows.map((short, at) => {
        const length = long && at === 0 ? width + by : short.length;
        const row = Array.from(
          { length },
          (_, t) => short[t % short.length] ?? { symbol: 0, trained: false },
        );
        const ids = row.map(
          ({ symbol }) =>
            (symbol < ORDINARY ? plain[symbol % plain.length] : stops[symbol % stops.length]) ?? 0,
        );
        return { ids, labels: ids.map((id, at) => (row[at]?.trained ? id : IGNORE_INDEX)) };
      }),
    }));

const given = (world: World): fc.Arbitrary<Examples> => givenOf(world, WIDTHS);
const longGiven = (world: World): fc.Arbitrary<Examples> => givenOf(world, LONG_WIDTHS);

const labels = ({ rows, pad }: Examples): string[] => {
  const found: string[] = [];
  if (new Set(rows.map(({ ids }) => ids.length)).size > 1) found.push('unequal rows');
  if (rows.some(({ ids }) => ids.length > MAX_TOKENS)) found.push('a long row');
  if (rows.some(({ ids }) => ids.includes(pad))) found.push('pad id inside a row');
  return found;
};

export const collateBase = {
  stage: 'collate',
  level: 'must',
  ops: ['collate'],
  given,
  labels,
  coverage: { 'unequal rows': 0.3, 'a long row': 0.05 },
} as const;

interface Collated {
  readonly row: number;
  readonly start: number;
  readonly answer: Ok<'collate'>;
  readonly ids: Ids;
  readonly roles: readonly Role[];
}

async function collate(subject: Subject, drawn: Examples): Promise<readonly (Collated | Finding)[]> {
  const answer = await subject.ask('collate', {
    input_ids: drawn.rows.map(({ ids }) => ids),
    labels: drawn.rows.map(({ labels: row }) => row),
    pad_token_id: drawn.pad,
  });
  return drawn.rows.map(({ ids: row }, at): Collated | Finding => {
    const ids = answer.input_ids[at] ?? [];
    const plan = locateRow(ids, answer.attention_mask[at], row, [], drawn.pad);
    if (plan === undefined) {
      return {
        kind: 'row',
        sentence: `Row ${at} of the collated batch [${ids.join(', ')}] is not the example [${row.join(', ')}] with padding around it.`,
      };
    }
    const start = plan.ambiguous ? placeOf(answer, at, drawn) : plan.promptStart;
    const roles = ids.map(
      (_, column): Role => (column >= start && column < start + row.length ? 'prompt' : 'padding'),
    );
    return { row: at, start, answer, ids, roles };
  });
}

/**
 * The first column of an example that pad ids could hide anywhere, where no attention mask says where it stands: where
 * its labels are, else as far left as it fits. Taken elsewhere, right labels would be called lost.
 */
function placeOf({ input_ids, labels: answered }: Ok<'collate'>, at: number, drawn: Examples): number {
  const { ids: example, labels: wanted } = drawn.rows[at] ?? { ids: [], labels: [] };
  const row = input_ids[at] ?? [];
  const last = row.length - example.length;
  // Each place is compared with the whole row, so a very long row is searched at its two ends only.
  const places = last < MOST_PLACES ? Array.from({ length: last + 1 }, (_, start) => start) : [0, last];
  const fits = places.filter((start) =>
    row.every((id, column) => id === (example[column - start] ?? drawn.pad)),
  );
  const labelled = fits.find((start) =>
    answered[at]?.every(
      (label, column) =>
        label === (wanted[column - start] ?? IGNORE_INDEX) || (label === IGNORE_INDEX && column === start),
    ),
  );
  return labelled ?? fits[0] ?? 0;
}

/** Collators pad by far less, unless they pad to the length of a context, and then on one side. */
const MOST_PLACES = 2 ** 14;

/** Of a token that is lost because of its id. */
const PAD_BY_ID =
  'Its id is that of padding: where pad is eos, every stop token is. Know padding by its place, from the lengths of the rows, and not by its id.';

/** A rule about one track of the collated batch. */
function track(
  id: string,
  title: string,
  why: string,
  catches: readonly string[],
  name: 'attention_mask' | 'labels',
  expected: (drawn: Examples, at: Collated, column: number, observed: number | undefined) => number,
  words: (token: string, at: Collated, expected: number, observed: number) => string,
): Property<Examples> {
  return {
    ...collateBase,
    given: longGiven,
    id,
    title,
    why,
    catches,
    async check(subject, drawn) {
      for (const at of await collate(subject, drawn)) {
        if ('kind' in at) continue; // said by collate/rows-survive
        const observed = at.answer[name][at.row] ?? [];
        const want = at.ids.map((_, column) => expected(drawn, at, column, observed[column]));
        const marks = want.flatMap((value, column) => (value === observed[column] ? [] : [column]));
        const [first] = marks;
        if (first === undefined) continue;
        const byId = isReal(at, first) && marks.every((column) => at.ids[column] === drawn.pad);
        return {
          kind: name,
          ...(byId ? { note: PAD_BY_ID } : {}),
          sentence: words(
            tokenAt(subject, at.ids, first),
            at,
            want[first] ?? 0,
            observed[first] ?? Number.NaN,
          ),
          strips: [stripOf(subject, { ...at, tracks: { expected: want, observed }, marks })],
        };
      }
      return undefined;
    },
  };
}

const isReal = (at: Collated, column: number): boolean => at.roles[column] === 'prompt';

const rowsSurvive: Property<Examples> = {
  ...collateBase,
  id: 'collate/rows-survive',
  title: 'Every example is in the batch, whole and in its row, with padding around it',
  why: 'An example that loses tokens or changes rows in the collator is trained with the labels of another.',
  catches: ['PAD-06', 'PAD-08', 'TRN-01'],
  async check(subject, drawn) {
    for (const at of await collate(subject, drawn)) if ('kind' in at) return at;
    return undefined;
  },
};

export const collateProperties: readonly Property<Examples>[] = [
  rowsSurvive,
  track(
    'collate/attention-covers-exactly-the-examples',
    'attention_mask is 1 on the tokens of an example and 0 on padding',
    'A mask inferred from ids hides real stop tokens where pad equals eos.',
    ['EOS-02', 'PAD-02'],
    'attention_mask',
    (_, at, column) => Number(isReal(at, column)),
    (token, at, expected) =>
      expected === 1
        ? `${token} is a real token of row ${at.row}, but attention_mask hides it.`
        : `${token} is padding in row ${at.row}, but attention_mask lets the model see it.`,
  ),
  track(
    'collate/labels-stay-with-their-tokens',
    'Labels keep their tokens, and padding is labelled -100',
    'A label lost where its id equals pad is most often the stop token: the model never learns to stop. A label on padding trains it.',
    ['EOS-01', 'MSK-06', 'PAD-09', 'TRN-05'],
    'labels',
    // Nothing predicts the first token: a mask that lives at the predictor has no place for it.
    (drawn, at, column, observed) =>
      isReal(at, column) && !(column === at.start && observed === IGNORE_INDEX)
        ? (drawn.rows[at.row]?.labels[column - at.start] ?? IGNORE_INDEX)
        : IGNORE_INDEX,
    (token, at, expected, observed) =>
      expected === IGNORE_INDEX
        ? `${token} of row ${at.row} is ${isReal(at, at.start) && expected === IGNORE_INDEX ? 'not to be trained' : 'padding'}, but its label is ${observed}.`
        : `${token} of row ${at.row} is to be trained as ${expected}, but its label is ${observed}.`,
  ),
  {
    ...collateBase,
    given: longGiven,
    id: 'collate/positions-count-real-tokens',
    title: 'position_ids, where answered, count the real tokens of each row from 0',
    why: 'Positions that count padding move every token of a left-padded row away from where the model learnt it.',
    catches: ['PAD-05'],
    async check(subject, drawn) {
      for (const at of await collate(subject, drawn)) {
        if ('kind' in at) continue;
        const observed = at.answer.position_ids?.[at.row];
        if (observed === undefined) return discard('the answer has no position_ids', 'trainer');
        const column = at.ids.findIndex(
          (_, index) => isReal(at, index) && observed[index] !== index - at.start,
        );
        if (column < 0) continue;
        const expected = at.ids.map((_, index) => (isReal(at, index) ? index - at.start : undefined));
        return {
          kind: 'positions',
          sentence: `${tokenAt(subject, at.ids, column)} is real token ${column - at.start} of row ${at.row}, but its position is ${observed[column]}.`,
          strips: [stripOf(subject, { ...at, tracks: { expected, observed }, marks: [column] })],
        };
      }
      return undefined;
    },
  },
  ...relations<'collate', Examples>({
    op: 'collate',
    stage: 'collate',
    noun: 'The collated batch',
    given,
    args: ({ rows, pad }) => ({
      input_ids: rows.map(({ ids }) => ids),
      labels: rows.map(({ labels: row }) => row),
      pad_token_id: pad,
    }),
    labels,
    allBut: [],
    relations: {
      'renamed-ids': { catches: ['TOK-04', 'EOS-01', 'EOS-13'] },
      inputs: { catches: ['MSK-06'] },
    },
  }),
];
