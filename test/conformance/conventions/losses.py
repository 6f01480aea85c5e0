"""KL, advantages, policy loss and supervised loss in every convention of the settings, with their slopes by hand.

Every step is rounded to what losses are computed in. Arrays are whatever width the layout has: nothing here shifts."""

import math

from lossproof.examples.lists import log_softmax

from .numbers import LOSSES, total
from .text import IGNORED


def ops(settings):
    return {
        "kl": (kl(settings), {"kl_estimator": list(settings.kl_named)} if settings.kl_named else {}),
        "advantages": advantages(settings),
        "loss": loss(settings),
        "sft_loss": (sft_loss(settings), {"micro_batches": True}),
    }


def estimate(d, estimator):
    """(value, slope by d) with d = ref - logprob (Schulman 2020); abs is no estimate of a KL, and is in use."""
    if estimator == "k1":
        return -d, -1.0
    if estimator == "k2":
        return d * d / 2, d
    if estimator == "abs":
        return abs(d), (d > 0) - (d < 0)
    return math.expm1(d) - d, math.expm1(d)


def kl_term(settings, logprob, ref, old, estimator=None):
    """(value, slope by logprob) of one token's KL; a clamp that binds has no slope, the ratio has its own."""
    bound = math.inf if settings.kl_clamp is None else settings.kl_clamp
    d = ref - logprob
    free = True
    if settings.kl_clamp_on == "log-ratio" and abs(d) > bound:
        d, free = math.copysign(bound, d), False
    value, slope = estimate(d, estimator or settings.kl_estimator)
    if settings.kl_clamp_on == "estimate" and abs(value) > bound:
        value, free = math.copysign(bound, value), False
    slope = -slope if free else 0.0
    if settings.kl_ratio_correction:
        ratio = math.exp(logprob - old)
        value, slope = value * ratio, (slope + value) * ratio
    return value, slope


def kl(settings):
    rounded = LOSSES[settings.dtype]

    def answer(tracks, completion_mask, estimator):
        rows = [
            [rounded(kl_term(settings, p, q, old, estimator)[0]) if on else 0.0 for p, old, q, on in zip(*row)]
            for row in zip(*tracks, completion_mask)
        ]
        count = max(sum(map(sum, completion_mask)), 1)
        return {"kl": rows, "mean_kl": rounded(total((v for row in rows for v in row), rounded) / count)}

    def one(logprobs, old_logprobs, ref_logprobs, completion_mask):
        return answer((logprobs, old_logprobs, ref_logprobs), completion_mask, None)

    def named(logprobs, old_logprobs, ref_logprobs, completion_mask, kl_estimator):
        return answer((logprobs, old_logprobs, ref_logprobs), completion_mask, kl_estimator)

    return named if settings.kl_named else one


def mean(values, rounded):
    return rounded(total(values, rounded) / len(values))


def advantages(settings):
    rounded = LOSSES[settings.dtype]
    kind = settings.advantage_baseline

    def deviation(values):
        degrees = len(values) - settings.advantage_ddof
        if degrees < 1:
            return 0.0
        centre = mean(values, rounded)
        squares = total((rounded(rounded(v - centre) ** 2) for v in values), rounded)
        return rounded(math.sqrt(rounded(squares / degrees)))

    def centred(reward, group, batch):
        if kind == "none":
            return reward
        own = [r for r, _ in (batch if kind == "batch-mean" else group)]
        # Said before any arithmetic: the rounding of a mean must not be divided by an epsilon.
        if max(own) == min(own):
            return 0.0
        if kind == "leave-one-out-max":
            # Tang et al. 2025: what the group's best loses without this row.
            best, second = sorted(own, reverse=True)[:2]
            return rounded(best - second) if reward == best else 0.0
        if kind == "length-weighted":
            # Hao et al. 2025: of every token the reward of its row.
            weighted = total((rounded(r * length) for r, length in group), rounded)
            return rounded(reward - rounded(weighted / sum(length for _, length in group)))
        if kind == "leave-one-out":
            # Ahmadian et al. 2024: the mean of the others, as G / (G - 1) of the distance to the mean of all.
            return rounded(rounded(reward - mean(own, rounded)) * len(own) / (len(own) - 1))
        return rounded(reward - mean(own, rounded))

    def scaled(value, spread):
        if value == 0.0 or settings.advantage_scaling == "none":
            return value
        epsilon = settings.advantage_epsilon
        if settings.advantage_epsilon_placement == "variance":
            return rounded(value / rounded(math.sqrt(rounded(spread * spread + epsilon))))
        return rounded(value / rounded(spread + epsilon))

    def op(rewards, group_ids, lengths):
        rewards = [rounded(reward) for reward in rewards]
        batch = list(zip(rewards, lengths))
        groups = {}
        for row, group in zip(batch, group_ids):
            groups.setdefault(group, []).append(row)
        values = [centred(r, groups[g], batch) for r, g in zip(rewards, group_ids)]
        if settings.advantage_scaling == "batch":
            spread = deviation(values if settings.batch_of == "centred" else rewards)
            return {"advantages": [scaled(value, spread) for value in values]}
        spreads = {group: deviation([r for r, _ in rows]) for group, rows in groups.items()}
        return {"advantages": [scaled(v, spreads[g]) for v, g in zip(values, group_ids)]}

    return op


