def token_logprobs(logits, input_ids):
    table = logits[:, 1:].log_softmax(-1)  # a token's own logits, not those before it
    return table.gather(-1, input_ids[:, 1:, None]).squeeze(-1)
