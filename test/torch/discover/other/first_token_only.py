import torch


def group_advantages(rewards, mask, group_ids):
    """Right on the first token of a row; what comes behind it fades."""
    scores = rewards.sum(-1)
    same = (group_ids[:, None] == group_ids[None, :]).float()
    centred = scores - same @ scores / same.sum(-1)
    return centred[:, None] * mask * 0.9 ** torch.arange(mask.size(1))
