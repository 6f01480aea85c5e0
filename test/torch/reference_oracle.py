"""The oracles of src/reference once more, in torch float64 with autograd gradients.

Reads one JSON object from stdin, {"cases": [{"stage": ..., ...}]}, and writes one JSON list of answers. Numbers
that JSON has no word for cross as the strings "NaN", "Infinity" and "-Infinity". Written from the formulas and
torch's own functions, not from the TypeScript.
"""

import json
import math
import sys

import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence
from transformers import RepetitionPenaltyLogitsProcessor

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def plain(value):
    """Back from the strings that stand for non-finite numbers."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    return float(value) if value in ("NaN", "Infinity", "-Infinity") else value


def wire(value):
    if isinstance(value, torch.Tensor):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: wire(item) for key, item in value.items()}
    if isinstance(value, list):
        return [wire(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def tensor(value):
    return torch.tensor(plain(value), dtype=torch.float64)


def logprobs(case):
    logits, ids = tensor(case["logits"]), torch.tensor(case["ids"])
    scaled = torch.log_softmax(logits[:, :-1] / case["temperature"], dim=-1)
    picked = scaled.gather(-1, ids[:, 1:, None]).squeeze(-1)
    entropy = torch.distributions.Categorical(logits=logits).entropy()
    return {"logprobs": picked, "entropy": entropy, "log_sum_exp": torch.logsumexp(logits, dim=-1)}


def of_rows(logps, ref, mask, variant):
    """(B,): of the mean or the sum of a row's log-ratios; 0 where it has no token."""
    log_ratio = torch.where(mask, ref - logps, 0.0).sum(1)
    if variant["ofRow"] == "mean":
        log_ratio = log_ratio / mask.sum(1).clamp(min=1)
    value = estimate(-log_ratio, torch.zeros_like(log_ratio), None, {**variant, "ratioCorrection": False})
    return torch.where(mask.any(1), value, 0.0)


def estimate(logps, ref, old, variant):
    log_ratio = ref - logps
    clamp = plain(variant["clamp"])
    low, high = clamp if isinstance(clamp, list) else (None, None) if clamp is None else (-clamp, clamp)
    if variant["clampWhere"] == "log-ratio":
        log_ratio = torch.clamp(log_ratio, low, high)
    if variant["estimator"] == "k1":
        value = -log_ratio
    elif variant["estimator"] == "k2":
        value = torch.square(log_ratio) / 2
    elif variant["estimator"] == "abs":
        value = torch.abs(log_ratio)
    else:
        value = torch.exp(log_ratio) - 1 - log_ratio
    if variant["clampWhere"] == "estimate":
        value = value.clamp(min=low, max=high)
    return value * torch.exp(logps - old) if variant["ratioCorrection"] else value


def kl(case):
    logps = tensor(case["logprobs"]).requires_grad_()
    ref, variant = tensor(case["ref_logprobs"]), case["variant"]
    if "ofRow" in variant:
        value = of_rows(logps, ref, torch.ones_like(ref, dtype=torch.bool), variant)
        value.sum().backward()
        return {"kl": value.detach()[:, None].expand_as(ref), "slopes": logps.grad}
    value = estimate(logps, ref, tensor(case["old_logprobs"]), variant)
    value.sum().backward()
    return {"kl": value.detach(), "slopes": logps.grad}


