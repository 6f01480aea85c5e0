"""Supervised fine-tuning with TRL: conversations (the assistant's words only) or prompt and completion."""

import argparse

import tiny
from datasets import Dataset
from trl import SFTConfig, SFTTrainer

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--output", required=True)
parser.add_argument("--whole", action="store_true")
parser.add_argument("--packing", action="store_true")
parser.add_argument("--accumulate", type=int, default=1)
parser.add_argument("--epochs", type=int, default=1)
parser.add_argument("--bf16", action="store_true")
options = parser.parse_args()

data = tiny.rows(options.data)
chat = "messages" in data[0]
tokenizer = tiny.family("qwen")
if chat and not options.whole:
    tokenizer.chat_template = tiny.GENERATION_TEMPLATE

trainer = SFTTrainer(
    model=tiny.rotary(len(tokenizer)),
    args=SFTConfig(
        output_dir=options.output,
        assistant_only_loss=chat and not options.whole,
        packing=options.packing,
        max_length=64 if options.packing else None,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=options.accumulate,
        num_train_epochs=options.epochs,
        learning_rate=1e-3,
        gradient_checkpointing=False,
        **{**tiny.PLAIN, "bf16": options.bf16},
    ),
    train_dataset=Dataset.from_list(data),
    processing_class=tokenizer,
)
trainer.train()
print("trained", trainer.state.global_step)
