// Batches for reward functions: answers whose order is known, text that answers nothing, and anything else. Which
// ids a text has is not said here: that is for whoever knows the tokenizer.
import fc from 'fast-check';
import { plainContent } from '../text/text.ts';

/** A prompt of the trainer with a right and a wrong answer, both well-formed. */
export interface Sample {
  readonly prompt: string;
  readonly reference: string;
  readonly right: string;
  readonly wrong: string;
}

export interface GradedRow {
  readonly kind: 'right' | 'wrong' | 'another' | 'degenerate' | 'any';
  readonly prompt: string;
  readonly reference: string;
  readonly completion: string;
}
export interface Graded {
  readonly rows: readonly GradedRow[];
}

const MAX_ROWS = 4;

const KINDS = ['any', 'right', 'wrong', 'degenerate'] as const;

/** Rows of several samples, half of the time with one completion twice; of the kinds that are asked for. */
export function graded(
  samples: readonly Sample[],
  kinds: readonly (typeof KINDS)[number][] = KINDS,
): fc.Arbitrary<Graded> {
  const row = fc
    .record({
      sample: fc.constantFrom(...samples),
      kind: fc.constantFrom(...kinds),
      text: fc.oneof({ weight: 3, arbitrary: plainContent() }, { weight: 1, arbitrary: fc.constant('') }),
      broken: degenerate(samples),
    })
    .map(({ sample, kind, text, broken }): GradedRow => {
      const completion = { any: text, degenerate: broken, right: sample.right, wrong: sample.wrong }[kind];
      return { kind, prompt: sample.prompt, reference: sample.reference, completion };
    });
  return fc
    .record({
      rows: fc.array(row, { minLength: 1, maxLength: MAX_ROWS - 1 }),
      again: fc.boolean(),
      // Whatever limit a reward has, some batches have rows on either side of it.
      long: kinds.includes('any') ? fc.constantFrom(0, 0, 0, ...LONG) : fc.constant(0),
      other: kinds.includes('any') ? fc.option(fc.constantFrom(...samples), { freq: 2 }) : fc.constant(null),
    })
    .map(({ rows: drawn, again, long, other }) => {
      const [first] = drawn;
      // One answer to two questions; the other one first, so that what is remembered of it is wrong.
      const rows: readonly GradedRow[] =
        first === undefined || other === null
          ? drawn
          : [{ ...first, kind: 'any', prompt: other.prompt, reference: other.reference }, ...drawn];
      const more = again ? [...rows, ...rows.slice(0, 1)] : rows;
      return first === undefined || long === 0
        ? { rows: more }
        : { rows: [...more, { ...first, kind: 'any', completion: WORD.repeat(long) }] };
    });
}

/** Words of a completion that goes on: 32 and 512 tokens are limits of tests and of runs, and 2048 of longer ones. */
const LONG = [40, 600, 2100];
const WORD = 'so on ';

/** What graded answers exercise. */
export function gradedLabels({ rows }: Graded): string[] {
  const completions = rows.map(({ completion }) => completion);
  const labels = new Set<string>(rows.map(({ kind }) => (kind === 'any' ? 'any text' : `${kind} answer`)));
  if (rows.length > 1) labels.add('several rows');
  if (new Set(completions).size < completions.length) labels.add('same completion twice');
  if (new Set(completions.map((text) => text.length)).size > 1) labels.add('unequal lengths');
  if (completions.includes('')) labels.add('empty completion');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: whatever needs more than one byte
  if (completions.some((text) => /[^\u0000-\u007f]/u.test(text))) labels.add('multi-byte text');
  return [...labels];
}

/** What is repeated when a policy has collapsed. */
const UNITS = ['!', '?', ' ', '\n', '.', 'the ', '🙂', '<answer>', '<think>', '\u00e9', '*'];
/** One, a few, and as many as fill a completion. */
const TIMES = [1, 3, 256];

/** Nothing, or one thing again and again. What stands in a reference may be its answer, and is left out. */
export function degenerate(
  samples: readonly { readonly reference: string }[] = [],
  tags: readonly string[] = [],
): fc.Arbitrary<string> {
  const units = [...UNITS, ...tags].filter(
    (unit) => !samples.some(({ reference }) => unit.trim() !== '' && reference.includes(unit.trim())),
  );
  return fc.oneof(fc.constant(''), {
    weight: 1,
    arbitrary: fc
      .record({ unit: fc.constantFrom(...units), times: fc.constantFrom(...TIMES) })
      .map(({ unit, times }) => unit.repeat(times)),
  });
}
