"""The callback for transformers' Trainer, and so for TRL's trainers."""

from __future__ import annotations

import sys

from transformers import TrainerCallback

from ._watch import Watch

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from ._watch import Command


class Monitor(TrainerCallback):
    """`Trainer(..., callbacks=[Monitor(policy="stop")])`. Give it to every process: rank 0 is watched, and a stop is agreed on.

    policy: "warn" prints what is found, "stop" ends the training at a finding of `level` ("must", or "should" for both).
    command, options, report_to: as of `watch`."""

    def __init__(
        self,
        policy: Literal["warn", "stop"] = "warn",
        level: Literal["must", "should"] = "must",
        command: Command | None = None,
        options: Sequence[str] = (),
        report_to: str | Sequence[str] = (),
    ) -> None:
        # What is wrong is said now, and not an hour later when the training begins.
        Watch(policy, level, active=False, report_to=report_to)
        self.watch: Watch | None = None
        self._settings = dict(policy=policy, level=level, command=command, options=options, report_to=report_to)

    def on_train_begin(self, args, state, control, model=None, **_):
        self._close()
        if state.is_world_process_zero:
            self.watch = Watch(**self._settings, facts=_facts(args, state, model))

    def on_log(self, args, state, control, logs=None, **_):
        if self.watch is None or not logs:
            return
        # The last entry sums the training up: its numbers are no points of a series. A tracker's own callback ends its run before
        # this one hears of the end, so that the verdict comes now.
        if "train_runtime" in logs:
            self._close()
        else:
            self.watch.log(state.global_step, logs)

    def on_step_end(self, args, state, control, **_):
        # Among several it costs a word of each to the others: at the steps that are logged, which are the same for all.
        if control.should_log or getattr(args, "world_size", 1) == 1:
            self._perhaps_stop(args, control)

    def on_epoch_end(self, args, state, control, **_):
        self._perhaps_stop(args, control)

    def on_train_end(self, args, state, control, **_):
        self._close()

    def __getstate__(self):
        return {**self.__dict__, "watch": None}

    def _perhaps_stop(self, args, control):
        if self._settings["policy"] != "stop":
            return
        stop = self.watch is not None and self.watch.should_stop
        # A process that ends alone leaves the others waiting for it.
        if getattr(args, "world_size", 1) > 1:
            stop = _any_process(stop, args)
        if stop:
            control.should_training_stop = True

    def _close(self):
        if self.watch is not None:
            self.watch.close()


def _facts(args, state, model):
    facts = {}
    try:
        facts.update(args.to_dict())
        if state.max_steps > 0:
            facts["max_steps"] = state.max_steps
        config = getattr(model, "config", None)
        if config is not None:
            facts["model_config"] = config if isinstance(config, dict) else config.to_dict()
    except Exception as error:
        sys.stderr.write("lossproof: the trainer's settings cannot be told: %s: %s\n" % (type(error).__name__, error))
    return facts


def _any_process(stop, args):
    import torch

    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return False  # no way to agree: the findings are printed all the same
    flag = torch.tensor([1 if stop else 0], device=args.device)
    torch.distributed.all_reduce(flag, op=torch.distributed.ReduceOp.MAX)
    return bool(flag.item())
