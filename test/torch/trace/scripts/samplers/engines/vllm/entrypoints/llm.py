"""Stands for vLLM's offline engine: its names, arguments and outputs, and none of it."""

from dataclasses import dataclass, field

import tiny
from elsewhere import sampled


@dataclass
class SamplingParams:
    n: int = 1
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    max_tokens: int = 16
    stop: object = None
    seed: int = 0


@dataclass
class CompletionOutput:
    index: int
    token_ids: tuple
    finish_reason: str
    stop_reason: object = None


@dataclass
class RequestOutput:
    prompt_token_ids: list
    outputs: list = field(default_factory=list)
    finished: bool = True


class LLM:
    def __init__(self, model, **options):
        self.tokenizer = tiny.letters()

    def generate(self, prompts, sampling_params=None, *, use_tqdm=True, lora_request=None):
        out = []
        for prompt in prompts:
            ids = prompt["prompt_token_ids"] if isinstance(prompt, dict) else self.tokenizer.encode(prompt, add_special_tokens=False)
            out.append(RequestOutput(ids))
            for at in range(sampling_params.n):
                asked = sampling_params
                completion, end = sampled(ids, self.tokenizer, asked.max_tokens, asked.seed + at, asked.stop)
                # Of what it stops at, the end of a text is not named.
                reason = end if isinstance(end, str) else None
                out[-1].outputs.append(CompletionOutput(at, tuple(completion), "length" if end is None else "stop", reason))
        return out
