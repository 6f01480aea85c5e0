"""Which TRL there is, which the adapters are tested with, and of its configuration only what that version has."""

import dataclasses
import os
import tempfile

import lossproof

from ._tiny import VERSION, stop, transformers

# `npm run test:trainers` runs every adapter on these: the oldest, one in the middle, and what the package pins.
TESTED = ("0.15.2", "0.24.0", "1.13.0")


def has_field(config, name):
    return any(field.name == name for field in dataclasses.fields(config))


def configured(config, **fields):
    """An instance of this configuration class; what its version has no field for is left out."""
    folder = tempfile.mkdtemp(prefix="lossproof-")
    base = {"output_dir": folder, "use_cpu": True, "bf16": False, "gradient_checkpointing": False, "report_to": "none"}
    made = config(**{name: value for name, value in {**base, **fields}.items() if has_field(config, name)})
    os.rmdir(folder)  # named, and never written
    return made


def logged(trainer):
    """What it logs in training; at first that was one dict for training and evaluation, or kept under another name."""
    if not hasattr(trainer, "_metrics"):
        return trainer._stored_metrics["train"]
    metrics = trainer._metrics
    return metrics["train"] if isinstance(metrics.get("train"), dict) else metrics


def rows_of(trainer):
    """A trainer in training mode, as Trainer.train() has it at its first step."""
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1
    return trainer


def needed(name, least, found):
    """Ends the program where this TRL has not what the whole adapter stands on."""
    if not found:
        stop("%s drives TRL from %s on; this is TRL %s" % (name, least, VERSION))


# What a configuration calls the tokens that it cuts prompts and rows at, by default 512 and 1,024 in many versions.
LENGTHS = ("max_prompt_length", "max_length", "max_seq_length")


def serve(name, *configs, lacks=None, notes=(), semantics=None, cut_at=(), **declared):
    """lossproof.serve with what is to be said of the version: that it is none of the tested ones, what it lacks, where it cuts
    (at the lengths of its configurations, and where else the adapter says)."""
    lacks = dict(lacks or {})
    lengths = {getattr(config, each, None) for config in configs for each in LENGTHS}.union(cut_at)
    semantics = dict(semantics or {}, cut_at=sorted(length for length in lengths if isinstance(length, int)))
    notes = list(notes)
    if VERSION not in TESTED:
        notes.append(
            "%s is tested with TRL %s; this is TRL %s on transformers %s: an error may be the adapter's"
            % (name, ", ".join(TESTED), VERSION, transformers.__version__)
        )
    lossproof.serve(name=name, version=VERSION, lacks=lacks, notes=notes, dtype="float32", semantics=semantics, **declared)
