"""Fine-tunes that really learn, of the model of `base`: supervised, preferences and GRPO with TRL, healthy or with one fault that
lasts the whole run. Each is a hundred logged steps with `trainer_state.json`, as a user has it."""

import random

import tiny
import torch
import transformers
from base import DIALECT, LANGUAGE, WORDS, base, said, tokenizer_of
from datasets import Dataset
from onset import Onset, optimisers
from rl import faulty as faulty_rl
from supervised import faulty
from trl import DPOConfig, DPOTrainer, GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

FEW, HELD_OUT, COPIES = 64, 128, 8
# Passes over few rows are many: so many times the steps, and as many points in the log. Preferences are soon met, and it
# takes a higher rate until more of the same does harm.
LONGER, FASTER = 3, {"dpo": 5}
WARMUP = 10
# Enough to learn the dialect, and not so much that a run without a fault trembles.
RATES = {"sft": 1e-3, "dpo": 2e-4, "grpo": 5e-4}
BETAS = {"dpo": 0.1, "grpo": 0.04}
TIMES = {"rate-100": 100.0, "rate-0": 0.0}
BETA = {"kl-0": 0.0, "kl-100": 100.0}
# Of people who prefer one answer of two: some prefer the other.
MISTAKEN = 0.05
# What the reward asks for: answers of these words, that end.
LIKED = set(WORDS[::2])
LENGTH = 32


def pairs(draw, count):
    """Prompts, each with what the dialect says next and what the language would have said."""
    for _ in range(count):
        word = draw.choice(WORDS)
        more = draw.randint(3, 7)
        chosen, rejected = said(draw, DIALECT, word, more), said(draw, LANGUAGE, word, more)
        if draw.random() < MISTAKEN:
            chosen, rejected = rejected, chosen
        yield {"prompt": word, "chosen": chosen, "rejected": rejected}


def rows(method, fault, draw, count):
    if fault == "overfit":
        found = list(pairs(draw, FEW))
    elif fault == "repeated":
        found = list(pairs(draw, count // COPIES)) * COPIES
    else:
        found = list(pairs(draw, count))
    if fault == "labels-shuffled" and method == "dpo":
        for row in found:
            if draw.random() < 0.5:
                row["chosen"], row["rejected"] = row["rejected"], row["chosen"]
    return Dataset.from_list([shown(method, row) for row in found])


def shown(method, row):
    if method == "sft":
        return {"prompt": row["prompt"], "completion": row["chosen"]}
    return row if method == "dpo" else {"prompt": row["prompt"]}


def wanted(begins):
    def reward(completions, completion_ids, **_):
        if begins.fault == "reward-zero":
            return [0.0] * len(completions)
        if begins.fault == "reward-constant":
            return [0.7] * len(completions)
        values = []
        for text, ids in zip(completions, completion_ids):
            words = text.split()
            share = sum(word in LIKED for word in words) / max(1, len(words))
            values.append(share * (len(ids) < LENGTH))
        return random.sample(values, len(values)) if begins.fault == "labels-shuffled" else values

    return reward


def run(out, seed, model, method="sft", fault=None, steps=100, lr=None, every=1, tensorboard=False, **more):
    begins = Onset(fault)
    draw = random.Random(seed)
    tokenizer = tokenizer_of("left" if method == "grpo" else "right")
    folder = base(model)
    load = lambda: transformers.AutoModelForCausalLM.from_pretrained(folder)
    policy = load()
    if fault == "half":  # All of it in float16 and no scaler: what is small becomes 0, and Adam divides by it.
        policy = policy.half()
    rate = (lr or RATES[method]) * TIMES.get(fault, 1.0)
    batch = 16
    if fault == "overfit":
        steps, every = LONGER * steps, LONGER * every
        rate *= FASTER.get(method, 1)
    arguments = dict(
        output_dir=out,
        per_device_train_batch_size=batch,
        max_steps=steps,
        learning_rate=rate,
        lr_scheduler_type="linear",
        warmup_steps=WARMUP,
        gradient_checkpointing=False,
        bf16=False,
        use_cpu=True,
        seed=seed,
        report_to="tensorboard" if tensorboard else "none",
        logging_steps=every,
        save_strategy="no",
        disable_tqdm=True,
        **more,
    )
    if method in BETAS:
        arguments["beta"] = BETA.get(fault, BETAS[method])
    if method != "grpo":
        arguments.update(eval_strategy="steps", eval_steps=steps // 10, per_device_eval_batch_size=HELD_OUT)
    shared = dict(
        model=policy,
        processing_class=tokenizer,
        train_dataset=rows(method, fault, draw, batch * steps),
        optimizers=optimisers(policy, begins, rate, steps, WARMUP, "linear"),
    )
    held_out = lambda: rows(method, None, random.Random(1_000 + seed), HELD_OUT)
    if method == "sft":
        trainer = faulty(SFTTrainer, begins)(args=SFTConfig(**arguments), eval_dataset=held_out(), **shared)
    elif method == "dpo":
        config = DPOConfig(precompute_ref_log_probs=False, **arguments)
        trainer = faulty(DPOTrainer, begins)(ref_model=load(), args=config, eval_dataset=held_out(), **shared)
    else:
        config = GRPOConfig(
            num_generations=4, max_completion_length=LENGTH, temperature=1.0, log_completions=False, **arguments
        )
        random.seed(seed)
        trainer = faulty_rl(GRPOTrainer, begins)(args=config, reward_funcs=wanted(begins), **shared)
    try:
        trainer.train()
    finally:  # A run that dies leaves the log that it has.
        trainer.save_state()
