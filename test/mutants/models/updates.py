"""Wrong optimiser steps: weights that do not arrive, and references that move along."""

from conformance import data_parallel

from ..registry import MUTANTS


def wrong_update(name, title, row="", **more):
    def register(change):
        def update(prompt_ids, completion_ids):
            return change(dict(RIGHT_UPDATE(prompt_ids, completion_ids)))

        update.__doc__ = change.__doc__
        MUTANTS.add(name, title, data_parallel, "update", row=row, **more)(update)
        return change

    return register


RIGHT_UPDATE = data_parallel.OPS["update"][0]


@wrong_update("cache-of-old-weights", "The inference engine goes on with scores of the old weights", "LP-14")
def cached(answer):
    """The prefix cache was not flushed when the weights were pushed."""
    return dict(answer, sampler_after=answer["before"])


@wrong_update("reference-is-the-policy", "The reference is the policy itself, not a copy", "LP-15")
def shared(answer):
    """reference = policy: both names are one network, and the KL is 0 for ever."""
    return dict(answer, ref_after=answer["after"])


@wrong_update("reference-of-another-network", "The reference is not what the policy starts from", rows=("LP-15",))
def another(answer):
    """The reference was loaded before the adapter was merged."""
    return dict(answer, ref_before=[[x - 0.125 for x in row] for row in answer["ref_before"]])


@wrong_update("old-scores-of-another-pass", "Old log-probabilities come from a pass that was batched differently", "LP-16")
def rebatched(answer):
    """The rollout's pass rounded in another batch shape: by as much as the loss clips."""
    old = [[x + (0.0625 if at % 2 else -0.03125) for at, x in enumerate(row)] for row in answer["old"]]
    return dict(answer, old=old)


@wrong_update("optimiser-step-lost", "The optimiser steps over weights that are not the model's")
def lost(answer):
    """The optimiser was built before the model was wrapped, over parameters that are no longer used."""
    return dict(answer, after=answer["before"], sampler_after=answer["before"])


@wrong_update("optimiser-steps-to-nan", "After an optimiser step every score is NaN", rows=("NUM-01",))
def exploded(answer):
    """The gradient of an empty row is NaN, and the step writes it into every weight."""
    nan = [[float("nan") for _ in row] for row in answer["after"]]
    return dict(answer, after=nan, sampler_after=nan)


@MUTANTS.add(
    "update-weights-not-put-back",
    "The step of one request is still there in the next",
    data_parallel,
    row="LP-14",
)
def update(prompt_ids, completion_ids):
    """The weights were copied behind the step instead of before it, and what is put back is what was there. Fix: the other
    order."""
    answer = RIGHT_UPDATE(prompt_ids, completion_ids)
    STEPS.append(1)
    drift = 0.01 * len(STEPS)
    return {name: [[x - drift for x in row] for row in rows] for name, rows in answer.items()}


STEPS = []
