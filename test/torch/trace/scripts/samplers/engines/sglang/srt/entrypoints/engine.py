"""Stands for SGLang's offline engine: its names, arguments and outputs, and none of it."""

import asyncio

import tiny
from elsewhere import sampled


class Engine:
    def __init__(self, **options):
        self.tokenizer = tiny.letters()

    def generate(self, prompt=None, sampling_params=None, input_ids=None, stream=False, **more):
        answers = self.answers(sampling_params, input_ids)
        return pieces_of(answers) if stream else answers

    async def async_generate(self, prompt=None, sampling_params=None, input_ids=None, stream=False, **more):
        answers = self.answers(sampling_params, input_ids)
        if stream:
            return later(pieces_of(answers))
        await asyncio.sleep(0)
        return answers

    def answers(self, params, prompts):
        out = []
        for at, ids in enumerate(prompts):
            most, seed = params["max_new_tokens"], params.get("sampling_seed", 0)
            completion, end = sampled(ids, self.tokenizer, most, seed + at, params.get("stop"))
            reason = {"type": "length", "length": most} if end is None else {"type": "stop", "matched": end}
            meta = {"prompt_tokens": len(ids), "completion_tokens": len(completion), "finish_reason": reason}
            out.append({"text": "", "output_ids": completion, "meta_info": meta})
        return out


def pieces_of(answers):
    """Each answer as far as it is, a token at a time, with its place in the batch."""
    for end in range(1, max(len(each["output_ids"]) for each in answers) + 1):
        for at, each in enumerate(answers):
            if end > len(each["output_ids"]):
                continue
            meta = each["meta_info"] if end == len(each["output_ids"]) else dict(each["meta_info"], finish_reason=None)
            yield {"text": "", "output_ids": each["output_ids"][:end], "meta_info": meta, "index": at}


async def later(pieces):
    for each in pieces:
        await asyncio.sleep(0)
        yield each
