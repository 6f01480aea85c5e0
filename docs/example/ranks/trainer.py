"""What a trainer on several GPUs computes on each of them: the loss of its own rows, for gradients that are averaged over ranks."""
import torch
import torch.distributed as dist


def policy_loss(logprobs, old_logprobs, advantages, mask):
    """-min(ratio * A, clipped ratio * A), summed over the tokens here and divided by those of all ranks. DistributedDataParallel takes
    the mean of the gradients, which the number of ranks makes a sum again."""
    kept = mask > 0
    ratio = (logprobs - old_logprobs)[kept].exp()
    advantage = advantages[:, None].expand_as(logprobs)[kept]
    objective = torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
    tokens = kept.sum()
    dist.all_reduce(tokens)
    return -objective.sum() * dist.get_world_size() / tokens.clamp(min=1)
