"""Scores before and after an optimiser step, for op update."""

from ..lists import beside, pad_left, pad_right
from ..scores.toy_model import CLASSES, score_rows

LEARNING_RATE = 0.125


def scored(prompt_ids, completion_ids, weights):
    """log p of each completion token under these weights, ragged (B, .), through left-padded batches."""
    prompts, prompt_real = pad_left(prompt_ids, pad=0)
    completions, completion_real = pad_right(completion_ids, pad=0)
    rows = score_rows(beside(prompts, completions), beside(prompt_real, completion_real), weights)
    width = len(prompts[0]) if prompts else 0
    return [row[width : width + len(ids)] for row, ids in zip(rows, completion_ids)]


def step(weights, completion_ids):
    """Makes what was sampled likelier: the gradient of a token's log-probability by its own bias, roughly."""
    moved = list(weights)
    for ids in completion_ids:
        for id in ids:
            moved[id % CLASSES] += LEARNING_RATE
    return moved


def update(prompt_ids, completion_ids):
    """Rollout, first training pass, one step, and everyone who scores afterwards. The reference is a copy of the
    weights that the policy began with."""
    policy = [0.0] * CLASSES
    reference = list(policy)
    old = scored(prompt_ids, completion_ids, policy)
    answer = {
        "old": old,
        "before": scored(prompt_ids, completion_ids, policy),
        "ref_before": scored(prompt_ids, completion_ids, reference),
    }
    policy = step(policy, completion_ids)
    sampler = list(policy)  # the inference engine is sent the new weights
    return dict(
        answer,
        after=scored(prompt_ids, completion_ids, policy),
        ref_after=scored(prompt_ids, completion_ids, reference),
        sampler_after=scored(prompt_ids, completion_ids, sampler),
    )


OPS = {"update": (update, {"starts_at_reference": True})}
SEMANTICS = {}
