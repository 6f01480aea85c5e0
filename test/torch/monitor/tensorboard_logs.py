# Writes logs with the libraries' own writers and prints what the libraries' own readers read back, as JSON.
# tensorboard_logs.py FOLDER
import json
import math
import os
import sys

folder = sys.argv[1]
os.environ.update(WANDB_MODE="offline", WANDB_SILENT="true", WANDB_DIR=folder)

import numpy as np
import pandas as pd
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

STEPS = [-2, -1, 0, 1, 2, 3, 128, 2**40]


def number(value):
    return value if math.isfinite(value) else repr(value)


def read_back(path):
    events = EventAccumulator(path, size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    tags = {tag: [[e.step, number(e.value), e.wall_time] for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    for tag in events.Tags()["tensors"]:
        from tensorboard.util import tensor_util

        arrays = [(e.step, tensor_util.make_ndarray(e.tensor_proto), e.wall_time) for e in events.Tensors(tag)]
        if all(array.dtype.kind == "f" and array.shape == () for _, array, _ in arrays):
            tags[tag] = [[step, number(float(array)), time] for step, array, time in arrays]
    return tags


def scalars():
    path = os.path.join(folder, "scalars")
    writer = SummaryWriter(path)
    writer.add_text("note", "no JSON")
    for step in STEPS:
        writer.add_scalar("train/loss", 1 / (step + 3.5), step)
        writer.add_scalar("损失", float("nan") if step % 2 else float("-inf"), step)
        writer.add_scalar("new", step * 0.5, step, new_style=True)
        writer.add_scalar("double", step * 0.1, step, new_style=True, double_precision=True)
        writer.add_scalars("lines", {"a": step, "b": -step}, step)
        writer.add_histogram("weights", np.arange(100), step)
        writer.add_image("picture", np.zeros((3, 8, 8)), step)
    writer.add_hparams({"lr": 0.1, "size": 4, "name": "x", "flag": True}, {"accuracy": 0.5}, run_name="hparams")
    writer.close()


def trainer():
    """What transformers writes while it trains: event files and trainer_state.json."""
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

    torch.manual_seed(0)
    os.environ["TENSORBOARD_LOGGING_DIR"] = os.path.join(folder, "trainer", "runs")
    model = GPT2LMHeadModel(GPT2Config(vocab_size=16, n_positions=8, n_embd=8, n_layer=1, n_head=1))
    rows = [{"input_ids": torch.arange(8) % 16, "labels": torch.arange(8) % 16} for _ in range(8)]
    args = TrainingArguments(
        output_dir=os.path.join(folder, "trainer"), max_steps=4, per_device_train_batch_size=2, logging_steps=1,
        save_steps=2, report_to=["tensorboard"], use_cpu=True, learning_rate=0.01, warmup_steps=1, disable_tqdm=True,
    )  # fmt: skip
    run = Trainer(model=model, args=args, train_dataset=rows)
    run.train()
    return [{key: value for key, value in entry.items() if key != "epoch"} for entry in run.state.log_history]


def offline():
    import wandb

    run = wandb.init(project="p", config={"lr": 0.1, "nest": {"kind": "adam"}, "none": None})
    for step in range(300):
        run.log({"train/loss": 1 / (step + 1), "nested": {"kl": step}, "train/global_step": 2 * step, "bad": float("nan"), "text": "t"})
    run.log({"table": wandb.Table(columns=["a"], data=[["x" * 100_000]]), "hist": wandb.Histogram([1, 2, 3]), "last": 1})
    run.finish()

    from wandb.proto import wandb_internal_pb2 as messages

    def numbers(name):
        return {field.name: field.number for field in messages.DESCRIPTOR.message_types_by_name[name].fields}

    return {name: numbers(name) for name in ["Record", "RunRecord", "HistoryRecord", "HistoryStep", "HistoryItem", "ConfigRecord", "ConfigItem"]}


def completions():
    """As GRPOTrainer writes them with log_completions."""
    os.makedirs(os.path.join(folder, "trl", "completions"))
    for step in [5, 10]:
        table = {
            "step": [step] * 3,
            "prompt": ["2+2=", "a\nb", "奖励"],
            "completion": ["4", "", "!!!"],
            "reward_func": [1.0, 0.0, float("nan")],
            "advantage": [0.5, -0.5, 0.0],
        }
        pd.DataFrame(table).to_parquet(os.path.join(folder, "trl", "completions", f"completions_{step:05d}.parquet"))


scalars()
history = trainer()
fields = offline()
completions()
roots = ["scalars", "scalars/lines_a", "scalars/lines_b", "scalars/hparams", "trainer/runs"]
print()
print(json.dumps({"read": {root: read_back(os.path.join(folder, root)) for root in roots}, "history": history, "fields": fields}))
