// Answers that are wrong for sure: a sample's right completion with something else in the place of its reference, and
// nothing else of it changed. That this alone makes an answer wrong, the sample says itself: its wrong answer is such a one.
import fc from 'fast-check';
import type { Graded, GradedRow, Sample } from './graded.ts';

const MAX_ROWS = 3;
/** Of no question. */
const NO_ANSWER = 'so on and so on';

/** What could be one number or word with what stands before it, or behind it. */
const GOES_ON_BEFORE = /[\p{L}\p{N}_+-]$|\d[.,]$/u;
const GOES_ON_BEHIND = /^[\p{L}\p{N}_]|^[.,]\d/u;

const INTEGER = /^(-?)(0|[1-9]\d*)$/;
const WORDS = /^\p{L}[\p{L} ]*$/u;

/** The right completion around its reference; undefined where the wrong one differs in more, or in something else. */
function around({ reference, right, wrong }: Sample): readonly string[] | undefined {
  if (reference === '') return undefined;
  const parts = right.split(reference);
  const places = parts.length - 1;
  const whole =
    parts.slice(0, -1).every((part) => !GOES_ON_BEFORE.test(part)) &&
    parts.slice(1).every((part) => !GOES_ON_BEHIND.test(part));
  if (places === 0 || !whole) return undefined;
  const begin = parts[0]?.length ?? 0;
  const other = wrong.slice(begin, begin + (wrong.length - parts.join('').length) / places);
  // A wrong answer of another kind may be wrong for its form: then any of the right form is right.
  const likewise = other.trim() !== '' && INTEGER.test(other) === INTEGER.test(reference);
  return likewise && other !== reference && parts.join(other) === wrong ? parts : undefined;
}

/** What is surely not `reference`: nothing, another number that holds its digits or some of them, or the reference of another sample. */
function others(reference: string, references: readonly string[]): string[] {
  const number = INTEGER.exec(reference);
  if (number !== null) {
    const [, sign = '', digits = ''] = number;
    const negated = digits === '0' ? [] : [sign === '' ? `-${digits}` : `${digits}`];
    const integers = references.filter((other) => INTEGER.test(other) && Number(other) !== Number(reference));
    const some = digits.length > 1 ? [`${sign}${digits.slice(0, -1)}`] : [];
    return ['', `${reference}1`, `${sign}1${digits}`, `${reference}.5`, ...some, ...negated, ...integers];
  }
  if (!WORDS.test(reference)) return [];
  const own = reference.toLowerCase();
  return references.filter((other) => {
    const word = other.toLowerCase();
    return WORDS.test(other) && !word.includes(own) && !own.includes(word);
  });
}

/** The samples whose right and wrong answers differ in what stands in the place of the reference, and nowhere else. */
export const withOneAnswer = (samples: readonly Sample[]): readonly Sample[] =>
  samples.filter((sample) => around(sample) !== undefined);

/** Rows with another number, or the answer to another question, in the place of the right one, or with it in the prompt alone. */
export const otherAnswers = (samples: readonly Sample[]): readonly GradedRow[] =>
  withOneAnswer(samples).flatMap((sample) => {
    const { prompt, reference } = sample;
    const references = samples.map((each) => each.reference);
    const row = { kind: 'another', prompt, reference } as const;
    const otherwise = others(reference, references).map((answer) => ({
      ...row,
      completion: around(sample)?.join(answer) ?? '',
    }));
    // An answer that the prompt shows is nobody's answer.
    const shown = { ...row, prompt: `${prompt}\n${sample.right}`, completion: NO_ANSWER };
    return otherwise.length === 0 ? [] : [...otherwise, shown];
  });

/** Batches of such rows, where there is one. */
export const otherwiseAnswered = (samples: readonly Sample[]): fc.Arbitrary<Graded> =>
  fc
    .array(fc.constantFrom(...otherAnswers(samples)), { minLength: 1, maxLength: MAX_ROWS })
    .map((rows) => ({ rows }));
