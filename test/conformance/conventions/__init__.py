"""Correct trainers of every legal convention: what may differ between right ones, differs here.

`python -m conformance.conventions NAME`; `--list` prints them as JSON. One implementation reads a record of
choices (`settings`). NAME declares all of them; NAME-undeclared makes the same choices and declares none."""

from dataclasses import replace

from lossproof.examples import common
from lossproof.examples.pipelines import replay
from lossproof.examples.rollouts import trajectory
from lossproof.examples.rollouts.penalties import penalties
from lossproof.examples.scores import entropies, full_kls

from . import batches, critics, losses, others, text
from .named import CONVENTIONS
from .settings import semantics

_UNDECLARED = "-undeclared"


def names():
    return [name + end for name in CONVENTIONS for end in ("", _UNDECLARED)]


def settings_of(name):
    """An undeclared trainer that ignores the temperature does not offer it: to offer it is to say that it is applied."""
    settings = CONVENTIONS[name.removesuffix(_UNDECLARED)]
    if name.endswith(_UNDECLARED) and settings.temperature_in_scoring is False:
        return replace(settings, temperature_in_scoring=None)
    return settings


def ops_of(settings):
    family = text.MAKERS[settings.family]()

    def render(messages, add_generation_prompt):
        return {"text": family.text(messages, add_generation_prompt)}

    def tokenize(route, messages, add_generation_prompt):
        answer = {"input_ids": family.ids(messages, add_generation_prompt)}
        if route == "sft":
            answer["labels"] = family.labels(messages, add_generation_prompt, settings.sft_target)
        return answer

    return {
        # The examples decode with the tokenizer of llama3.
        **{op: function for op, function in common.OPS.items() if op != "decode" or settings.family == "llama3"},
        "entropy": _like(settings, entropies),
        "full_kl": (_like(settings, full_kls), full_kls.CAN),
        "trajectory": (_trajectory(settings), {"after_stop": "any"}),
        "render": render,
        "tokenize": tokenize,
        **batches.ops(settings, family),
        **losses.ops(settings),
        **critics.ops(settings),
        **others.ops(settings),
        "penalties": (penalties, {"kinds": ["presence", "frequency", "repetition"]}),
        "contract": (replay.contract, {"orders": replay.ORDERS, "losses": replay.LOSSES}),
    }


def _like(settings, module):
    """This module's function for the layout."""
    if settings.span == "completion":
        return module.over_completions
    return module.over_predictors if settings.alignment == "predictor" else module.over_rows


def _trajectory(settings):
    function = trajectory.trajectory if settings.stop_token_in_mask else trajectory.without_stops
    if settings.truncated_completions_trained:
        return function

    def whole_or_not(prompt_ids, turns, advantage, eos_token_ids):
        """A rollout of which any turn was cut off is not trained."""
        row = trajectory.row(prompt_ids, turns, eos_token_ids)
        if not row["truncated"]:
            return function(prompt_ids, turns, advantage, eos_token_ids)
        row["loss_mask"] = [0] * len(row["loss_mask"])
        return trajectory.rows_of([row], advantage)

    return whole_or_not


def declared(name):
    """What `serve` is given beside the ops."""
    settings = settings_of(name)
    family = text.MAKERS[settings.family]()
    said = {
        "dtype": settings.dtype,
        "tensors": settings.tensors,
        "layout": {"alignment": settings.alignment, "span": settings.span},
    }
    if settings.pad != "free":
        said["tokens"] = family.tokens(settings.pad)
    if name.endswith(_UNDECLARED):
        return said
    return dict(said, version="0.1", semantics=semantics(settings), tokenizer=family.folder)
