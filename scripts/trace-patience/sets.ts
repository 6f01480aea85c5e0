// The twenty data sets: hand-written families, rows of exactly as many tokens as a model has positions, and three that
// `lossproof dataset` draws. A seed shuffles what is written, and draws what is drawn.
import fc from 'fast-check';
import { datasetOf } from '../../src/generators/rows/dataset/dataset.ts';
import type { Tokenizer } from '../../src/tokenizers/tokenizer.ts';
import { FAMILIES } from './families.ts';
import { filled, lengthOf, type Reads, type Row, written } from './rows.ts';

/** Positions of the scripts' models, the most first: where a script fails on longer rows, it is asked with fewer. */
export const LENGTHS = [256, 128, 64] as const;

export interface Ask {
  readonly reads: Reads;
  readonly tokenizer: Tokenizer;
  readonly seed: number;
  /** Longer rows are left out. */
  readonly most: number;
}

const DRAWN = [
  { name: 'drawn, a row of each kind', rows: 28, seed: 0, empty: true },
  { name: 'drawn, a row of each kind, another seed', rows: 28, seed: 1000, empty: true },
  { name: 'drawn, no empty answers', rows: 24, seed: 2000, empty: false },
];
const EXACTLY = 'rows of exactly the context length';

export const SETS: readonly string[] = [...Object.keys(FAMILIES), EXACTLY, ...DRAWN.map(({ name }) => name)];

export function rowsOf(set: string, ask: Ask): readonly Row[] {
  return allOf(set, ask).filter((row) => {
    const length = lengthOf(row, ask.tokenizer);
    return length !== undefined && length <= ask.most;
  });
}

// --- helpers ---

/** A stop token, or what is sampled, comes behind a row. */
const ROOM = 16;

function allOf(set: string, { reads, tokenizer, seed, most }: Ask): readonly Row[] {
  if (set === EXACTLY) {
    const lengths = LENGTHS.filter((length) => length <= most);
    return lengths.flatMap((length) => filled(length, reads, tokenizer));
  }
  const family = FAMILIES[set];
  if (family !== undefined)
    return shuffled(
      family.map((sketch) => written(sketch, reads)),
      seed,
    );
  const drawn = DRAWN.find(({ name }) => name === set);
  if (drawn === undefined) throw new Error(`no data set is called ${set}`);
  const { form } = reads;
  const { rows } = datasetOf({
    ...drawn,
    seed: drawn.seed + seed,
    form: form === 'text' ? 'prompt' : form,
    mostTokens: most - ROOM,
    tokenizer,
    system: reads.system,
    tools: reads.tools,
  });
  if (form === 'text') return rows.map((row) => ({ text: 'prompt' in row ? row.prompt : '' }));
  if (reads.turns || form !== 'chat') return rows;
  return rows.filter(
    (row) => 'messages' in row && row.messages.filter(({ role }) => role === 'user').length === 1,
  );
}

/** The first steps of a script see other rows with each seed; at seed 1 they stand as they are written. */
function shuffled(rows: readonly Row[], seed: number): readonly Row[] {
  if (seed === 1) return rows;
  const whole = fc.shuffledSubarray([...rows], { minLength: rows.length, maxLength: rows.length });
  return fc.sample(whole, { seed, numRuns: 1 })[0] ?? rows;
}
