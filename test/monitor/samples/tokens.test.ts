// What the tokenizer of a run tells rules about samples: read off its template, whatever family it is of.
import { describe, expect, test } from 'vitest';
import { sampleTokensOf, stopIdsOfConfig } from '../../../src/monitor/samples/tokens.ts';
import { family } from './watching.ts';

describe('headers are what the template writes before contents', () => {
  test.each([
    [
      'llama3',
      ['user', 'assistant', 'system', 'ipython'].map(
        (role) => `<|start_header_id|>${role}<|end_header_id|>\n\n`,
      ),
    ],
    [
      'qwen',
      [
        '<|im_start|>user\n',
        '<|im_start|>assistant\n',
        '<|im_start|>system\n',
        '<|im_start|>user\n<tool_response>\n',
      ],
    ],
    ['gemma', ['<start_of_turn>user\n', '<start_of_turn>model\n']],
    ['mistral', ['[INST]', '[/INST]']],
    ['deepseek', ['<｜User｜>', '<｜Assistant｜>']],
    ['phi', ['<|user|>\n', '<|assistant|>\n', '<|system|>\n']],
  ])('%s', (name, headers) => {
    expect(family(name).tokens.headers).toEqual(headers);
  });
});

describe('stop tokens', () => {
  test.each([
    ['llama3', ['<|eot_id|>']],
    ['gemma', ['<eos>', '<end_of_turn>']],
    ['phi', ['<|endoftext|>', '<|end|>']],
  ])('%s: eos, and what ends a turn of the template', (name, stops) => {
    const tokens = sampleTokensOf(family(name).tokenizer);
    expect(tokens.stopIds.map(tokens.textOf)).toEqual(stops);
  });

  test('those of the generation configuration come too, once each', () => {
    const { tokenizer } = family('llama3');
    const listed = ['<|end_of_text|>', '<|eot_id|>'].map((token) => tokenizer.tokenId(token) ?? -1);
    const stopIds = stopIdsOfConfig({ eos_token_id: listed });
    expect(sampleTokensOf(tokenizer, { stopIds }).stopIds.toSorted()).toEqual(listed.toSorted());
  });

  test.each([
    [{ eos_token_id: 2 }, [2]],
    [{ eos_token_id: [2, 'x', 7] }, [2, 7]],
    [{}, []],
    [null, []],
  ])('of %j', (config, ids) => {
    expect(stopIdsOfConfig(config)).toEqual(ids);
  });
});

test('a tokenizer without a template has no headers, and a template of its own may be given', () => {
  const { tokenizer } = family('qwen');
  expect(sampleTokensOf({ ...tokenizer, chatTemplate: undefined }).headers).toEqual([]);
  const template =
    "{% for m in messages %}{{ '<|im_start|>' + m.role + ': ' + m.content + '<|im_end|>' }}{% endfor %}";
  expect(sampleTokensOf(tokenizer, { template }).headers).toEqual(
    ['user', 'assistant', 'system', 'tool'].map((role) => `<|im_start|>${role}: `),
  );
});
