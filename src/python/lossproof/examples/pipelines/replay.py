"""A replay buffer and a policy that trains on what it hands over, for op `contract`.

The hand-over is by name. The two sides may disagree about the order, not about what a thing is."""

from ..lists import pad_left
from ..scores.toy_model import score_rows

ORDERS = [
    ["current_batch", "target_batch", "segments"],
    ["current_batch", "target_batch", "train_iter", "segments"],
]
LOSSES = ["sft", "rft"]


def contract(order, segments, enabled):
    """One training step on a sampled batch: which losses ran, on how many tokens, and their values."""
    return learn(unpack(order, sample(order, segments)), enabled)


def sample(order, segments):
    """The buffer's side: a list of elements in the agreed order."""
    elements = {
        "current_batch": [segment["prompt_ids"] for segment in segments],
        "target_batch": [segment["reward"] for segment in segments],
        "train_iter": 1,
        "segments": segments,
    }
    return [elements[name] for name in order]


def unpack(order, data):
    """The policy's side: elements by name; a missing `segments` is an error here, not a loss of zero later."""
    batch = dict(zip(order, data))
    if "segments" not in batch:
        raise KeyError("the batch carries no segments: %s" % ", ".join(order))
    return batch


def learn(batch, enabled):
    """Every enabled loss trains on each completion token of each segment."""
    segments = batch["segments"]
    executed, trained_tokens, losses = {}, {}, {}
    for name in enabled:
        scored = list(zip(segments, completion_logprobs(segments)))
        executed[name] = 1 if segments else 0
        trained_tokens[name] = sum(len(logprobs) for _, logprobs in scored)
        losses[name] = LOSS[name](scored) / max(trained_tokens[name], 1)
    return {"executed": executed, "trained_tokens": trained_tokens, "losses": losses}


def sft(scored):
    """Negative log-likelihood, summed."""
    return -sum(sum(logprobs) for _, logprobs in scored)


def rft(scored):
    """REINFORCE: weighted with the segment's reward, summed."""
    return -sum(segment["reward"] * sum(logprobs) for segment, logprobs in scored)


LOSS = {"sft": sft, "rft": rft}


def completion_logprobs(segments):
    """log p of each completion token given what stands before it, ragged (B, ·)."""
    input_ids, attention_mask = pad_left([s["prompt_ids"] + s["completion_ids"] for s in segments], pad=0)
    scores = score_rows(input_ids, attention_mask)
    return [row[len(row) - len(s["completion_ids"]) :] for row, s in zip(scores, segments)]
