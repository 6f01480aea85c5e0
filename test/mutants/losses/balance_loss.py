"""Wrong losses that balance experts."""

import math

from lossproof.examples import left_padded, stop_excluded
from lossproof.examples.losses.balance_loss import COEF, balance_loss, loads, probabilities

from ..registry import MUTANTS

OP = "balance_loss"
right = balance_loss(COEF)


def mutant(name, title, row, base=left_padded):
    return MUTANTS.add(name, title, base, OP, row=row)


def attended(router_logits, attention_mask):
    """(row, column) of each token that is none of padding."""
    return [(row, at) for row, mask in enumerate(attention_mask) for at, on in enumerate(mask) if on]


def experts_of(logits, experts):
    return [logits[first : first + experts] for first in range(0, len(logits), experts)]


def zeros(router_logits):
    return [[[0.0] * len(token) for token in row] for row in router_logits]


@mutant("balance-counts-padding", "Tokens of padding are counted", "MOE-01")
def counts_padding(router_logits, attention_mask, **rest):
    """load_balancing_loss_func(gate_logits, experts, top_k), as transformers called it before 4.38: the longer the padding, the
    more the experts that padding goes to are avoided. Fix: attention_mask."""
    return right(router_logits, [[1] * len(mask) for mask in attention_mask], **rest)


@mutant("balance-divides-by-all-tokens", "Loads and probabilities are divided by all columns", "MOE-01")
def divided_by_columns(router_logits, attention_mask, **rest):
    """sum(mask * x) / mask.numel(): padding is left out above the line and counted below. Fix: / mask.sum()."""
    share = sum(map(sum, attention_mask)) / sum(map(len, attention_mask))
    answer = right(router_logits, attention_mask, **rest)
    weights = [[[share**2 * w for w in token] for token in row] for row in answer["router_weights"]]
    return {"loss": share**2 * answer["loss"], "router_weights": weights}


@mutant("balance-padding-in-probabilities", "Padding counts in the probabilities, not in the load", "MOE-01")
def padding_in_probabilities(router_logits, attention_mask, experts, top_k, micro_batches):
    """The mask is multiplied into the one-hot choices, and router_probs.mean(0) goes over all tokens. Fix: both masked."""
    real = [router_logits[row][at] for row, at in attended(router_logits, attention_mask)]
    load = loads([each for token in real for each in experts_of(token, experts)], experts, top_k, "token")
    every = [each for row in router_logits for token in row for each in experts_of(token, experts)]
    taken = [probabilities(logits, "softmax")[0] for logits in every]
    mean = [sum(chances[expert] for chances in taken) / len(taken) for expert in range(experts)]
    return {"loss": COEF * experts * sum(f * p for f, p in zip(load, mean))}


@mutant("balance-loss-is-zero", "The loss is 0", "MOE-02")
def is_zero(router_logits, **_):
    """output_router_logits is not set, gate_logits is None, and the function returns 0: nothing is balanced, and nothing says so.
    Fix: ask for the router logits."""
    return {"loss": 0.0, "router_weights": zeros(router_logits)}


@mutant("balance-probabilities-detached", "The probabilities are detached, not the loads", "MOE-02")
def detached(router_logits, **rest):
    """f * P.detach(): the value is right, and a count has no gradient. Seen in another form in NeMo Automodel, where the tensor
    that carries the gradient was thrown away. Fix: P keeps its gradient."""
    return dict(right(router_logits, **rest), router_weights=zeros(router_logits))


@mutant("balance-coefficient-twice", "The coefficient is applied twice", "MOE-03")
def coefficient_twice(**args):
    """By the model, and by the trainer around it. Fix: one of them."""
    return balance_loss(COEF**2)(**args)


@mutant("balance-coefficient-not-applied", "The coefficient is not applied", "MOE-03")
def not_applied(**args):
    """if aux_loss_coeff > 0: loss += aux_loss. The router learns to balance, and nothing else. Fix: times the coefficient."""
    return balance_loss(1.0)(**args)


@mutant("balance-without-experts", "It is not multiplied by the number of experts", "MOE-03")
def without_experts(experts, **args):
    """(f * P).sum(): 128 experts are balanced with a 128th of the coefficient. Fix: * num_experts."""
    return balance_loss(COEF / experts)(experts=experts, **args)


@mutant("balance-mean-over-experts", "The mean over experts is taken, not the sum", "MOE-03", stop_excluded)
def mean_over_experts(experts, **args):
    """(f * P).mean() * experts: a sum was meant, or the square of experts. Fix: .sum()."""
    settings = ("choice", "sigmoid", "sum", "sequence")
    return balance_loss(0.0001 / experts, *settings)(experts=experts, **args)


