"""Group-relative learning with TRL: GRPO or RLOO. The reward counts letters, so that anyone can compute it again."""

import argparse

import tiny
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer

parser = argparse.ArgumentParser()
parser.add_argument("--method", default="grpo", choices=["grpo", "rloo"])
parser.add_argument("--beta", type=float, default=0.0)
parser.add_argument("--temperature", type=float, default=0.7)
parser.add_argument("--loss", default="dapo")
parser.add_argument("--accumulate", type=int, default=1)
parser.add_argument("--mask-truncated", action="store_true")
parser.add_argument("--entropy", type=float, default=0.0)
parser.add_argument("--constant-reward", action="store_true")
parser.add_argument("--output", required=True)
parser.add_argument("--data", help="prompts, one JSON object a line; all of them once")
options = parser.parse_args()

tokenizer = tiny.family("qwen") if options.data else tiny.letters()
model = tiny.rotary(
    len(tokenizer),
    pad_token_id=tokenizer.pad_token_id,
    bos_token_id=None if options.data else 1,
    eos_token_id=tokenizer.eos_token_id,
)
# Saved and loaded again, as a user's model is: the reference is loaded from the same folder.
model.save_pretrained(options.output + "/model")


def reward(completion_ids, **_):
    """The sum of the ids, modulo 7."""
    return [0.0 if options.constant_reward else float(sum(ids) % 7) for ids in completion_ids]


common = dict(
    output_dir=options.output,
    beta=options.beta,
    temperature=options.temperature,
    num_generations=4,
    max_completion_length=8,
    per_device_train_batch_size=8,
    gradient_accumulation_steps=options.accumulate,
    **(dict(num_train_epochs=1) if options.data else dict(max_steps=2)),
    learning_rate=1e-2,
    gradient_checkpointing=False,
    **tiny.PLAIN,
)
texts = ("abc", "hello", "a longer one", "is it")
data = Dataset.from_list(tiny.rows(options.data) if options.data else [{"prompt": text} for text in texts])
if options.method == "grpo":
    more = dict(entropy_coef=options.entropy) if options.entropy else {}
    trainer = GRPOTrainer(
        model=options.output + "/model",
        reward_funcs=reward,
        args=GRPOConfig(loss_type=options.loss, mask_truncated_completions=options.mask_truncated, **more, **common),
        train_dataset=data,
        processing_class=tokenizer,
    )
else:
    trainer = RLOOTrainer(
        model=options.output + "/model",
        reward_funcs=reward,
        args=RLOOConfig(**common),
        train_dataset=data,
        processing_class=tokenizer,
    )
trainer.train()
print("trained", trainer.state.global_step)
