"""The data-parallel trainer with other objectives than the clipped one: CISPO and GSPO."""

import math
from dataclasses import replace
from types import SimpleNamespace

from . import data_parallel
from .data_parallel import clamped, configured, count, loss_of, penalty


def like(name, op, function, capability, **semantics):
    """data_parallel with one op replaced and other declared semantics."""
    return SimpleNamespace(
        __name__="%s.%s" % (__name__, name),
        OPS=dict(data_parallel.OPS, **{op: (function, capability)}),
        DECLARED=dict(
            data_parallel.DECLARED, semantics=dict(data_parallel.DECLARED["semantics"], **semantics)
        ),
    )


def held(logprob, old_logprob, s):
    """The clipped ratio."""
    return min(max(math.exp(clamped(logprob, old_logprob, s)), 1 - s.clip_low), 1 + s.clip_high)


def cispo(logprob, old_logprob, advantage, s):
    """-sg(clip(r)) A log p: every token keeps a gradient, weighted by its clipped ratio (MiniMax-M1)."""
    weight = held(logprob, old_logprob, s)
    return -weight * advantage * logprob, -weight * advantage


CISPO = like(
    "cispo",
    "loss",
    loss_of(surrogate=cispo),
    {"micro_batches": True, "ranks": True},
    policy_objective="cispo",
    dual_clip=None,
)


def mean_log_ratio(logprobs, old_logprobs, mask):
    values = [p - o for p, o, on in zip(logprobs, old_logprobs, mask) if on]
    return sum(values) / max(len(values), 1)


def whole_row(weights, mask, slope):
    """The row's slope, shared by its tokens."""
    return [w + slope / max(sum(mask), 1) * on for w, on in zip(weights, mask)]


def gspo_of(log_ratio=mean_log_ratio, share=whole_row):
    def loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
        """One ratio per row, the geometric mean of its tokens' (GSPO); every token carries the row's loss."""
        s = configured(None)
        tokens = max(count(completion_mask), 1)
        total, weights = 0.0, [[0.0] * len(row) for row in completion_mask]
        for b in (b for rows in micro_batches for b in rows):
            mask = completion_mask[b]
            ratio = log_ratio(logprobs[b], old_logprobs[b], mask)
            policy, slope = data_parallel.surrogate(ratio, 0.0, advantages[b], replace(s, dual_clip=math.inf))
            for t, on in enumerate(mask):
                if on:
                    kl, kl_slope = penalty(logprobs[b][t], ref_logprobs[b][t], s)
                    total += policy + kl
                    weights[b][t] = kl_slope / tokens
            weights[b] = share(weights[b], mask, sum(mask) * slope / tokens)
        return {"loss": total / tokens, "loss_weights": weights, "trained_tokens": count(completion_mask)}

    return loss


GSPO = like("gspo", "loss", gspo_of(), {"micro_batches": True}, ratio_level="sequence", dual_clip=None)
