"""Trains small models with and without `lossproof.callback.Monitor` and prints what they logged, as JSON. watched.py MODE FOLDER"""

import contextlib
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "trace" / "scripts"))
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import tiny
import torch
import transformers
from datasets import Dataset
from supervised import sentences
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

from lossproof.callback import Monitor

transformers.logging.set_verbosity_error()
torch.set_num_threads(1)
MODE, OUT = sys.argv[1:]
# Of the updates behind this one, the rate is a thousand times what it was.
ONSET = 30


class Pace(transformers.TrainerCallback):
    """As slow as a training that is worth watching, and begun when somebody watches: a tiny model is done before that."""

    def __init__(self, monitor, onset=None):
        self.monitor = monitor
        self.onset = onset

    def on_train_begin(self, args, state, control, **_):
        if self.monitor.watch is not None:
            self.monitor.watch.ready(120)

    def on_step_begin(self, args, state, control, optimizer=None, **_):
        time.sleep(0.1)
        if self.onset is not None and state.global_step + 1 == self.onset:
            for group in optimizer.param_groups:
                group["lr"] *= 1000


def parts():
    transformers.set_seed(0)
    tokenizer = tiny.letters(padding_side="right")
    ids = dict(pad_token_id=tokenizer.pad_token_id, bos_token_id=1, eos_token_id=tokenizer.eos_token_id)
    return tokenizer, tiny.rotary(len(tokenizer), seed=0, attention_dropout=0.1, **ids)


def common(steps, rate):
    return dict(
        tiny.PLAIN,
        output_dir=OUT,
        per_device_train_batch_size=8,
        max_steps=steps,
        learning_rate=rate,
        gradient_checkpointing=False,
        logging_steps=1,
    )


def sft(callbacks, steps=40, made=None, rate=3e-3, **more):
    tokenizer, model = made or parts()
    rows = [{"prompt": asked, "completion": said} for asked, said in sentences(0, 8 * steps)]
    trainer = SFTTrainer(
        model=model,
        args=SFTConfig(**{**common(steps, rate), **more}),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        callbacks=callbacks,
    )
    trainer.train()
    return points(trainer)


def grpo(callbacks, steps=12):
    """Sampling draws from torch's random state: a number that anybody else drew would be seen in every loss behind it."""
    tokenizer, model = parts()
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=lambda completions, **_: [said.count("e") / (1 + len(said)) for said in completions],
        args=GRPOConfig(**common(steps, 1e-3), num_generations=4, max_completion_length=12),
        train_dataset=Dataset.from_list([{"prompt": word} for word in "sun rain door lamp sea bird".split()]),
        processing_class=tokenizer,
        callbacks=callbacks,
    )
    trainer.train()
    return points(trainer)


TIMES = ("time", "runtime", "per_second", "step_time")


def points(trainer):
    """Every number that was logged, but for times."""
    history = trainer.state.log_history[:-1]
    return [{name: repr(value) for name, value in row.items() if not any(time in name for time in TIMES)} for row in history]


def healthy():
    return {
        name: [train([]), train([Monitor(policy="stop", level="should")]), train([Monitor()])]
        for name, train in (("sft", sft), ("sft, loaded by processes", loaded), ("grpo", grpo))
    }


def loaded(callbacks):
    return sft(callbacks, steps=10, dataloader_num_workers=2)


def diverging():
    """A model that has learned, trained further; then the rate is a thousand times too large."""
    made = parts()
    sft([], steps=60, made=made)
    monitor = Monitor(policy="stop")
    logged = sft([monitor, Pace(monitor, ONSET)], steps=200, made=made, rate=1e-3)
    return {"steps": len(logged), "findings": monitor.watch.findings, "verdict": monitor.watch.verdict}


def failing():
    """An exception in the training, and then another training in the same process."""
    monitor = Monitor()

    class Failing(Pace):
        def on_step_begin(self, args, state, control, **_):
            if state.global_step == 5:
                raise ValueError("out of memory")

    try:
        sft([monitor, Failing(monitor)], steps=10)
    except ValueError:
        pass
    first = monitor.watch
    sft([monitor], steps=10)
    return {"first": first.verdict, "second": monitor.watch.verdict, "same": first is monitor.watch}


def processes():
    """Two of them: the first is watched, and both end at the same step."""
    made = parts()
    sft([], steps=60, made=made)
    monitor = Monitor(policy="stop")
    logged = sft([monitor, Pace(monitor, ONSET)], steps=200, made=made, rate=1e-3)
    return {"rank": int(os.environ["RANK"]), "watched": monitor.watch is not None, "steps": len(logged)}


if __name__ == "__main__":
    os.makedirs(OUT, exist_ok=True)
    with contextlib.redirect_stdout(sys.stderr):
        result = globals()[MODE]()
    print(json.dumps(result), flush=True)
