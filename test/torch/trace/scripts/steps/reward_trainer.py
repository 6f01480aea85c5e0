"""TRL's reward trainer on preference pairs."""

import argparse

import tiny
import transformers
import trl
from datasets import Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--output", required=True)
options = parser.parse_args()

tokenizer = tiny.family()
sizes = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
config = transformers.LlamaConfig(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, num_labels=1, **sizes)
arguments = trl.RewardConfig(
    output_dir=options.output, per_device_train_batch_size=2, gradient_accumulation_steps=2, max_steps=3, **tiny.PLAIN
)
trl.RewardTrainer(
    model=transformers.LlamaForSequenceClassification(config),
    args=arguments,
    train_dataset=Dataset.from_list(tiny.rows(options.data)),
    processing_class=tokenizer,
).train()
