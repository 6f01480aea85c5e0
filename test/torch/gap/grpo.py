"""GRPO of TRL with a tiny model, to be traced: 64 completions. `--scored-at 1.0`: the trainer scores at another temperature than it samples at."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "trace" / "scripts"))

import tiny  # noqa: E402
from datasets import Dataset  # noqa: E402
from trl import GRPOConfig, GRPOTrainer  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--output", required=True)
parser.add_argument("--scored-at", type=float)
options = parser.parse_args()

tokenizer = tiny.letters()
model = tiny.rotary(len(tokenizer), pad_token_id=tokenizer.pad_token_id, bos_token_id=1, eos_token_id=tokenizer.eos_token_id)
model.save_pretrained(options.output + "/model")


def reward(completion_ids, **_):
    """The sum of the ids, modulo 7."""
    return [float(sum(ids) % 7) for ids in completion_ids]


texts = ("abc", "hello", "a longer one", "is it", "why", "no", "yes", "cab", "late", "ale", "on", "so", "we", "you", "he", "it")
trainer = GRPOTrainer(
    model=options.output + "/model",
    reward_funcs=reward,
    args=GRPOConfig(
        output_dir=options.output,
        temperature=0.6,
        num_generations=4,
        max_completion_length=20,
        per_device_train_batch_size=32,
        max_steps=2,
        learning_rate=1e-3,
        gradient_checkpointing=False,
        **tiny.PLAIN,
    ),
    train_dataset=Dataset.from_list([{"prompt": text} for text in texts]),
    processing_class=tokenizer,
)
if options.scored_at is not None:
    # generate() keeps the temperature of its own configuration.
    trainer.temperature = options.scored_at
trainer.train()
