"""Stands for vLLM's offline engine: its names, arguments and outputs, and none of it."""

import tiny
from vllm.outputs import RequestOutput, completion


class LLM:
    def __init__(self, model, **options):
        self.tokenizer = tiny.letters()

    def generate(self, prompts, sampling_params=None, *, use_tqdm=True, lora_request=None):
        out = []
        for prompt in prompts:
            ids = prompt["prompt_token_ids"] if isinstance(prompt, dict) else self.tokenizer.encode(prompt, add_special_tokens=False)
            answers = [completion(ids, self.tokenizer, sampling_params, at) for at in range(sampling_params.n)]
            out.append(RequestOutput(ids, answers))
        return out
