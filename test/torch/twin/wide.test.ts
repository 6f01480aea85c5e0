// Changes of what a script may have or not: packed rows, adapters, compiled code, half precision. What is right agrees, and each
// fault parts the runs at the place that has it.
import { describe, expect, test } from 'vitest';
import { expectAgreement } from './agreement.ts';
import { OF_WHAT_SCRIPTS_HAVE } from './faults.ts';
import { HF, LORA, OF_BATCHES, OWN_LOOP, SFT, twin } from './runs.ts';

describe('agrees', () => {
  test.each<readonly [what: string, options: readonly string[], command: string, agree: readonly string[]]>([
    ['packed rows', [], `${OWN_LOOP} --packed`, [...OF_BATCHES, 'packing']],
    ["transformers' collator that packs", ['--change', 'packing'], `${HF} --flatten`, ['packing']],
    ["TRL's packing", ['--change', 'packing'], `${SFT} --packing`, ['packing']],
    ['a compiled loop', [], `${OWN_LOOP} --compile eager --dropout 0.1`, [...OF_BATCHES, 'compile']],
    ['a compiled model of transformers', ['--change', 'compile'], `${HF} --compile eager`, ['compile']],
    ['LoRA', ['--change', 'merged'], LORA, ['merged']],
    [
      'LoRA on transposed weights, with dropout',
      ['--change', 'merged'],
      `${LORA} --model absolute --dropout 0.1`,
      ['merged'],
    ],
    ['attention in bfloat16, which rounds more', ['--change', 'attention'], `${SFT} --bf16`, ['attention']],
  ])('%s', (_, options, command, agree) => expectAgreement(options, command, agree));
});

describe('parts', () => {
  test.each(OF_WHAT_SCRIPTS_HAVE.map((fault) => [fault.name, fault] as const))(
    '%s',
    async (_, { options = [], command, change, where }) => {
      const told = await twin(options, command);
      expect(told.get(change)).toMatchObject({ outcome: 'parts', ...where });
    },
  );
});

describe('precision', () => {
  test.each([
    ['bfloat16 in place of float32', `${OWN_LOOP} --dropout 0.1`, ['float32', 'bfloat16']],
    ['float32 in place of bfloat16', `${SFT} --bf16`, ['bfloat16', 'float32']],
  ])('%s is a size', async (_, command, precisions) => {
    const told = (await twin(['--change', 'precision'], command)).get('precision');
    expect(told).toMatchObject({ outcome: 'sized', step: 0, precisions });
    expect(told?.gradients).toBeGreaterThan(1e-4);
    expect(told?.gradients).toBeLessThan(0.2);
    expect(told?.signs).toBeGreaterThan(0);
    expect(told?.signs).toBeLessThan(0.1);
  });

  test.each([
    ['float32', `${OWN_LOOP} --fault rounds-to-one`, 'only in the run with the change'],
    ['bfloat16', `${OWN_LOOP} --autocast --fault rounds-to-one`, 'only in the run without the change'],
  ])('what is infinite in bfloat16 alone, in a script of %s', async (_, command, where) => {
    const told = (await twin(['--change', 'precision'], command)).get('precision');
    expect(told).toMatchObject({ outcome: 'parts', differs: 'finite', step: 0 });
    expect(told?.sentences?.[0]).toContain(where);
  });
});
