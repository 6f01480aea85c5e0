"""A trainer whose mask is right: what is trained is known from where it was put."""

import lossproof


@lossproof.op
def mask(prompt_ids, completion_ids, pad_token_id):
    prompt_width = max(map(len, prompt_ids))
    width = max(map(len, completion_ids))
    ids, real, trained = [], [], []
    for prompt, completion in zip(prompt_ids, completion_ids):
        left, right = prompt_width - len(prompt), width - len(completion)
        ids.append([pad_token_id] * left + prompt + completion + [pad_token_id] * right)
        real.append([0] * left + [1] * (len(prompt) + len(completion)) + [0] * right)
        trained.append([0] * prompt_width + [1] * len(completion) + [0] * right)
    return {"input_ids": ids, "attention_mask": real, "completion_mask": trained}


lossproof.serve(name="right")
