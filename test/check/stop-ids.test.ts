// Stop ids of a trainer that are the unknown token of its tokenizer, and those that only look so.
import { describe, expect, test } from 'vitest';
import { stopIdProperties } from '../../properties/text/stop-ids.ts';
import { objectTrainer, type Property, run, type Tokenizer } from '../../src/index.ts';
import { familyFolders, loaded } from '../tokenizers/folders.ts';

const gemma = loaded(familyFolders.gemma ?? '');
const unknown = gemma.unkTokenId ?? -1;
const stop = gemma.tokenId('<end_of_turn>') ?? -1;

async function verdictOf(eos_token_ids: readonly number[], tokenizer: Tokenizer = gemma): Promise<string> {
  const tokens = { vocab_size: gemma.vocabSize, pad_token_id: gemma.padTokenId ?? 0, eos_token_ids };
  const [result] = await run(
    {
      trainer: objectTrainer({
        hello: { protocol: 1, name: 'stops', ops: { tokenize: {} }, tokens },
        ops: { tokenize: () => ({ input_ids: [2, 7, stop] }) },
      }),
      tokenizer,
      properties: stopIdProperties as unknown as readonly Property[],
      seed: 7,
      cases: 3,
      command: 'test',
    },
    () => undefined,
  );
  return result?.verdict ?? 'none';
}

describe('a stop id that is the unknown token', () => {
  test.each<[string, readonly number[]]>([
    ['alone', [unknown]],
    ['in front of the right one', [unknown, stop]],
    ['behind the right one', [stop, unknown]],
    ['beside the eos of the tokenizer', [gemma.eosTokenId ?? -1, unknown]],
  ])('%s, fails', async (_, stops) => {
    expect(await verdictOf(stops)).toBe('fail');
  });

  test('other ids hold', async () => {
    expect(await verdictOf([stop])).toBe('pass');
    expect(await verdictOf([gemma.eosTokenId ?? -1, stop])).toBe('pass');
  });

  test('a tokenizer that ends its texts with the unknown token, or has none, is not asked', async () => {
    expect(await verdictOf([unknown], { ...gemma, eosTokenId: unknown })).toBe('unsupported');
    const { unkTokenId: _, ...bare } = gemma;
    expect(await verdictOf([unknown], bare)).toBe('unsupported');
  });
});
