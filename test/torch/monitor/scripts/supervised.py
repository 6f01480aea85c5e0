"""Supervised fine-tuning with TRL's SFTTrainer and with transformers' Trainer, and preferences with DPOTrainer."""

import random

import tiny
import torch
import transformers
from datasets import Dataset
from onset import Onset, detached, optimisers
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

WORDS = "sun rain door lamp sea bird stone river".split()


def sentences(seed, count):
    """Rows of unequal lengths that a model can learn: what follows a word is always the same."""
    draw = random.Random(seed)
    for _ in range(count):
        at = draw.randrange(len(WORDS))
        said = [WORDS[(at + k) % len(WORDS)] for k in range(draw.randint(2, 6))]
        yield said[0], "".join(said[1:])


def faulty(base, begins):
    class Trainer(base):
        def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
            done = self.state.global_step
            if begins.now("all-masked", done) and "labels" in inputs:
                inputs["labels"] = torch.full_like(inputs["labels"], tiny.IGNORE)
                num_items_in_batch = num_items_in_batch * 0
            if begins.now("all-masked", done) and "completion_mask" in inputs:
                inputs["completion_mask"] = torch.zeros_like(inputs["completion_mask"])
            if begins.now("labels-shuffled", done) and "labels" in inputs:
                inputs["labels"] = shuffled(inputs["labels"])
            found = super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
            loss, outputs = found if return_outputs else (found, None)
            if begins.now("detached", done):
                loss = detached(loss) if model.training else loss.detach()
            if begins.now("wrong-sign", done):
                loss = -loss
            if begins.now("nan-loss", done):
                loss = loss * float("nan")
            if begins.now("huge-gradient", done):
                loss.register_hook(lambda gradient: gradient * 1e6)
            if begins.now("nan-gradient", done):
                loss.register_hook(lambda gradient: gradient * float("nan"))
            return (loss, outputs) if return_outputs else loss

    return Trainer


def shuffled(labels):
    """What is trained of each row, in another order."""
    labels = labels.clone()
    for row in labels:
        trained = (row != tiny.IGNORE).nonzero().squeeze(-1)
        row[trained] = row[trained[torch.randperm(len(trained))]]
    return labels


def run(
    out,
    seed,
    steps=30,
    fault=None,
    onset=1,
    until=None,
    method="sft",
    lr=3e-3,
    schedule="cosine",
    checkpoints=False,
    clip=1.0,
    evaluate=False,
    **more,
):
    warmup = 0 if schedule == "constant" else steps // 5
    begins = Onset(fault, onset, until)
    tokenizer = tiny.letters(padding_side="right")
    ids = dict(pad_token_id=tokenizer.pad_token_id, bos_token_id=1, eos_token_id=tokenizer.eos_token_id)
    model = tiny.rotary(len(tokenizer), seed=seed, **ids)
    pairs = list(sentences(seed, 8 * steps))
    common = dict(
        output_dir=out,
        per_device_train_batch_size=8,
        max_steps=steps,
        learning_rate=lr,
        lr_scheduler_type=schedule,
        warmup_steps=warmup,
        max_grad_norm=clip,
        gradient_checkpointing=False,
        bf16=False,
        use_cpu=True,
        seed=seed,
        report_to="tensorboard",
        logging_steps=1,
        save_strategy="steps" if checkpoints else "no",
        save_steps=steps // 2,
        eval_strategy="steps" if evaluate else "no",
        eval_steps=steps // 3,
        disable_tqdm=True,
        **more,
    )
    shared = dict(model=model, optimizers=optimisers(model, begins, lr, steps, warmup, schedule))
    if method == "sft":
        data = Dataset.from_list([{"prompt": asked, "completion": said} for asked, said in pairs])
        trainer = faulty(SFTTrainer, begins)(
            args=SFTConfig(**common), train_dataset=data, eval_dataset=data.select(range(16)), processing_class=tokenizer, **shared
        )
    elif method == "dpo":
        draw = random.Random(seed)
        wrong = lambda said: "".join(draw.sample(said, len(said)))
        data = Dataset.from_list([{"prompt": a, "chosen": said, "rejected": wrong(said)} for a, said in pairs])
        trainer = faulty(DPOTrainer, begins)(
            ref_model=tiny.rotary(len(tokenizer), seed=seed, **ids),
            args=DPOConfig(beta=0.1, **common),
            train_dataset=data,
            processing_class=tokenizer,
            **shared,
        )
    else:
        data = [plain(tokenizer, asked + said) for asked, said in pairs]
        trainer = faulty(transformers.Trainer, begins)(
            args=transformers.TrainingArguments(remove_unused_columns=False, **common),
            train_dataset=data,
            eval_dataset=data[:16],
            data_collator=transformers.DataCollatorForSeq2Seq(tokenizer),
            **shared,
        )
    trainer.train()
    trainer.save_state()


def plain(tokenizer, text):
    ids = [*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
    return {"input_ids": ids, "attention_mask": [1] * len(ids), "labels": list(ids)}
