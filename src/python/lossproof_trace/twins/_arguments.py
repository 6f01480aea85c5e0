"""Changes of transformers' Trainer, and of all that derive from it: how many rows it takes at once, and where it begins."""

import functools
import os


def accumulation(told, arguments):
    """All rows of a step at once where they come in several parts, and in parts where they come at once."""
    rows, parts = arguments.per_device_train_batch_size, arguments.gradient_accumulation_steps
    if not isinstance(rows, int) or not isinstance(parts, int):
        return
    if parts > 1:
        now = (rows * parts, 1)
    elif rows > 1:
        now = (rows // 2, 2) if rows % 2 == 0 else (1, rows)
    else:
        return
    arguments.per_device_train_batch_size, arguments.gradient_accumulation_steps = now
    told.applied(was=[rows, parts], now=list(now))


def ranks(told, arguments):
    """Half of the rows for each of two processes; the command starts two."""
    rows, parts = arguments.per_device_train_batch_size, arguments.gradient_accumulation_steps
    if not isinstance(rows, int) or not isinstance(parts, int):
        return
    if rows % 2 == 0:
        now = (rows // 2, parts)
    elif parts % 2 == 0:
        now = (rows, parts // 2)
    else:
        return
    arguments.per_device_train_batch_size, arguments.gradient_accumulation_steps = now
    told.applied(was=[1, rows, parts], now=[2, *now])


def save(told, arguments):
    """A checkpoint after the step that a later run goes on from; none where it is meant to have no optimiser in it."""
    if getattr(arguments, "save_only_model", False):
        return
    arguments.output_dir = told.asked["checkpoint"]
    arguments.save_strategy, arguments.save_steps = "steps", told.asked["at"]
    told.applied()


CHANGES = {"accumulation": accumulation, "ranks": ranks, "save": save}


def install(told, module):
    """transformers.training_args is imported. What is saved goes into a folder of this run's own, so that no run writes over what
    the user has, unless another run is to go on from it (`keeps`)."""
    change, keeps = CHANGES.get(told.name), told.asked.get("keeps")
    owner = module.TrainingArguments
    original = owner.__post_init__

    @functools.wraps(original)
    def post_init(self, *args, **kwargs):
        # A configuration that derives from it may make its own checks before.
        if not getattr(self, "_lossproof_twin", False):
            self._lossproof_twin = True
            with told.session.guard("training arguments"):
                # It can go on from a checkpoint: the steps after it are needed, too.
                told.session.wanted += told.asked.pop("more", 0)
                if not keeps and getattr(self, "output_dir", None):
                    self.output_dir = os.path.join(told.session.folder, "output")
                if change is not None:
                    change(told, self)
        return original(self, *args, **kwargs)

    owner.__post_init__ = post_init


def install_resuming(told, module):
    """transformers.trainer is imported."""
    original = module.Trainer.train

    @functools.wraps(original)
    def train(self, resume_from_checkpoint=None, *args, **kwargs):
        with told.session.guard("the checkpoint of another run"):
            found = module.get_last_checkpoint(told.asked["checkpoint"])
            if found is not None:
                resume_from_checkpoint = found
                told.applied()
        return original(self, resume_from_checkpoint, *args, **kwargs)

    module.Trainer.train = train
