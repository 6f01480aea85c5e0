// The log-probabilities that the tracer takes from answers of engines and servers, in their own shapes. No engine runs.
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/version.ts';

const CHECK = `
import json
from types import SimpleNamespace as Some
from lossproof_trace.sampling import _answered, _engines, _served, _streams

def of(pieces):
    return [piece.answer().logprobs for piece in pieces[0]]

def vllm(ids, logprobs):
    return Some(prompt_token_ids=[1], outputs=[Some(index=0, token_ids=ids, logprobs=logprobs)])

by_id = [{5: Some(logprob=-0.5), 9: Some(logprob=-1.5)}, {6: Some(logprob=-0.25)}]
sglang = {"output_ids": [5, 6], "meta_info": {"output_token_logprobs": [(-0.5, 5, None), (-0.25, 6, None)]}}
pieces = [_engines.vllm(None, {}, vllm([token], [one]))[0][0] for token, one in zip([5, 6], by_id)]
joined = pieces[1].behind(pieces[0].behind(None, True), True)
late = _engines.vllm(None, {}, vllm([7], None))[0][0].behind(joined, True)
print(json.dumps({
    "vllm": of(_engines.vllm(None, {}, vllm([5, 6], by_id))),
    "vllm without": of(_engines.vllm(None, {}, vllm([5, 6], None))),
    "vllm without the sampled": of(_engines.vllm(None, {}, vllm([5, 8], by_id))),
    "vllm in pieces": joined.answer().logprobs,
    "vllm, a piece without": late.answer().logprobs,
    "sglang": of(_engines.sglang(None, {"input_ids": [[1]]}, [sglang])),
    "completions": [each.logprobs for each in _served.of_choices({"choices": [
        {"token_ids": [5, 6], "prompt_token_ids": [1], "logprobs": {"token_logprobs": [-0.5, -0.25]}},
        {"token_ids": [5, 6], "prompt_token_ids": [1], "logprobs": {"content": [{"logprob": -0.5}, {"logprob": -0.25}]}},
        {"token_ids": [5, 6], "prompt_token_ids": [1], "logprobs": {"token_logprobs": [-0.5]}},
    ]}, {})],
    "trl": [each.logprobs for each in _served.of_rows(
        {"prompt_ids": [[1]], "completion_ids": [[5, 6]], "logprobs": [[[-0.5], -0.25]]})],
}))
`;

test('log-probabilities of the sampled tokens are taken, and nothing else', async () => {
  const { stdout } = await execa('python3', ['-c', CHECK], {
    env: { PYTHONPATH: join(PACKAGE_ROOT, 'src', 'python'), PYTHONDONTWRITEBYTECODE: '1' },
  });
  expect(JSON.parse(stdout)).toEqual({
    vllm: [[-0.5, -0.25]],
    'vllm without': [null],
    'vllm without the sampled': [[-0.5, null]],
    'vllm in pieces': [-0.5, -0.25],
    'vllm, a piece without': null,
    sglang: [[-0.5, -0.25]],
    completions: [[-0.5, -0.25], [-0.5, -0.25], null],
    trl: [[-0.5, -0.25]],
  });
});
