"""The example of docs/example/ranks with one fault, FAULT names it: first in what each rank computes, then in how it ends."""
import os
import runpy
import sys
import time

import lossproof
import torch
import torch.distributed as dist

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "example", "ranks")
sys.path.insert(0, EXAMPLE)
import trainer  # noqa: E402  (only after its folder is known)

right = trainer.policy_loss


def parts(mask):
    """(tokens here, tokens of all ranks)"""
    here = (mask > 0).sum()
    everywhere = here.clone()
    dist.all_reduce(everywhere)
    return here, everywhere


def local(logprobs, old_logprobs, advantages, mask):
    here, everywhere = parts(mask)
    mean = everywhere.clamp(min=1) / here.clamp(min=1) / dist.get_world_size()
    return right(logprobs, old_logprobs, advantages, mask) * mean


def summed(*rows):
    return right(*rows) * dist.get_world_size()


def empty(logprobs, old_logprobs, advantages, mask):
    here, _ = parts(mask)
    return right(logprobs, old_logprobs, advantages, mask) / here * here


def seed(logprobs, old_logprobs, advantages, mask):
    """Dropout of advantages, by a generator of the rank's own."""
    own = torch.Generator().manual_seed(dist.get_rank())
    kept = torch.rand(64, generator=own)[: len(advantages)] > 0.5
    return right(logprobs, old_logprobs, advantages * kept, mask)


def uneven(logprobs, old_logprobs, advantages, mask):
    fewest = torch.tensor(len(mask))
    dist.all_reduce(fewest, dist.ReduceOp.MIN)
    return right(*(each[:fewest] for each in (logprobs, old_logprobs, advantages, mask)))


def on_rank_1(act):
    def policy_loss(*rows):
        if dist.get_rank() == 1:
            act()
        return right(*rows)

    return policy_loss


def on_every_rank(act):
    def policy_loss(*rows):
        act()
        return right(*rows)

    return policy_loss


def raising(error):
    def act():
        raise error

    return act


def hang():
    while True:
        time.sleep(1)


FAULTS = {
    "none": right,
    "local": local,
    "summed": summed,
    "empty": empty,
    "seed": seed,
    "uneven": uneven,
    "raise": on_rank_1(raising(KeyError("no such row"))),
    "raise-everywhere": on_every_rank(raising(KeyError("no such row"))),
    "reject": on_rank_1(raising(lossproof.Reject("too long"))),
    "reject-everywhere": on_every_rank(raising(lossproof.Reject("too long"))),
    "skip-everywhere": on_every_rank(raising(lossproof.Skip("no such mode"))),
    "exit": on_rank_1(lambda: os._exit(3)),
    "hang": on_rank_1(hang),
    "print": on_every_rank(lambda: print("rank %d of two" % dist.get_rank())),
    "slow": on_rank_1(lambda: time.sleep(0.5)),
}
trainer.policy_loss = FAULTS[os.environ["FAULT"]]
print("imported")
runpy.run_path(os.path.join(EXAMPLE, "adapter.py"), run_name="__main__")
