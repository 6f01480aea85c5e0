// A row that lost nothing but its stop token is still judged for what it trains, and the likely cause has a name.
import { describe, expect, test } from 'vitest';
import { maskProperties } from '../../properties/rollouts/mask/mask.ts';
import { rolloutProperties } from '../../properties/rollouts/rollout.ts';
import {
  type Args,
  type Ids,
  objectTrainer,
  type Property,
  type PropertyResult,
  padRows,
  run,
  type Trainer,
} from '../../src/index.ts';

import { listMutants, withMutant } from '../mutants/list.ts';

type Row = { readonly ids: Ids; readonly mask: Ids };

/** Rows of its own, flush left: the prompt, and the completion without its stop token. */
function dropping(row: (prompt: Ids, kept: Ids, sampled: Ids) => Row): Trainer {
  return objectTrainer({
    hello: { protocol: 1, name: 'drops', ops: { mask: {} } },
    ops: {
      mask({ prompt_ids, completion_ids, pad_token_id: pad, eos_token_ids: stops }: Args<'mask'>) {
        const rows = prompt_ids.map((prompt, at) => {
          const sampled = completion_ids[at] ?? [];
          return row(prompt, stops.includes(sampled.at(-1) ?? -1) ? sampled.slice(0, -1) : sampled, sampled);
        });
        const padded = padRows(
          rows.map(({ ids }) => ids),
          { side: 'right', pad },
        );
        return {
          input_ids: padded.ids,
          attention_mask: padded.attention_mask,
          completion_mask: padRows(
            rows.map(({ mask }) => mask),
            { side: 'right', pad: 0 },
          ).ids,
        };
      },
    },
  });
}

const ones = (count: number): number[] => Array.from({ length: count }, () => 1);
const zeros = (count: number): number[] => ones(count).map(() => 0);

/** The mask is right for what is left of the row. */
const rightMask = dropping((prompt, kept) => ({
  ids: [...prompt, ...kept],
  mask: [...zeros(prompt.length), ...ones(kept.length)],
}));
/** As many tokens off the end as were sampled: the last one of the prompt is trained. */
const shifted = dropping((prompt, kept, sampled) => {
  const ids = [...prompt, ...kept];
  return { ids, mask: ids.map((_, column) => Number(column >= ids.length - sampled.length)) };
});

async function judged(trainer: Trainer): Promise<ReadonlyMap<string, PropertyResult>> {
  const results = await run(
    {
      trainer,
      tokenizer: undefined,
      properties: maskProperties as unknown as readonly Property[],
      seed: 7,
      cases: 60,
      command: 'test',
    },
    () => undefined,
  );
  return new Map(results.map((result) => [result.id, result]));
}

describe('rows without their stop token', () => {
  test('fail for that, with the column that is missing and the likely cause', async () => {
    const results = await judged(rightMask);
    expect(results.get('mask/row-holds-prompt-and-completion')).toMatchObject({
      verdict: 'fail',
      failure: { finding: { kind: 'stop lost', advice: expect.stringContaining('skip_special_tokens') } },
    });
    const strip = results.get('mask/row-holds-prompt-and-completion')?.failure?.finding?.strips?.[0];
    expect(strip?.tokens.map(({ role }) => role)).toEqual(['prompt', 'stop']);
    expect(strip?.marks).toEqual([1]);
    expect(results.get('mask/stop-token-is-trained-once')).toMatchObject({
      verdict: 'fail',
      failure: { finding: { kind: 'stop lost' } },
    });
  });

  test('are judged for what they train all the same', async () => {
    const right = await judged(rightMask);
    for (const id of [
      'mask/prompt-is-never-trained',
      'mask/padding-is-never-trained',
      'mask/every-completion-token-is-trained',
    ])
      expect(right.get(id)).toMatchObject({ verdict: 'pass', setAside: 0 });
    const wrong = await judged(shifted);
    expect(wrong.get('mask/prompt-is-never-trained')).toMatchObject({
      verdict: 'fail',
      failure: { finding: { sentence: expect.stringContaining('belongs to the prompt') } },
    });
  });

  test('another loss is no lost stop', async () => {
    const first = await judged(
      dropping((prompt, _, sampled) => ({
        ids: [...prompt.slice(1), ...sampled],
        mask: [...zeros(prompt.length - 1), ...ones(sampled.length)],
      })),
    );
    expect(first.get('mask/row-holds-prompt-and-completion')?.failure?.finding?.kind).toBe('row');
  });
});

test('what went through text shows both: the stop that is lost, and behind it the ids that are others', async () => {
  const mutant = listMutants().find(({ id }) => id === 'MT-01-rollout-retokenises-without-stops');
  if (mutant === undefined) throw new Error('no such mutant');
  const property = rolloutProperties.find(({ id }) => id === 'rollout/scored-ids-are-sampled-ids');
  const [result] = await withMutant(mutant, (trainer, { tokenizer }) =>
    run(
      {
        trainer,
        tokenizer,
        properties: [property as unknown as Property],
        seed: 7,
        cases: 60,
        command: 'test',
      },
      () => undefined,
    ),
  );
  const kinds = [result?.failure, ...(result?.others ?? [])].map((each) => each?.finding?.kind);
  expect(kinds.toSorted()).toEqual(['stop lost', 'tokenised again']);
});
