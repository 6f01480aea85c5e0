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

/** Nothing else of it matters: what it must exercise is not at stake here. */
function sized(property: Property, given: fc.Arbitrary<unknown>): Property {
  const { labels: _, coverage: __, mostCases: ___, ...rest } = property;
  return { ...rest, given: () => given } as unknown as Property;
}

const STOP = 2;
const ids = (count: number, first: number): number[] =>
  Array.from({ length: count }, (_, at) => 10 + ((first + at * 13) % 200));
