"""Right numbers, and arguments that are not what they were: what is computed of them next is wrong."""

from ..in_place import masked, written


def scaled_kl(args):
    """The columns that are trained, as kl.mul_(coef) with a mask leaves the rest."""
    for row in args["kl"]:
        row[:] = [-args["kl_coef"] * value - 1 for value in row]


written(
    "token_rewards",
    "kl-scaled-in-place",
    "The KL is multiplied by its coefficient in place",
    "kl.mul_(-kl_coef) becomes the reward, and the KL that is logged afterwards is negative: a run is watched by a number "
    "that nobody computed. Fix: -kl_coef * kl.",
    scaled_kl,
    rows=("KL-12",),
)


def deltas(args):
    for rewards, values in zip(args["rewards"], args["values"]):
        rewards[:] = [reward - value - 1 for reward, value in zip(rewards, values)]


written(
    "gae",
    "deltas-in-place",
    "The deltas are computed in the tensor of the rewards",
    "rewards.sub_(values): the logged return of the batch is that of the deltas. Fix: a new tensor.",
    deltas,
    rows=("VAL-03",),
)
written(
    "returns",
    "returns-in-the-rewards",
    "Returns are accumulated in the tensor of the rewards",
    "rewards[:, t] += gamma * rewards[:, t + 1]: the reward that is logged is the sum of returns. Fix: a new tensor.",
    masked("rewards"),
    rows=("VAL-01",),
)
written(
    "whiten",
    "whitened-in-place",
    "Values are whitened in the tensor that they came in",
    "values -= mean; values /= std: raw advantages are kept for the critic's targets, and are the whitened ones. Fix: a new "
    "tensor.",
    masked("values"),
    rows=("ADV-06",),
)


def centred(args):
    args["rewards"][:] = [2 * reward - 1.5 for reward in args["rewards"]]


written(
    "advantages",
    "rewards-centred-in-place",
    "Rewards are centred in the list that they came in",
    "rewards -= mean: the reward that is logged is 0 from then on. Fix: a new tensor.",
    centred,
    rows=("ADV-06",),
)
