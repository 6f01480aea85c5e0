"""Stands for vLLM's asynchronous engine: its names, arguments and outputs, and none of it."""

import asyncio

import tiny
from vllm.outputs import CompletionOutput, RequestOutput, completion
from vllm.sampling_params import RequestOutputKind


class AsyncLLM:
    def __init__(self, vllm_config, **options):
        self.tokenizer = tiny.letters()

    async def generate(self, prompt, sampling_params, request_id, *, lora_request=None, priority=0):
        """A token at a time; of several completions each comes by itself."""
        ids, delta = prompt["prompt_token_ids"], sampling_params.output_kind is RequestOutputKind.DELTA
        answers = [completion(ids, self.tokenizer, sampling_params, at) for at in range(sampling_params.n)]
        longest = max(len(each.token_ids) for each in answers)
        for end in range(1, longest + 1):
            for each in answers:
                part, last = each.token_ids[end - 1 if delta else 0 : end], end == len(each.token_ids)
                if end > len(each.token_ids):
                    continue
                await asyncio.sleep(0)
                told = (each.finish_reason, each.stop_reason) if last else ()
                yield RequestOutput(ids, [CompletionOutput(each.index, part, *told)], last and end == longest)
