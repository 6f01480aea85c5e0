"""From rewards and values to advantages: RemoteExperienceMaker, compute_reward."""

import lossproof
from lossproof import Reject
from lossproof.adapters.openrlhf._parts import Experience, makers, openrlhf, utils
from lossproof.adapters.openrlhf._settings import ESTIMATOR
from lossproof.adapters.openrlhf._standins import Strategy, tree
from lossproof.testing import instance

import torch

whitened = openrlhf.lines(
    ["whiten"],
    makers,
    "RemoteExperienceMaker.compute_advantages_and_returns",
    begin='if args.algo.advantage.estimator in ["gae", "reinforce", "reinforce_baseline"]:',
    end="return experiences",
    inputs=["args", "experiences"],
    outputs="return",
)


@lossproof.op
def token_rewards(scores, kl, completion_mask, kl_coef):
    mask = torch.tensor(completion_mask)
    if not mask.any(1).all():
        raise Reject("OpenRLHF has a token of the policy's in every row")
    return {"rewards": utils.compute_reward(torch.tensor(scores), kl_coef, torch.tensor(kl), action_mask=mask)}


def making(estimator, group_size):
    """(RemoteExperienceMaker, its arguments) of this estimator."""
    args = tree(
        rollout={"n_samples_per_prompt": group_size},
        reward={"clip_range": None},
        algo={"advantage": {"estimator": estimator, "gamma": 1.0, "lambd": 1.0, "no_std_norm": False}},
    )
    maker = instance(
        makers.RemoteExperienceMaker,
        strategy=Strategy(args),
        args=args,
        advantage_estimator=estimator,
        kl_ctl=tree(value=0.0),
    )
    return maker, args


@lossproof.op
def advantages(rewards, group_ids):
    """A response of one token per row, without KL: what the estimator says of it is the row's advantage. OpenRLHF's rows of a group
    stand side by side; the answer goes back to the order of the question."""
    sizes = {group_ids.count(group) for group in group_ids}
    if len(sizes) != 1:
        raise Reject("OpenRLHF has n_samples_per_prompt rows in every group")
    order = sorted(range(len(rewards)), key=lambda row: group_ids[row])
    experience = Experience(
        rewards=torch.tensor([rewards[row] for row in order]),
        index=list(range(len(rewards))),
        kl=torch.zeros(len(rewards), 1),
        action_mask=torch.ones(len(rewards), 1),
    )
    maker, _ = making(ESTIMATOR, sizes.pop())
    (made,) = maker.compute_advantages_and_returns([experience])
    back = dict(zip(order, made.advantages[:, 0].tolist()))
    return {"advantages": [back[row] for row in range(len(rewards))]}


@lossproof.op
def gae(rewards, values, completion_mask, gamma, lam):
    """Before the whitening, which is op whiten."""
    maker, _ = making("gae", 1)
    tracks = (torch.tensor(track) for track in (values, rewards, completion_mask))
    found, returns = maker.get_advantages_and_returns(*tracks, gamma, lam)
    return {"advantages": found, "returns": returns}


@lossproof.op
def returns(rewards, completion_mask, gamma):
    maker, _ = making("reinforce", 1)
    return {"returns": maker.get_cumulative_returns(torch.tensor(rewards), torch.tensor(completion_mask), gamma)}


@lossproof.op
def whiten(values, completion_mask):
    _, args = making("gae", 1)
    experience = Experience(advantages=torch.tensor(values), action_mask=torch.tensor(completion_mask))
    return {"values": whitened(args, [experience])[0].advantages}