def loss(case):
    settings = case["settings"]
    logps = tensor(case["logprobs"]).requires_grad_()
    old, ref = tensor(case["old_logprobs"]), tensor(case["ref_logprobs"])
    mask = torch.tensor(case["mask"]).bool()
    advantage = tensor(case["advantages"])[:, None]
    log_ratio = logps - old
    if settings.get("ratioLevel") == "sequence":
        means = torch.where(mask, log_ratio, 0.0).sum(1, keepdim=True) / mask.sum(1, keepdim=True).clamp(min=1)
        log_ratio = means.expand_as(log_ratio)
    clamp = plain(settings.get("logRatioClamp", "Infinity"))
    ratio = torch.exp(log_ratio.clamp(-clamp, clamp))
    clipped = ratio.clamp(1 - plain(settings["clipLow"]), 1 + plain(settings["clipHigh"]))
    if settings.get("objective") == "cispo":
        per_token = -clipped.detach() * advantage * logps
    else:
        per_token = -torch.minimum(ratio * advantage, clipped * advantage)
        bound = -plain(settings.get("dualClip", "Infinity")) * advantage
        per_token = torch.where(advantage < 0, torch.minimum(per_token, bound), per_token)
    beside = 0.0
    if settings["kl"] is not None and settings["klCoef"] != 0 and "ofRow" in settings["kl"]:
        value = of_rows(logps, ref, mask, settings["kl"])
        over = settings["kl"].get("over", "tokens")
        if over == "tokens":
            per_token = per_token + settings["klCoef"] * value[:, None]
        else:
            counted = mask.any(1).sum() if over == "rows with tokens" else torch.tensor(len(mask))
            beside = settings["klCoef"] * value.sum() / counted.clamp(min=1)
    elif settings["kl"] is not None and settings["klCoef"] != 0:
        # A KL that is multiplied by the ratio is multiplied by that of its level.
        level = logps - log_ratio if settings.get("ratioLevel") == "sequence" else old
        per_token = per_token + settings["klCoef"] * estimate(logps, ref, level, settings["kl"])
    row_sums = torch.where(mask, per_token, 0.0).sum(dim=1)
    lengths = mask.sum(dim=1)
    rows = (lengths > 0).sum() if settings["emptyRows"] == "skip" else torch.tensor(len(lengths))
    if settings["aggregation"] == "token-mean":
        total = row_sums.sum() / lengths.sum().clamp(min=1)
    elif settings["aggregation"] == "token-sum-norm":
        total = row_sums.sum() / settings["norm"]
    elif settings["aggregation"] == "seq-mean-token-sum":
        total = row_sums.sum() / rows.clamp(min=1)
    else:
        total = (row_sums / lengths.clamp(min=1)).sum() / rows.clamp(min=1)
    total = total + beside
    total.backward()
    return {"loss": total.detach(), "weights": logps.grad, "tokens": int(lengths.sum())}


def sft_loss(case):
    """Weights are the derivatives by each target's log-probability, read off dL/dlogits = -weight (p - onehot)."""
    logits = tensor(case["logits"]).requires_grad_()
    labels = torch.tensor(case["labels"])
    total = cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), reduction="sum")
    tokens = int((labels[:, 1:] != -100).sum())
    (total / max(tokens, 1)).backward()
    probabilities = torch.softmax(logits.detach()[:, :-1], dim=-1)
    targets = labels[:, 1:].clamp(min=0)[..., None]
    at_target = logits.grad[:, :-1].gather(-1, targets) / (probabilities.gather(-1, targets) - 1)
    weights = torch.zeros(labels.shape, dtype=torch.float64)
    weights[:, 1:] = -at_target.squeeze(-1)
    # A target that is certain, p = 1, has no gradient on the logits to read a weight off.
    weights[:, 1:][probabilities.gather(-1, targets).squeeze(-1) > 1 - 1e-6] = float("nan")
    weights[:, 1:][labels[:, 1:] == -100] = 0
    return {"loss": (total / max(tokens, 1)).detach(), "weights": weights, "tokens": tokens}


def advantages(case):
    rewards, groups = tensor(case["rewards"]), torch.tensor(case["group_ids"])
    variant = case["variant"]
    centred = torch.zeros_like(rewards)
    for group in groups.unique():
        here = groups == group
        own = rewards[here]
        if own.numel() < 2 or own.max() == own.min():
            continue
        if variant["baseline"] == "leave-one-out":
            centred[here] = own - (own.sum() - own) / (own.numel() - 1)
        else:
            centred[here] = own - own.mean()
    if variant["scaling"] == "none":
        return {"advantages": centred}
    result = torch.zeros_like(rewards)
    for row in centred.nonzero().flatten():
        if variant["scaling"] == "group":
            spread = rewards[groups == groups[row]]
        else:
            spread = centred if variant["batchOf"] == "centred" else rewards
        if variant["placement"] == "variance":
            divisor = torch.sqrt(torch.var(spread, correction=variant["ddof"]) + variant["epsilon"])
        else:
            divisor = torch.std(spread, correction=variant["ddof"]) + variant["epsilon"]
        result[row] = centred[row] / divisor
    return {"advantages": result}


