import torch


def build_batch(prompt_ids, completion_ids, pad_token_id):
    width = max(map(len, prompt_ids))
    rows = [[pad_token_id] * (width - len(p)) + p + c for p, c in zip(prompt_ids, completion_ids)]
    longest = max(map(len, rows))
    input_ids = torch.tensor([row + [pad_token_id] * (longest - len(row)) for row in rows])
    attention_mask = torch.tensor([
        [0] * (width - len(p)) + [1] * (len(p) + len(c)) + [0] * (longest - width - len(c)) for p, c in zip(prompt_ids, completion_ids)
    ])  # fmt: skip
    mask = torch.zeros_like(input_ids)
    for row, prompt in enumerate(prompt_ids):
        mask[row, len(prompt) :] = 1  # by the number of its tokens, not by its column; and padding behind it
    return input_ids, attention_mask, mask * attention_mask
