// Decoding steps for penalties: rows that have generated equally many tokens, with the logits of the next one.
import fc from 'fast-check';
import type { Ids } from '../../vocabulary.ts';
import { rarely, timesOver } from '../rarely.ts';

export interface Penalised {
  readonly rows: readonly {
    readonly prompt: Ids;
    readonly generated: Ids;
    readonly logits: readonly number[];
  }[];
  readonly pad: number;
  readonly presence: number;
  readonly frequency: number;
  readonly repetition: number;
}

/** Few ids, so that prompt, generated tokens and padding share them. */
const VOCABULARY = 5;
const MAX_ROWS = 3;
const MAX_PROMPT = 5;
/** So many that a repeated token is generated more than twice in most cases. */
const MAX_GENERATED = 6;
/** Half of the rows generate these only. */
const FEW = 2;
/** One batch in so many has generated them so many times over: more than a window of the last few. */
const LONG_ONE_IN = 4;
const TIMES = 20;
const GRAIN = 8;

/** Only `kinds` are ever non-neutral. */
export function penalised(
  kinds: readonly ('presence' | 'frequency' | 'repetition')[],
): fc.Arbitrary<Penalised> {
  const id = fc.nat(VOCABULARY - 1);
  const logit = fc.integer({ min: -4 * GRAIN, max: 4 * GRAIN }).map((n) => n / GRAIN + 0);
  const generated = (each: fc.Arbitrary<number>): fc.Arbitrary<number[]> =>
    fc.array(each, { minLength: MAX_GENERATED, maxLength: MAX_GENERATED });
  const row = fc.record({
    prompt: fc.array(id, { minLength: 1, maxLength: MAX_PROMPT, size: 'max' }),
    generated: fc.oneof(generated(id), generated(fc.nat(FEW - 1))),
    logits: fc.array(logit, { minLength: VOCABULARY, maxLength: VOCABULARY }),
  });
  const setting = (
    kind: (typeof kinds)[number],
    neutral: number,
    values: readonly number[],
  ): fc.Arbitrary<number> => (kinds.includes(kind) ? fc.constantFrom(...values) : fc.constant(neutral));
  return fc
    .record({
      rows: fc.array(row, { minLength: 1, maxLength: MAX_ROWS, size: 'max' }),
      steps: fc.nat(MAX_GENERATED),
      pad: id,
      presence: setting('presence', 0, [0.5, 0.25, 1.5, -0.5]),
      frequency: setting('frequency', 0, [0.25, 0.5, 1, -0.25]),
      repetition: setting('repetition', 1, [1.25, 1.5, 0.75]),
      long: rarely(LONG_ONE_IN),
    })
    .map(({ steps, rows, long, ...settings }) => ({
      ...settings,
      rows: rows.map((each) => {
        const generated = each.generated.slice(0, steps);
        return {
          ...each,
          generated: long ? timesOver(generated, TIMES) : generated,
        };
      }),
    }));
}

/** What a case of the penalties exercises. */
export function penalisedLabels({ rows, pad }: Penalised): string[] {
  const labels: string[] = [];
  const repeats = (ids: Ids): boolean => new Set(ids).size < ids.length;
  if (rows.some(({ prompt }) => repeats(prompt))) labels.push('repeated prompt token');
  if (rows.some(({ generated }) => repeats(generated))) labels.push('repeated generated token');
  if (rows.some(({ generated }) => generated.length === 0)) labels.push('first step');
  if (rows.some(({ prompt }) => prompt.includes(pad))) labels.push('pad id in a prompt');
  if (new Set(rows.map(({ prompt }) => prompt.length)).size > 1) labels.push('unequal prompts');
  return labels;
}
