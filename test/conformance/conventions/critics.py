"""The critic's loss in every convention of the settings, with its slope by hand."""

import math

from .losses import factors
from .numbers import LOSSES


def ops(settings):
    return {"value_loss": (value_loss(settings), {"micro_batches": True})}


def value_loss(settings):
    rounded = LOSSES[settings.dtype]
    bound = math.inf if settings.value_clip is None else settings.value_clip

    def squared(value, old, target):
        """(value, slope by the value) of one token's error; of two the larger, and one that is held has no slope."""
        held = old + min(max(value - old, -bound), bound)
        free, clipped = rounded((value - target) ** 2), rounded((held - target) ** 2)
        return (clipped, 0.0) if clipped > free else (free, 2 * (value - target))

    def op(values, old_values, returns, completion_mask, micro_batches):
        weights = [[0.0] * len(row) for row in completion_mask]
        kind = settings.value_aggregation
        everything = factors(settings, completion_mask, range(len(completion_mask)), kind)
        local = settings.loss_normalization == "local"
        result = 0.0
        for part in micro_batches:
            factor = factors(settings, completion_mask, part, kind) if local else everything
            share = settings.value_loss_factor / (len(micro_batches) if local else 1)
            for b in part:
                for t, on in enumerate(completion_mask[b]):
                    if on:
                        value, slope = squared(values[b][t], old_values[b][t], returns[b][t])
                        result = rounded(result + rounded(value * factor[b] * share))
                        weights[b][t] = rounded(slope * factor[b] * share)
        answer = {"loss": result, "trained_tokens": sum(map(sum, completion_mask))}
        return dict(answer, loss_weights=weights) if settings.weights else answer

    return op