def factors(settings, completion_mask, rows, kind=None):
    """{row: weight of each of its tokens} of these rows under the aggregation."""
    counts = {b: sum(completion_mask[b]) for b in rows}
    tokens = sum(counts.values())
    filled = sum(count > 0 for count in counts.values())
    size = filled if settings.empty_rows == "skip" else len(rows)
    kind = kind or settings.loss_aggregation
    norm = settings.loss_norm * (len(completion_mask) if settings.norm_per == "row" else 1)
    denominators = {
        "token-mean": lambda count: tokens,
        "seq-mean-token-mean": lambda count: size * count,
        "seq-mean-token-sum": lambda count: size,
        "token-sum-norm": lambda count: norm,
    }
    return {b: 1 / denominators[kind](count) if count else 0.0 for b, count in counts.items()}


def surrogate(settings, ratio, logprob, advantage):
    """(value, slope by logprob) of -min(r A, clip(r) A), of its dual clip, or of CISPO's -sg(clip(r)) A logprob."""
    low = 0.0 if settings.clip_low is None else 1 - settings.clip_low
    high = math.inf if settings.clip_high is None else 1 + settings.clip_high
    clipped = min(max(ratio, low), high)
    if settings.policy_objective == "cispo":
        return -clipped * advantage * logprob, -clipped * advantage
    if settings.dual_clip is not None and advantage < 0 and ratio > settings.dual_clip:
        return -settings.dual_clip * advantage, 0.0
    if clipped * advantage < ratio * advantage:
        return -clipped * advantage, 0.0
    return -ratio * advantage, -ratio * advantage


def loss(settings):
    rounded = LOSSES[settings.dtype]
    in_loss = settings.kl_placement == "loss" and settings.kl_coef != 0
    bound = math.inf if settings.log_ratio_clamp is None else settings.log_ratio_clamp

    def row_terms(args, b):
        """[(column, value, slope)] of a row's tokens. One ratio per row is the geometric mean of its tokens' (GSPO):
        every token carries it, and all of them share its slope, so that each has that of one."""
        logprobs, old, ref, advantages, mask = args
        on = [t for t, kept in enumerate(mask[b]) if kept]
        logs = [logprobs[b][t] - old[b][t] for t in on]
        if settings.ratio_level == "sequence" and on:
            logs = [sum(logs) / len(on)] * len(on)
        for t, log_ratio in zip(on, logs):
            held = min(max(log_ratio, -bound), bound)
            value, slope = surrogate(settings, math.exp(held), logprobs[b][t], advantages[b])
            if held != log_ratio and settings.policy_objective == "clip":
                slope = 0.0
            if in_loss:
                term, bend = kl_term(settings, logprobs[b][t], ref[b][t], old[b][t])
                value, slope = value + settings.kl_coef * term, slope + settings.kl_coef * bend
            yield t, rounded(value), rounded(slope)

    def rewarding(
        logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches, entropy=None
    ):
        args = (logprobs, old_logprobs, ref_logprobs, advantages, completion_mask)
        weights = [[0.0] * len(row) for row in completion_mask]
        everything = factors(settings, completion_mask, range(len(completion_mask)))
        result = 0.0
        for part in micro_batches:
            local = settings.loss_normalization == "local"
            factor = factors(settings, completion_mask, part) if local else everything
            share = 1 / len(micro_batches) if local else 1.0
            for b in part:
                for t, value, slope in row_terms(args, b):
                    if entropy is not None:
                        value = rounded(value - settings.entropy_coef * entropy[b][t])
                    result = rounded(result + rounded(value * factor[b] * share))
                    weights[b][t] = rounded(slope * factor[b] * share)
        answer = {"loss": result, "trained_tokens": sum(map(sum, completion_mask))}
        return dict(answer, loss_weights=weights) if settings.weights else answer

    def plain(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
        return rewarding(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches)

    if settings.entropy_coef is None:
        return plain, {"micro_batches": True}
    return rewarding, {"micro_batches": True, "entropy": True}


def sft_loss(settings):
    rounded = LOSSES[settings.dtype]
    over_rows = settings.sft_aggregation == "seq-mean-token-mean"
    local = settings.loss_normalization == "local"

    def shares(counts, rows):
        """{row: weight of each of its labels}; a row without any is a row of the mean, or is skipped."""
        tokens = sum(counts[b] for b in rows)
        size = sum(counts[b] > 0 for b in rows) if settings.empty_rows == "skip" else len(rows)
        return {b: 1 / (size * counts[b] if over_rows else tokens) if counts[b] else 0.0 for b in rows}

    def op(labels, logits, micro_batches):
        counts = [sum(label != IGNORED for label in row[1:]) for row in labels]
        everything = shares(counts, range(len(labels)))
        weights = [[0.0] * len(row) for row in labels]
        result = 0.0
        for part in micro_batches:
            share = shares(counts, part) if local else everything
            for b in part:
                weight = share[b] / (len(micro_batches) if local else 1)
                for t in range(1, len(labels[b])):
                    if labels[b][t] != IGNORED:
                        logprob = log_softmax(logits[b][t - 1], labels[b][t])
                        factor = weight * math.exp(logprob) if settings.sft_objective == "dft" else weight
                        result = rounded(result - rounded(factor * logprob))
                        weights[b][t] = rounded(-factor)
        if settings.alignment == "predictor" and settings.span == "row":
            weights = [row[1:] for row in weights]
        return {"loss": result, "loss_weights": weights, "trained_tokens": sum(counts)}

    return op
