"""Limits of length that arguments of TRL declare, and data or samplers that keep them or pass them by."""

import argparse

import tiny
import transformers
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

RIGHT = ["cut", "packed", "unlimited", "usual", "sampled"]
WRONG = ["prepared", "collated", "sampled-longer"]
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--output", required=True)
parser.add_argument("--way", required=True, choices=RIGHT + WRONG)
options = parser.parse_args()
way = options.way

LIMIT = 10
common = dict(
    output_dir=options.output,
    per_device_train_batch_size=2,
    max_steps=2,
    learning_rate=1e-3,
    gradient_checkpointing=False,
    **tiny.PLAIN,
)
if way.startswith("sampled"):
    tokenizer = tiny.letters()
    model = tiny.rotary(len(tokenizer), pad_token_id=0, bos_token_id=1, eos_token_id=2)

    class Longer(transformers.LlamaForCausalLM):
        """Takes the length of its answers from elsewhere."""

        def generate(self, *args, generation_config=None, **kwargs):
            generation_config.max_new_tokens = 4 * LIMIT
            return super().generate(*args, generation_config=generation_config, **kwargs)

    if way == "sampled-longer":
        model.__class__ = Longer
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=lambda completion_ids, **_: [float(sum(ids) % 7) for ids in completion_ids],
        args=GRPOConfig(num_generations=2, max_completion_length=LIMIT, **common),
        train_dataset=Dataset.from_list([{"prompt": text} for text in ("abc", "hello", "a longer one", "is it")]),
        processing_class=tokenizer,
    )
else:
    tokenizer = tiny.family("qwen")
    texts = [row["text"] for row in tiny.rows(options.data)]
    ready = [{"input_ids": tokenizer(text + "<|im_end|>")["input_ids"]} for text in texts]
    before = tokenizer("An instruction that stands before each text:")["input_ids"]
    usual = DataCollatorForLanguageModeling(pad_token_id=tokenizer.pad_token_id)

    def with_instruction(examples):
        """Put there behind the cut."""
        return usual([{"input_ids": before + example["input_ids"]} for example in examples])

    trainer = SFTTrainer(
        model=tiny.rotary(len(tokenizer)),
        args=SFTConfig(
            max_length={"packed": 32, "unlimited": None, "usual": 1024}.get(way, LIMIT),
            packing=way == "packed",
            dataset_kwargs={"skip_prepare_dataset": True} if way in ("prepared", "usual") else None,
            **common,
        ),
        train_dataset=Dataset.from_list(ready if way in ("prepared", "usual") else [{"text": text} for text in texts]),
        processing_class=tokenizer,
        data_collator=with_instruction if way == "collated" else None,
    )
trainer.train()
print("trained", trainer.state.global_step)