@mutant("balance-upside-down", "The loss is subtracted", "MOE-03")
def upside_down(**args):
    """loss -= coef * aux_loss: what is crowded becomes more so. Fix: +."""
    return balance_loss(-COEF)(**args)


@mutant("balance-last-layer", "The last layer alone is balanced", "MOE-04")
def last_layer(router_logits, experts, **rest):
    """The router keeps self.aux_loss, and every layer overwrites it. Fix: a list."""
    cut = [[token[-experts:] for token in row] for row in router_logits]
    answer = right(cut, experts=experts, **rest)
    before = [0.0] * (len(router_logits[0][0]) - experts)
    return dict(answer, router_weights=[[[*before, *token] for token in row] for row in answer["router_weights"]])


@mutant("balance-first-choice", "The first choice alone is counted", "MOE-04")
def first_choice(**args):
    """argmax(probs, -1) from a model of one choice, in one of two. Fix: topk."""
    return balance_loss(COEF, "first")(**args)


@mutant("balance-of-micro-batches", "Loads are those of micro-batches", "MOE-05")
def of_micro_batches(**args):
    """The loss of each micro-batch, averaged, where the batch is declared: of a micro-batch with one topic each expert gets a
    share of that topic. Fix: loads are accumulated."""
    return balance_loss(COEF, scope="micro-batch")(**args)


@mutant("balance-last-micro-batch", "The last micro-batch alone is balanced", "MOE-05")
def last_micro_batch(micro_batches, router_logits, attention_mask, **rest):
    """loss = main_loss_sum + aux_loss: the sum is over micro-batches, and the other name is that of the last. Fix: +=."""
    rows = micro_batches[-1]
    picked = ([each[row] for row in rows] for each in (router_logits, attention_mask))
    return {"loss": right(*picked, micro_batches=[list(range(len(rows)))], **rest)["loss"]}


@mutant("balance-softmax-over-tokens", "The softmax is taken over tokens", "MOE-06")
def over_tokens(router_logits, attention_mask, experts, top_k, micro_batches):
    """softmax(dim=1) of logits that have lost their batch: a token's probabilities add up to anything. Fix: dim=-1."""
    real = [router_logits[row][at] for row, at in attended(router_logits, attention_mask)]
    rows = [each for token in real for each in experts_of(token, experts)]
    load = loads(rows, experts, top_k, "token")
    sums = [sum(math.exp(row[expert]) for row in rows) for expert in range(experts)]
    chances = [[math.exp(logit) / total for logit, total in zip(row, sums)] for row in rows]
    mean = [sum(row[expert] for row in chances) / len(rows) for expert in range(experts)]
    return {"loss": COEF * experts * sum(f * p for f, p in zip(load, mean))}


@mutant("balance-soft-load", "Probabilities stand in place of the load", "MOE-06")
def soft_load(router_logits, attention_mask, experts, top_k, micro_batches):
    """experts * (P ** 2).sum(): it has a gradient through both, and falls although one expert gets every token by a narrow
    margin. Fix: counts."""
    real = [router_logits[row][at] for row, at in attended(router_logits, attention_mask)]
    rows = [probabilities(each, "softmax")[0] for token in real for each in experts_of(token, experts)]
    mean = [sum(row[expert] for row in rows) / len(rows) for expert in range(experts)]
    return {"loss": COEF * top_k * experts * sum(p**2 for p in mean)}


@mutant("balance-chosen-probabilities", "Probabilities of experts that are not chosen are left out", "MOE-06")
def chosen_probabilities(router_logits, attention_mask, experts, top_k, micro_batches):
    """P is the mean of the gates that the experts' outputs are weighed with: 0 for all experts beyond top_k, and renormalised.
    Fix: the softmax before the top_k."""
    real = [router_logits[row][at] for row, at in attended(router_logits, attention_mask)]
    rows = [each for token in real for each in experts_of(token, experts)]
    load = loads(rows, experts, top_k, "token")
    gates = [gate(row, top_k) for row in rows]
    mean = [sum(row[expert] for row in gates) / len(rows) for expert in range(experts)]
    return {"loss": COEF * experts * sum(f * p for f, p in zip(load, mean))}


def gate(logits, top_k):
    kept = sorted(range(len(logits)), key=lambda each: -logits[each])[:top_k]
    total = sum(math.exp(logits[each]) for each in kept)
    return [math.exp(logit) / total if expert in kept else 0.0 for expert, logit in enumerate(logits)]
