"""Every rank runs this file. lossproof check -- torchrun --nproc-per-node 2 adapter.py"""
import lossproof  # first: from here on standard output belongs to the protocol
import torch
import torch.distributed as dist
import trainer


@lossproof.op(ranks=True)
def loss(logprobs, old_logprobs, advantages, completion_mask, ranks):
    mine = ranks[dist.get_rank()]  # the rows of this rank; it may have none
    value, weights = lossproof.gradient(
        lambda leaf: trainer.policy_loss(leaf, old_logprobs[mine], advantages[mine], completion_mask[mine]),
        logprobs[mine],
    )
    # What DistributedDataParallel does with the gradients: their mean over ranks. A rank has none for the rows of others.
    gradient = torch.zeros_like(logprobs)
    gradient[mine] = weights
    for each in (value, gradient):
        dist.all_reduce(each)
        each /= dist.get_world_size()
    return {"loss": value, "loss_weights": gradient}


dist.init_process_group("gloo")
lossproof.serve(
    name="ranks",
    arrays="torch",
    semantics={"loss_aggregation": "token-mean", "clip_low": 0.2, "clip_high": 0.2, "kl_coef": 0.0},
)
dist.destroy_process_group()
