"""KL estimates and policy losses in torch float64, with their gradients by autograd."""

import torch

from sources.entries import entry
from sources.pytorch.inputs import Draw, tensor, wire

SOURCE = "torch, float64, autograd"


def estimates(logps, ref, old, variant):
    clamp, where = variant["clamp"], variant["clampWhere"]
    log_ratio = ref - logps
    if where == "log-ratio":
        log_ratio = log_ratio.clamp(-clamp, clamp)
    by_name = {
        "k1": lambda: -log_ratio,
        "k2": lambda: log_ratio.square() / 2,
        "k3": lambda: torch.expm1(log_ratio) - log_ratio,
        "abs": lambda: log_ratio.abs(),
    }
    value = by_name[variant["estimator"]]()
    if where == "estimate":
        value = value.clamp(-clamp, clamp)
    return value * torch.exp(logps - old) if variant["ratioCorrection"] else value


def variant(estimator, clamp=None, where=None, corrected=False):
    return {"estimator": estimator, "clamp": clamp, "clampWhere": where, "ratioCorrection": corrected}


def kl(id, draw, chosen):
    given = {name: draw.matrix(2, 4, -4, -0.1) for name in ("logprobs", "ref_logprobs", "old_logprobs")}
    logps = tensor(given["logprobs"]).requires_grad_()
    value = estimates(logps, tensor(given["ref_logprobs"]), tensor(given["old_logprobs"]), chosen)
    value.sum().backward()
    how = "the estimator in torch's own functions; slopes are the gradient of its sum by the log-probabilities"
    return entry(id, SOURCE, how, "kl-per-token", {**given, "variant": chosen}, wire({"kl": value, "slopes": logps.grad}))


def per_token(given, settings, logps):
    old, ref = tensor(given["old_logprobs"]), tensor(given["ref_logprobs"])
    mask, advantage = torch.tensor(given["mask"]).bool(), tensor(given["advantages"])[:, None]
    log_ratio = logps - old
    sequence = settings.get("ratioLevel") == "sequence"
    if sequence:
        sums = torch.where(mask, log_ratio, 0.0).sum(1, keepdim=True)
        log_ratio = (sums / mask.sum(1, keepdim=True).clamp(min=1)).expand_as(logps)
    bound = settings.get("logRatioClamp", float("inf"))
    ratio = log_ratio.clamp(-bound, bound).exp()
    clipped = ratio.clamp(1 - settings["clipLow"], 1 + settings["clipHigh"])
    if settings.get("objective") == "cispo":
        loss = -clipped.detach() * advantage * logps
    else:
        loss = -torch.minimum(ratio * advantage, clipped * advantage)
        if "dualClip" in settings:
            loss = torch.where(advantage < 0, torch.minimum(loss, -settings["dualClip"] * advantage), loss)
    if settings["kl"] is not None:
        level = logps - log_ratio if sequence else old
        loss = loss + settings["klCoef"] * estimates(logps, ref, level, settings["kl"])
    return loss, mask


def aggregate(loss, mask, settings):
    sums, lengths = torch.where(mask, loss, 0.0).sum(1), mask.sum(1)
    rows = int((lengths > 0).sum()) if settings.get("emptyRows") == "skip" else len(lengths)
    norm = settings["norm"] * (len(lengths) if settings.get("normPer") == "row" else 1)
    return {
        "token-mean": lambda: sums.sum() / lengths.sum().clamp(min=1),
        "token-sum-norm": lambda: sums.sum() / norm,
        "seq-mean-token-sum": lambda: sums.sum() / max(rows, 1),
        "seq-mean-token-mean": lambda: (sums / lengths.clamp(min=1)).sum() / max(rows, 1),
    }[settings["aggregation"]]()


