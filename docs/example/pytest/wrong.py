"""The same trainer, with a mistake that is easily made: whatever is the pad token is taken for padding. Where the pad token is
the stop token, no stop is trained, and the model learns never to end."""

import lossproof


@lossproof.op
def mask(prompt_ids, completion_ids, pad_token_id):
    prompt_width = max(map(len, prompt_ids))
    width = max(map(len, completion_ids))
    ids, real, trained = [], [], []
    for prompt, completion in zip(prompt_ids, completion_ids):
        left, right = prompt_width - len(prompt), width - len(completion)
        row = [pad_token_id] * left + prompt + completion + [pad_token_id] * right
        ids.append(row)
        real.append([0] * left + [1] * (len(prompt) + len(completion)) + [0] * right)
        trained.append([int(at >= prompt_width and token != pad_token_id) for at, token in enumerate(row)])
    return {"input_ids": ids, "attention_mask": real, "completion_mask": trained}


lossproof.serve(name="wrong")
