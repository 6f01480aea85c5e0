"""Direct preference optimisation with TRL."""

import argparse

import tiny
from datasets import Dataset
from trl import DPOConfig, DPOTrainer

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--output", required=True)
options = parser.parse_args()

tokenizer = tiny.family("qwen")
trainer = DPOTrainer(
    model=tiny.rotary(len(tokenizer)),
    ref_model=tiny.rotary(len(tokenizer), seed=7),
    args=DPOConfig(
        output_dir=options.output,
        beta=0.1,
        per_device_train_batch_size=2,
        num_train_epochs=1,
        learning_rate=1e-3,
        gradient_checkpointing=False,
        **tiny.PLAIN,
    ),
    train_dataset=Dataset.from_list(tiny.rows(options.data)),
    processing_class=tokenizer,
)
trainer.train()
print("trained", trainer.state.global_step)