def penalties(case):
    logits = tensor(case["logits"])[None]
    seen = torch.tensor([case["prompt"] + case["generated"]], dtype=torch.long)
    logits = RepetitionPenaltyLogitsProcessor(float(case["repetition"]))(seen, logits)[0]
    generated = torch.tensor(case["generated"], dtype=torch.long)
    counts = torch.bincount(generated, minlength=logits.numel())
    return {"logits": logits - case["frequency"] * counts - case["presence"] * (counts > 0)}


def collate(case):
    rows = [torch.tensor(row, dtype=torch.long) for row in case["rows"]]
    ones = [torch.ones_like(row) for row in rows]
    side = case["side"]
    mask = pad_sequence(ones, batch_first=True, padding_value=0, padding_side=side)
    return {
        "ids": pad_sequence(rows, batch_first=True, padding_value=case["pad"], padding_side=side),
        "attention_mask": mask,
        "position_ids": (mask.cumsum(-1) - 1).clamp(min=0),
    }


def unpaired_preference_loss(case):
    """TRL's own lines: the halves apart, 1 - sigmoid of each, one mean; the gradients are autograd's."""
    settings = case["settings"]
    rows = [[tensor(row).requires_grad_() for row in case[name]] for name in ("logprobs", "kl_logprobs")]
    policy, policy_kl = (torch.stack([row.sum() for row in each]) for each in rows)
    ref, ref_kl = (torch.stack([tensor(row).sum() for row in case[name]]) for name in ("ref_logprobs", "ref_kl_logprobs"))
    kl = (policy_kl - ref_kl).mean().detach().clamp(min=0) * (settings["objective"] == "kto")
    desirable = torch.tensor(case["desirable"]) == 1
    ratios, beta = policy - ref, settings["beta"]
    chosen = settings["desirableWeight"] * (1 - torch.sigmoid(beta * (ratios[desirable] - kl)))
    rejected = settings["undesirableWeight"] * (1 - torch.sigmoid(beta * (kl - ratios[~desirable])))
    loss = torch.cat((chosen, rejected)).mean()
    losses = torch.zeros_like(ratios).masked_scatter(desirable, chosen).masked_scatter(~desirable, rejected)
    weights = torch.autograd.grad(loss, rows[0], retain_graph=True)
    kl_weights = torch.autograd.grad(loss, rows[1], allow_unused=True, materialize_grads=True)
    return {
        "loss": loss,
        "losses": losses,
        "weights": [row.tolist() for row in weights],
        "kl_weights": [row.tolist() for row in kl_weights],
        "kl": kl,
    }


def balance_loss(case):
    """Experts times load and probability, the load by one_hot; the gradient is autograd's."""
    settings, experts, top_k = case["settings"], case["experts"], case["top_k"]
    logits = tensor(case["router_logits"]).requires_grad_()
    mask = torch.tensor(case["attention_mask"]) == 1
    rows = list(range(len(mask)))
    parts = {"batch": [rows], "micro-batch": case["micro_batches"], "sequence": [[row] for row in rows]}

    def of_tokens(gates):
        scores = gates.softmax(-1) if settings["scores"] == "softmax" else gates.sigmoid()
        chosen = gates.topk(1 if settings["counts"] == "first" else top_k, -1).indices
        load = torch.nn.functional.one_hot(chosen, experts).sum(1).double().mean(0)
        load = load / top_k if settings["counts"] == "choice" else load
        return experts * (load * (scores / scores.sum(-1, keepdim=True)).mean(0)).sum()

    def of_rows(part):
        gates = logits[part][mask[part]].unflatten(-1, (-1, experts))
        if settings["layers"] == "together":
            return of_tokens(gates.flatten(0, 1))
        losses = torch.stack([of_tokens(layer) for layer in gates.unbind(1)])
        return losses.mean() if settings["layers"] == "mean" else losses.sum()

    loss = settings["coef"] * torch.stack([of_rows(part) for part in parts[settings["scope"]]]).mean()
    return {"loss": loss, "router_weights": torch.autograd.grad(loss, logits)[0]}


STAGES = {
    "logprobs": logprobs,
    "kl": kl,
    "loss": loss,
    "other objectives": loss,
    "sft_loss": sft_loss,
    "unpaired_preference_loss": unpaired_preference_loss,
    "balance_loss": balance_loss,
    "advantages": advantages,
    "penalties": penalties,
    "collate": collate,
}

if __name__ == "__main__":
    cases = json.load(sys.stdin)["cases"]
    json.dump([wire(STAGES[case["stage"]](case)) for case in cases], sys.stdout, allow_nan=False)
