"""The loss that balances experts: experts times the sum of load and mean probability (Fedus et al. 2021, equations 4 to 6), as
transformers has it (loads and probabilities over all layers together), and of each sequence (DeepSeek-V3, equations 17 to 20)."""

import math


def balance_loss(coef, counts="token", scores="softmax", layers="together", scope="batch"):
    """The op with these settings; each part (batch, micro-batch, row) and, unless together, each layer has a loss."""

    def op(router_logits, attention_mask, experts, top_k, micro_batches):
        count = len(router_logits[0][0]) // experts
        slopes = [[[0.0] * len(token) for token in row] for row in router_logits]
        rows = list(range(len(router_logits)))
        parts = {"batch": [rows], "micro-batch": micro_batches, "sequence": [[row] for row in rows]}[scope]
        weight = coef / len(parts) / (count if layers == "mean" else 1)
        loss = 0.0
        for part in parts:
            by_layer = [
                [
                    (router_logits[row][at][first : first + experts], slopes[row][at], first)
                    for row in part
                    for at, on in enumerate(attention_mask[row])
                    if on
                ]
                for first in range(0, count * experts, experts)
            ]
            for tokens in [sum(by_layer, [])] if layers == "together" else by_layer:
                loss += weight * balanced(tokens, experts, top_k, counts, scores, weight)
        return {"loss": loss, "router_weights": slopes}

    return op


def balanced(tokens, experts, top_k, counts, scores, weight):
    """Experts times load and probability of these tokens (logits, slopes, where they begin), whose slopes are filled in."""
    taken = [probabilities(logits, scores) for logits, _, _ in tokens]
    load = loads([logits for logits, _, _ in tokens], experts, top_k, counts)
    mean = [sum(chances[expert] for chances, _ in taken) / len(tokens) for expert in range(experts)]
    for (_, slopes, first), (chances, steps) in zip(tokens, taken):
        met = sum(share * chance for share, chance in zip(load, chances))
        for expert, step in enumerate(steps):
            slopes[first + expert] = weight * experts * step * (load[expert] - met) / len(tokens)
    return experts * sum(share * chance for share, chance in zip(load, mean))


def loads(rows, experts, top_k, counts):
    """Which share of the tokens, or of their choices, goes to each expert."""
    chosen = 1 if counts == "first" else top_k
    load = [0.0] * experts
    for logits in rows:
        for expert in sorted(range(experts), key=lambda each: -logits[each])[:chosen]:
            load[expert] += 1 / len(rows) / (top_k if counts == "choice" else 1)
    return load


def probabilities(logits, scores):
    """(probabilities, the derivative of each score by its logit over the sum of all)."""
    if scores == "softmax":
        values = [math.exp(logit - max(logits)) for logit in logits]
        steps = values
    else:
        values = [1 / (1 + math.exp(-logit)) for logit in logits]
        steps = [value * (1 - value) for value in values]
    total = sum(values)
    return [value / total for value in values], [step / total for step in steps]


COEF = 0.02
OPS = {"balance_loss": (balance_loss(COEF), {"micro_batches": True})}
SEMANTICS = {
    "balance_coef": COEF,
    "balance_counts": "token",
    "balance_scores": "softmax",
    "balance_layers": "together",
    "balance_scope": "batch",
}
deepseek_loss = (balance_loss(0.0001, "choice", "sigmoid", "sum", "sequence"), {"micro_batches": True})
DEEPSEEK = {
    "balance_coef": 0.0001,
    "balance_counts": "choice",
    "balance_scores": "sigmoid",
    "balance_layers": "sum",
    "balance_scope": "sequence",
}
