"""What vLLM's engines answer with, and the answers of the stand-ins."""

from dataclasses import dataclass, field

from elsewhere import sampled


@dataclass
class CompletionOutput:
    index: int
    token_ids: list
    finish_reason: object = None
    stop_reason: object = None


@dataclass
class RequestOutput:
    prompt_token_ids: list
    outputs: list = field(default_factory=list)
    finished: bool = True


def completion(prompt, tokenizer, asked, at):
    ids, end = sampled(prompt, tokenizer, asked.max_tokens, asked.seed + at, asked.stop)
    # Of what it stops at, the end of a text is not named.
    return CompletionOutput(at, ids, "length" if end is None else "stop", end if isinstance(end, str) else None)
