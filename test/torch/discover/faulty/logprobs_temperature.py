def token_logprobs(logits, labels, temperature=1.0):
    table = (logits * temperature).log_softmax(-1)  # multiplied
    return table.gather(-1, labels[..., None]).squeeze(-1)


def step(model, ids):
    return token_logprobs(model(ids).logits[:, :-1], ids[:, 1:], 0.7)
