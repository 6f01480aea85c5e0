"""DeepSpeed's engine: `--stage`, `--accumulate`. `--fault lost` (stage 0): all micro-batches between the first and the last are lost."""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "trace", "scripts"))
import tiny  # noqa: E402
import torch  # noqa: E402
import deepspeed  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--stage", type=int, default=1)
parser.add_argument("--batch", type=int, default=1)
parser.add_argument("--accumulate", type=int, default=4)
parser.add_argument("--fault", choices=["lost"])
options = parser.parse_args()

deepspeed.init_distributed("gloo")
tokenizer = tiny.letters()
model = tiny.rotary(len(tokenizer))
config = {
    "train_micro_batch_size_per_gpu": options.batch,
    "gradient_accumulation_steps": options.accumulate,
    "zero_optimization": {"stage": options.stage},
    "zero_allow_untested_optimizer": True,
    "zero_force_ds_cpu_optimizer": False,
}
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
engine, *_ = deepspeed.initialize(model=model, optimizer=optimiser, config=config)
generator = torch.Generator().manual_seed(1)
rows = torch.randint(3, len(tokenizer), (64, 9), generator=generator)
at = 0
for step in range(3):
    for part in range(options.accumulate):
        ids = rows[at : at + options.batch]
        at += options.batch
        loss = engine(input_ids=ids, labels=ids).loss
        held = [parameter.grad for parameter in model.parameters()]
        held = [None if gradient is None else gradient.clone() for gradient in held]
        engine.backward(loss)
        if options.fault == "lost" and 0 < part < options.accumulate - 1:
            for parameter, before in zip(model.parameters(), held):
                parameter.grad = before
        engine.step()
    print("step", step, float(loss))
