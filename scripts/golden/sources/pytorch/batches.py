"""Advantages, GAE, whitening and preference losses in torch float64."""

import torch
from torch.nn.functional import logsigmoid

from sources.entries import entry
from sources.pytorch.inputs import Draw, tensor, wire

SOURCE = "torch, float64"


def advantages(id, draw, variant):
    rewards, groups = draw.row(7, -1, 2), [0, 1, 0, 1, 1, 0, 2]
    # The third group is of one; the second has a reward twice.
    rewards[3] = rewards[1]
    r, g = tensor(rewards), torch.tensor(groups)
    centred = torch.zeros_like(r)
    for group in g.unique():
        here = g == group
        own = r[here]
        if variant["baseline"] == "leave-one-out" and len(own) > 1:
            centred[here] = own - (own.sum() - own) / (len(own) - 1)
        elif variant["baseline"] == "group-mean":
            centred[here] = own - own.mean()
    if variant["baseline"] == "batch-mean":
        centred = r - r.mean()
    elif variant["baseline"] == "none":
        centred = r
    result = centred.clone()
    if variant["scaling"] != "none":
        for row in centred.nonzero().flatten():
            spread = r[g == g[row]] if variant["scaling"] == "group" else centred if variant["batchOf"] == "centred" else r
            # One reward has no deviation of ddof 1; nothing is added to what divides it but epsilon.
            spare = len(spread) > variant["ddof"]
            deviation = torch.std(spread, correction=variant["ddof"]) if spare else torch.tensor(0.0)
            if variant["placement"] == "variance":
                result[row] = centred[row] / torch.sqrt(deviation.square() + variant["epsilon"])
            else:
                result[row] = centred[row] / (deviation + variant["epsilon"])
    input = {"rewards": rewards, "group_ids": groups, "variant": variant}
    how = "torch.mean and torch.std with their correction, group by group"
    return entry(id, SOURCE, how, "group-advantages", input, wire({"advantages": result}))


def gae(id, draw, mask, gamma, lam):
    """Backwards over the trained steps alone; what stands between them takes no time."""
    rows, columns = len(mask), len(mask[0])
    rewards, values = draw.matrix(rows, columns, -1, 1), draw.matrix(rows, columns, -2, 2)
    result = torch.zeros(rows, columns)
    for row, marks in enumerate(mask):
        following, value_after = torch.tensor(0.0), torch.tensor(0.0)
        for t in reversed([t for t, on in enumerate(marks) if on]):
            value = tensor(values[row][t])
            delta = tensor(rewards[row][t]) + gamma * value_after - value
            following = delta + gamma * lam * following
            result[row, t], value_after = following, value
    input = {"rewards": rewards, "values": values, "mask": mask, "gamma": gamma, "lam": lam}
    return entry(id, SOURCE, "the recursion from the last trained step to the first", "gae", input, wire({"advantages": result}))


def whitening(id, draw, mean, ddof, epsilon=0.0):
    values, mask = draw.matrix(3, 4, -3, 5), [[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 1]]
    x, m = tensor(values), torch.tensor(mask).bool()
    centre, spread = x[m].mean(), torch.var(x[m], correction=ddof)
    scale = torch.rsqrt(spread + epsilon)
    shift = {"zero": torch.tensor(0.0), "scaled": centre * scale, "kept": centre}[mean]
    answer = torch.where(m, (x - centre) * scale + shift, 0.0)
    input = {"values": values, "mask": mask, "variant": {"mean": mean, "ddof": ddof}, "epsilon": epsilon}
    how = "torch.mean, torch.var and torch.rsqrt of what is under the mask"
    return entry(id, SOURCE, how, "whitening", input, wire({"whitened": answer}))


def preference(id, draw, objective, beta, share=0.0, smoothing="conservative", gamma=0.0, length="sum"):
    pair = {
        "chosen": draw.row(4, -3, -0.1),
        "rejected": draw.row(3, -3, -0.1),
        "refChosen": draw.row(4, -3, -0.1),
        "refRejected": draw.row(3, -3, -0.1),
    }
    reduce = torch.sum if length == "sum" else torch.mean
    referred = 0.0 if objective == "simpo" else 1.0
    score = lambda side: reduce(tensor(pair[side]) - referred * tensor(pair[f"ref{side.capitalize()}"]))
    margin = (score("chosen") - score("rejected")).requires_grad_()
    h = beta * (margin - gamma) if objective == "simpo" else beta * margin
    right, wrong = -logsigmoid(h), -logsigmoid(-h)
    if objective == "ipo":
        value = (margin - 1 / (2 * beta)).square()
    elif objective == "hinge":
        value = torch.relu(1 - h)
    elif smoothing == "robust":
        value = ((1 - share) * right - share * wrong) / (1 - 2 * share)
    else:
        value = (1 - share) * right + share * wrong
    settings = {
        "objective": objective,
        "beta": beta,
        "labelSmoothing": share,
        "smoothing": smoothing,
        "gamma": gamma,
        "length": length,
    }
    value.backward()
    answer = wire({"margin": margin, "loss": value, "slope": margin.grad})
    input = {"pair": pair, "settings": settings}
    return entry(id, SOURCE, "logsigmoid, relu and square of torch; the slope by autograd", "preference-loss", input, answer)


def variants():
    for scaling, baseline, of, ddof in [
        ("group", "group-mean", "rewards", 0),
        ("group", "group-mean", "rewards", 1),
        ("batch", "group-mean", "rewards", 1),
        ("batch", "group-mean", "centred", 1),
        ("batch", "batch-mean", "rewards", 0),
        ("batch", "leave-one-out", "centred", 0),
        ("none", "leave-one-out", "rewards", 0),
        ("none", "group-mean", "rewards", 0),
        ("batch", "none", "rewards", 1),
    ]:
        variant = {"scaling": scaling, "baseline": baseline, "batchOf": of, "ddof": ddof, "epsilon": 1e-4, "placement": "std"}
        name = f"{scaling}-{baseline}-{of}-ddof-{ddof}"
        yield name, variant
        if scaling != "none":
            yield f"{name}-under-the-root", {**variant, "placement": "variance"}


def entries():
    draw = Draw(3)
    whole, gaps = [[1, 1, 1, 1]], [[0, 1, 1, 0, 1, 1], [0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]]
    objectives = [("dpo", 0.1), ("dpo", 0.5), ("ipo", 0.1), ("hinge", 0.2)]
    return {
        "advantages": [advantages(name, draw, variant) for name, variant in variants()],
        "gae": [
            gae("whole-row", draw, whole, 0.99, 0.95),
            gae("with-gaps", draw, gaps, 0.99, 0.95),
            gae("no-discount", draw, gaps, 1.0, 1.0),
            gae("lambda-0", draw, gaps, 0.9, 0.0),
        ],
        "whitening": [
            *[whitening(f"{mean}-ddof-{ddof}", draw, mean, ddof) for mean in ("zero", "scaled", "kept") for ddof in (0, 1)],
            whitening("epsilon", draw, "zero", 1, 1e-8),
        ],
        "preference": [
            *[preference(f"{name}-{beta}", draw, name, beta) for name, beta in objectives],
            *[preference(f"dpo-smoothed-{how}", draw, "dpo", 0.1, 0.1, how) for how in ("conservative", "robust")],
            preference("ipo-of-means", draw, "ipo", 0.1, length="mean"),
            preference("simpo", draw, "simpo", 2.0, gamma=0.3, length="mean"),
            preference("simpo-smoothed", draw, "simpo", 2.0, 0.1, gamma=0.3, length="mean"),
        ],
    }
