// Cases of a given size for real properties: the same check and the same trainer, and only the size differs.
import { fc, type LogitBatch, type Property } from '../../../src/index.ts';

export interface Sized {
  readonly property: Property;
  readonly cases: number;
}

/** Two rows of so many tokens, half of them prompt. */
export function tokensARow(property: Property, tokens: number): Sized {
  const half = tokens / 2;
  const given = fc.integer({ min: 3, max: 1_000 }).map((first) => ({
    prompts: [0, 1].map((row) => ids(half, first + row)),
    completions: [0, 1].map((row) => [...ids(half - 1, first + row), STOP]),
    pad: STOP,
    stops: [STOP],
  }));
  return { property: sized(property, given), cases: 200 };
}

/** One row of four tokens over so many. */
export function vocabulary(property: Property, entries: number): Sized {
  const given = fc.integer({ min: 1, max: 1_000 }).map(
    (first): LogitBatch => ({
      vocabulary: entries,
      temperature: 1,
      rows: [
        {
          prompt: 1,
          tokens: [0, 1, 2, 3].map((at) => ({
            id: (first * 31 + at) % entries,
            logits: Array.from({ length: entries }, (_, id) => ((first + at + id * 7) % 97) / 8),
          })),
          part: 0,
        },
      ],
    }),
  );
  return { property: sized(property, given), cases: 20 };
}

/**
 * One row of 8 tokens over 128 ids, of policy and reference: two arrays, each drawn as Hypothesis's `arrays` draws one. Some
 * entries are drawn, with where they are, and all others are one that is drawn, too. They are laid out when their case is
 * checked, as of every case that is large: thousands of cases are drawn ahead.
 */
export function klOfTwoArrays(property: Property): Sized {
  const value = fc.integer({ min: -192, max: 192 }).map((n) => n / 32);
  const entry = fc.tuple(fc.nat(TOKENS * IDS - 1), value);
  const entries = fc.array(entry, { maxLength: 2 * Math.sqrt(TOKENS * IDS), size: 'max' });
  const array = fc.record({ fill: value, entries });
  const given = fc.record({ policy: array, reference: array });
  return {
    property: {
      ...sized(property, given),
      check: (subject, drawn) => property.check(subject, batchOf(drawn as Drawn)),
    },
    cases: 4_000,
  };
}

interface DrawnArray {
  readonly fill: number;
  readonly entries: readonly (readonly [at: number, value: number])[];
}

interface Drawn {
  readonly policy: DrawnArray;
  readonly reference: DrawnArray;
}

function laidOut({ fill, entries }: DrawnArray): number[][] {
  const rows = Array.from({ length: TOKENS }, () => new Array<number>(IDS).fill(fill));
  for (const [at, value] of entries) (rows[Math.floor(at / IDS)] as number[])[at % IDS] = value;
  return rows;
}

function batchOf({ policy, reference }: Drawn): LogitBatch {
  const references = laidOut(reference);
  const tokens = laidOut(policy).map((logits, id) => ({ id, logits, reference: references[id] as number[] }));
  return { vocabulary: IDS, temperature: 1, rows: [{ prompt: 1, tokens, part: 0 }] };
}

/** Nothing else of it matters: what it must exercise is not at stake here. */
function sized(property: Property, given: fc.Arbitrary<unknown>): Property {
  const { labels: _, coverage: __, mostCases: ___, ...rest } = property;
  return { ...rest, given: () => given } as unknown as Property;
}

const STOP = 2;
const TOKENS = 8;
const IDS = 128;
const ids = (count: number, first: number): number[] =>
  Array.from({ length: count }, (_, at) => 10 + ((first + at * 13) % 200));
