"""Stands for SGLang's offline engine: its names, arguments and outputs, and none of it."""

import tiny
from elsewhere import sampled


class Engine:
    def __init__(self, **options):
        self.tokenizer = tiny.letters()

    def generate(self, prompt=None, sampling_params=None, input_ids=None, stream=False, **more):
        out = []
        for at, ids in enumerate(input_ids):
            most, seed = sampling_params["max_new_tokens"], sampling_params.get("sampling_seed", 0)
            completion, end = sampled(ids, self.tokenizer, most, seed + at, sampling_params.get("stop"))
            reason = {"type": "length", "length": most} if end is None else {"type": "stop", "matched": end}
            meta = {"prompt_tokens": len(ids), "completion_tokens": len(completion), "finish_reason": reason}
            out.append({"text": "", "output_ids": completion, "meta_info": meta})
        return out
