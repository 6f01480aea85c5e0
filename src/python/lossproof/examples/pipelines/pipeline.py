"""Several losses on the same segments: which is updated when, and what the world model and the language model see.

The language model may be handed to a trainer of its own where that is installed; else the built-in one does it,
and says so."""

LOSSES = ["world_model", "sft", "rft"]
MODES = ["parallel", "sequential", "alternating"]
OPTIONAL = {"rft": "ray-ppo"}
BUILT_IN, FALLBACK = "built-in", "fallback"
PADDING = 0


def schedule(mode, iterations, frequencies, enabled, optional):
    """The losses of each iteration, and who trains each enabled one."""
    losses = [loss for loss in LOSSES if loss in enabled]
    if mode not in MODES:
        raise ValueError("no mode %r; there are %s" % (mode, ", ".join(MODES)))
    return {
        "updates": [due(mode, i, losses, frequencies) for i in range(iterations)],
        "trainers": [trainer_of(loss, optional) for loss in enabled],
    }


def due(mode, i, losses, frequencies):
    """Alternating: one in turn, whatever its frequency. Otherwise every loss whose turn it is, in order."""
    if mode == "alternating":
        return [losses[i % len(losses)]] if losses else []
    return [loss for loss in losses if i % frequencies[loss] == 0]


def trainer_of(loss, installed):
    wanted = OPTIONAL.get(loss)
    if wanted is None:
        return BUILT_IN
    return wanted if wanted in installed else FALLBACK


def segment_rows(segments):
    """Each step as one row of the language model: its own prompt, what was done there, what came of it."""
    return {
        "prompt_ids": [list(segment["prompt_ids"]) for segment in segments],
        "completion_ids": [list(segment["completion_ids"]) for segment in segments],
        "rewards": [segment["reward"] for segment in segments],
    }


def unroll(observations, actions, rewards, starts, unroll_steps):
    """A window of K steps of each segment, all four cut to the same steps and padded behind the last one."""
    steps = range(unroll_steps)
    return {
        "observations": window(observations, starts, unroll_steps),
        "actions": window(actions, starts, unroll_steps),
        "rewards": [[float(x) for x in row] for row in window(rewards, starts, unroll_steps)],
        "mask": [[1 if start + k < len(row) else 0 for k in steps] for row, start in zip(actions, starts)],
    }


def window(rows, starts, width):
    return [
        (row[start : start + width] + [PADDING] * width)[:width] for row, start in zip(rows, starts)
    ]


OPS = {
    "schedule": (schedule, {"losses": LOSSES, "modes": MODES, "optional_trainers": OPTIONAL}),
    "segment_rows": segment_rows,
    "unroll": unroll,
}
SEMANTICS = {}
