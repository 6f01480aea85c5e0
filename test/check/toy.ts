// A property and trainers small enough to see through, for tests of the engine itself.
import fc from 'fast-check';
import type { Args } from '../../src/index.ts';
import { objectTrainer, type Property, type Trainer } from '../../src/index.ts';

/** Extracted completions are the sampled ids, on one row. */
export interface ToyCase {
  readonly ids: readonly number[];
}

export const echoes: Property<ToyCase> = {
  id: 'extract/echoes',
  title: 'The completion is what was sampled',
  stage: 'extract',
  level: 'must',
  why: 'A test.',
  catches: [],
  ops: ['extract'],
  given: () => fc.record({ ids: fc.array(fc.nat(99), { minLength: 0, maxLength: 8, size: 'max' }) }),
  labels: ({ ids }) => (ids.length === 0 ? ['empty'] : ids.length > 3 ? ['long'] : []),
  coverage: { long: 0.2 },
  async check(subject, { ids }) {
    const answer = await subject.ask('extract', extractArgs(ids));
    const observed = answer.completion_ids[0] ?? [];
    if (observed.length !== ids.length)
      return { kind: 'length', sentence: `${ids.length} ids, ${observed.length} came back.` };
    const at = ids.findIndex((id, index) => observed[index] !== id);
    return at < 0 ? undefined : { kind: 'id', sentence: `Id ${ids[at]} came back as ${observed[at]}.` };
  },
};

export function extractArgs(ids: readonly number[]): Args<'extract'> {
  return {
    padding_side: 'left',
    prompt_ids: [[1]],
    input_ids: [[1]],
    attention_mask: [[1]],
    sequences: [[1, ...ids]],
    sampled_ids: [ids],
    pad_token_id: 0,
    eos_token_ids: [2],
  };
}

export function extracting(extract: (ids: readonly number[]) => readonly number[]): Trainer {
  return objectTrainer({
    hello: { protocol: 1, name: 'toy', ops: { extract: {} } },
    ops: { extract: ({ sampled_ids: [ids = []] }: Args<'extract'>) => ({ completion_ids: [extract(ids)] }) },
  });
}
