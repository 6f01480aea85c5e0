// Are scored log-probabilities those of logits / temperature, or of the logits as they are.
import fc from 'fast-check';
import { logprobsOf } from '../../../reference/index.ts';
import type { Cube } from '../../../vocabulary.ts';
import { bandOf } from '../../numbers.ts';
import { draw, misfitOf, type Probe } from '../probe.ts';

interface Scored {
  readonly temperature: number;
  readonly ids: readonly (readonly number[])[];
  readonly logits: Cube;
}

export const temperatureInScoring: Probe<Scored> = {
  id: 'temperature',
  items: ['temperature_in_scoring'],
  ops: ['logprobs'],
  lack: (world) =>
    world.hello.ops.logprobs?.temperature === true ? undefined : 'op `logprobs` does not offer temperature',
  variants: async () => [
    { name: 'log_softmax of logits / temperature', items: { temperature_in_scoring: true } },
    { name: 'log_softmax of the logits as they are', items: { temperature_in_scoring: false } },
  ],
  cases: (_, drawn) => draw(scored(), drawn + 1),
  async fits(subject, { temperature, ids, logits }, variants) {
    const { logprobs } = await subject.ask('logprobs', {
      input_ids: ids,
      attention_mask: ids.map((row) => row.map(() => 1)),
      logits,
      prompt_width: PROMPT,
      temperature,
    });
    const band = bandOf(subject, VOCABULARY);
    return variants.map(({ items }) => {
      const expected = logprobsOf(logits, ids, items.temperature_in_scoring ? temperature : 1);
      return misfitOf(
        ids.flatMap((row, b) =>
          row.flatMap((_, t) =>
            t < PROMPT
              ? []
              : [
                  {
                    where: `the log-probability of token ${t} of row ${b} at temperature ${temperature}`,
                    expected: expected[b]?.[t],
                    observed: logprobs[b]?.[t],
                  },
                ],
          ),
        ),
        band.allowed,
      );
    });
  },
};

const VOCABULARY = 5;
const PROMPT = 2;
const WIDTH = 5;

/** Two rows without padding: what padding does is another property's business. */
function scored(): fc.Arbitrary<Scored> {
  const rows = <T>(cell: fc.Arbitrary<T>): fc.Arbitrary<T[][]> =>
    fc.array(fc.array(cell, { minLength: WIDTH, maxLength: WIDTH }), { minLength: 2, maxLength: 2 });
  const logit = fc.integer({ min: -32, max: 32 }).map((n) => n / 8 + 0);
  return fc.record({
    temperature: fc.constantFrom(0.5, 2, 0.25),
    ids: rows(fc.nat(VOCABULARY - 1)),
    logits: rows(fc.array(logit, { minLength: VOCABULARY, maxLength: VOCABULARY })),
  });
}
