"""Scripts that end badly, or have nothing for anyone to see."""

import sys

how = sys.argv[1]
if how == "raise-before":
    raise ValueError("no such data set")
if how == "no-torch":
    print("nothing was learnt")
    sys.exit(0)
if how == "exit-3":
    sys.exit(3)

import torch

if how == "mlp":
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
else:
    import nets

    net = nets.GPT(48)


def by_weight(hidden, head):
    """Nothing that could be seen: no call of the head, no product of matrices, no function of a loss."""
    logits = (hidden[:, :-1].unsqueeze(2) * head.weight).sum(-1)
    picked = (logits * torch.nn.functional.one_hot(ids[:, 1:], logits.shape[-1])).sum(-1)
    return (logits.exp().sum(-1).log() - picked).mean()


if how == "compiled":
    net = torch.compile(net, backend="eager")
ids = torch.arange(2 * 6).view(2, 6)
optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    if how == "mlp":
        loss = torch.nn.functional.mse_loss(net(torch.ones(3, 4)), torch.zeros(3, 2))
    elif how in ("no-head", "compiled"):
        loss = net(ids, loss=by_weight)
    else:
        loss = torch.nn.functional.cross_entropy(net(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    print("step", step)
    if how == "raise-after":
        raise RuntimeError("the disk is full")
