"""The loss of a critic: squared errors of its values, clipped around those at sampling as in PPO2 of OpenAI baselines, or not."""

# How far a value may move before it is held, and what its squared error is multiplied by.
CLIP = 0.2
FACTOR = 0.5


def clipped_loss(values, old_values, returns, completion_mask, micro_batches, ranks=None):
    """The mean over all trained tokens of the batch, whichever micro-batch and rank they are in; of two errors the
    larger, so that the clip only ever holds what has come nearer to its return."""
    tokens = sum(map(sum, completion_mask))
    return added(
        [b for part in micro_batches for b in part],
        completion_mask,
        lambda b: FACTOR / tokens,
        lambda b, t: clipped(values[b][t], old_values[b][t], returns[b][t]),
    )


def clipped(value, old_value, target):
    """(the larger squared error, its derivative by the value)."""
    held = old_value + min(max(value - old_value, -CLIP), CLIP)
    free, bound = (value - target) ** 2, (held - target) ** 2
    return (bound, 0.0) if bound > free else (free, 2 * (value - target))


def plain_loss(values, returns, completion_mask, micro_batches):
    """The mean over rows of the mean squared error of each, without a clip."""
    rows = [b for part in micro_batches for b in part]
    counts = [sum(mask) for mask in completion_mask]
    return added(
        rows,
        completion_mask,
        lambda b: 1 / (len(rows) * counts[b]),
        lambda b, t: ((values[b][t] - returns[b][t]) ** 2, 2 * (values[b][t] - returns[b][t])),
    )


def added(rows, completion_mask, share, error):
    """The sum of share(row) * error(row, token) over trained tokens, and its derivative by each value."""
    total, weights = 0.0, [[0.0] * len(mask) for mask in completion_mask]
    for b in rows:
        for t, on in enumerate(completion_mask[b]):
            if on:
                value, slope = error(b, t)
                total += share(b) * value
                weights[b][t] = share(b) * slope
    return {"loss": total, "loss_weights": weights, "trained_tokens": sum(map(sum, completion_mask))}


OPS = {"value_loss": (clipped_loss, {"micro_batches": True, "ranks": True})}
SEMANTICS = {"value_clip": CLIP, "value_loss_factor": FACTOR, "value_aggregation": "token-mean"}
PLAIN = {"value_clip": None, "value_loss_factor": 1.0, "value_aggregation": "seq-mean-token-mean"}