def loss(id, draw, settings, mask=None):
    mask = mask or [[0, 1, 1, 1, 1], [0, 0, 1, 0, 1], [1, 1, 1, 0, 0]]
    rows, columns = len(mask), len(mask[0])
    logprobs = draw.matrix(rows, columns, -3, -0.1)
    # Near enough to the log-probabilities that the ratio is within its clip for some tokens and beyond it for others.
    near = [[x + draw.number(-0.4, 0.4) for x in row] for row in logprobs]
    ref = [[x + draw.number(-0.7, 0.7) for x in row] for row in logprobs]
    given = {
        "logprobs": logprobs,
        "old_logprobs": near,
        "ref_logprobs": ref,
        "advantages": [draw.number(0.2, 2) * (-1) ** row for row in range(rows)],
        "mask": mask,
    }
    logps = tensor(logprobs).requires_grad_()
    tokenwise, selected = per_token(given, settings, logps)
    total = aggregate(tokenwise, selected, settings)
    total.backward()
    answer = {"loss": total, "weights": logps.grad, "tokens": int(selected.sum())}
    how = "the loss in torch's own functions; weights are its gradient by the log-probabilities"
    return entry(id, SOURCE, how, "policy-loss", {**given, "settings": settings}, wire(answer))


def settings(aggregation="token-mean", **more):
    return {"aggregation": aggregation, "norm": 1.0, "clipLow": 0.2, "clipHigh": 0.2, "klCoef": 0.0, "kl": None, **more}


def entries():
    draw = Draw(2)
    clamps = [(None, None), (0.75, "log-ratio"), (0.5, "estimate")]
    kls = [
        kl(
            f"{name}{'' if clamp is None else f'-{where}-clamped'}{'-corrected' if on else ''}",
            draw,
            variant(name, clamp, where, on),
        )
        for name in ("k1", "k2", "k3", "abs")
        for clamp, where in clamps
        for on in (False, True)
    ]
    with_kl = {"klCoef": 0.1, "kl": variant("k3")}
    corrected = {"klCoef": 0.1, "kl": variant("k3", corrected=True)}
    empty = [[1, 1, 0], [0, 0, 0], [1, 1, 1]]
    means = "seq-mean-token-mean"
    losses = [
        loss("token-mean", draw, settings()),
        loss("row-mean", draw, settings(means)),
        loss("row-sum", draw, settings("seq-mean-token-sum")),
        loss("norm", draw, settings("token-sum-norm", norm=12.0)),
        loss("norm-per-row", draw, settings("token-sum-norm", norm=5.0, normPer="row")),
        loss("empty-row-counted", draw, settings(means, emptyRows="count"), empty),
        loss("empty-row-skipped", draw, settings(means, emptyRows="skip"), empty),
        loss("nothing-trained", draw, settings(), [[0, 0], [0, 0]]),
        loss("clip-higher", draw, settings(clipLow=0.2, clipHigh=0.28)),
        *[loss(f"with-{name}", draw, settings(means, klCoef=0.1, kl=variant(name))) for name in ("k1", "k2", "k3", "abs")],
        loss("with-clamped-k3", draw, settings(klCoef=0.1, kl=variant("k3", 0.25, "log-ratio"))),
        loss("with-corrected-k3", draw, settings(**corrected)),
        loss("log-ratio-clamped", draw, settings(clipLow=0.5, clipHigh=0.5, logRatioClamp=0.15)),
        loss("dual-clip", draw, settings(clipLow=0.2, clipHigh=0.2, dualClip=1.1)),
        loss("cispo", draw, settings(objective="cispo", clipLow=1.0, clipHigh=0.2)),
        loss("cispo-with-k3", draw, settings(objective="cispo", clipLow=0.2, clipHigh=0.2, **with_kl)),
        loss("sequence", draw, settings(means, ratioLevel="sequence")),
        loss("sequence-narrow", draw, settings(means, ratioLevel="sequence", clipLow=3e-4, clipHigh=4e-4)),
        loss("sequence-with-k3", draw, settings(means, ratioLevel="sequence", **with_kl)),
        loss("sequence-with-corrected-k3", draw, settings(ratioLevel="sequence", **corrected)),
    ]
    return {"kl": kls, "policy-loss": losses}
