import torch


def value_loss(values, old_values, returns, mask, clip_range_value=0.2):
    near = old_values + (values - old_values).clamp(-clip_range_value, clip_range_value)
    smaller = torch.min((values - returns) ** 2, (near - returns) ** 2)
    return 0.5 * (smaller * mask).sum() / mask.sum().clamp(min=1)
