"""A watched training that goes wrong, and what wandb, mlflow and trackio have of it afterwards, as JSON. reported.py MODE FOLDER"""

import json
import os
import sys
from pathlib import Path

MODE, OUT = sys.argv[1:]
os.chdir(OUT)
os.environ.update(WANDB_MODE="offline", WANDB_DIR=OUT, WANDB_SILENT="true", TRACKIO_DIR=OUT + "/trackio", CUDA_VISIBLE_DEVICES="")
os.environ.update(MLFLOW_TRACKING_URI=Path(OUT, "mlruns").as_uri(), MLFLOW_ALLOW_FILE_STORE="true")

import mlflow
import trackio
import wandb

from lossproof.callback import watch

NAMES = ["wandb", "mlflow", "trackio"]


def offline():
    """Of the file that a run of wandb leaves to be synchronised: its alerts, and its summary."""
    from wandb.proto import wandb_internal_pb2

    (path,) = Path(OUT).glob("wandb/offline-run-*/run-*.wandb")
    alerts, summary = [], {}
    for data in records(path.read_bytes()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        if record.HasField("alert"):
            alerts.append([record.alert.title, record.alert.text, record.alert.level])
        for item in record.summary.update:
            summary[item.key or "/".join(item.nested_key)] = json.loads(item.value_json)
    return alerts, {name: value for name, value in summary.items() if name.startswith("lossproof")}


def records(data, block=32768, header=7):
    """The log format of LevelDB behind a header as long as that of a chunk: checksum (4 bytes), length (2), kind (1) and bytes. Kinds: whole, first, middle, last."""
    at, kept = header, b""
    while at + header <= len(data):
        if block - at % block < header:
            at += block - at % block
            continue
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        kept += data[at + header : at + header + length]
        at += header + length
        if kind in (1, 4):
            yield kept
            kept = b""


def own_loop():
    wandb.init(project="reported")
    mlflow.start_run()
    trackio.init(project="reported", embed=False)
    losses = [2.0 / step for step in range(1, 60)] + [float("nan")] * 10
    with watch(report_to=NAMES) as monitor:
        monitor.ready(120)
        for step, loss in enumerate(losses, 1):
            monitor.log(step, loss=loss, learning_rate=1e-4)
    trackio.finish()


def trainer():
    """As a user of TRL has it: the trackers are the trainer's own, which begins and ends their runs."""
    import tiny
    import transformers
    from datasets import Dataset
    from supervised import sentences
    from trl import SFTConfig, SFTTrainer

    from lossproof.callback import Monitor

    tokenizer = tiny.letters(padding_side="right")
    model = tiny.rotary(len(tokenizer), seed=0, pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id)

    class Broken(SFTTrainer):
        def compute_loss(self, *args, **kwargs):
            loss = super().compute_loss(*args, **kwargs)
            return loss * float("nan") if self.state.global_step > 4 else loss

    class Ready(transformers.TrainerCallback):
        def on_train_begin(self, *_, **__):
            monitor.watch.ready(120)

    monitor = Monitor(report_to=NAMES)
    settings = dict(tiny.PLAIN, output_dir=OUT, max_steps=12, logging_steps=1, report_to=NAMES, project="reported", logging_nan_inf_filter=False)
    rows = Dataset.from_list([{"prompt": asked, "completion": said} for asked, said in sentences(0, 24)])
    args = SFTConfig(**settings, per_device_train_batch_size=2)
    Broken(model, args, train_dataset=rows, processing_class=tokenizer, callbacks=[monitor, Ready()]).train()


def without_runs():
    with watch(report_to=NAMES) as monitor:
        monitor.ready(120)
        for step in range(60):
            monitor.log(step, loss=float("nan") if step > 20 else 1.0)


{"loop": own_loop, "trainer": trainer, "without": without_runs}[MODE]()
if MODE != "without":
    wandb.finish()
    (run,) = mlflow.search_runs(output_format="list")
    alerts = trackio.Api().alerts("reported")
    written, summary = offline()
    told = {
        "wandb": {"alerts": written, "summary": summary},
        "mlflow": {name: value for name, value in run.data.tags.items() if name.startswith("lossproof")},
        "trackio": [[each["title"], each["text"], each["level"]] for each in alerts],
    }
    print(json.dumps(told))
