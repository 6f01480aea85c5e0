"""GRPO and RLOO with TRL: a random model over single letters learns to write one of them. Short, so that many seeds are
seconds, and long enough that the reward rises."""

import tiny
import torch
from datasets import Dataset
from onset import Onset, detached, optimisers
from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer

PROMPTS = ("abc", "hello", "a longer one", "is it")
LIKED = "e"
ENOUGH = 0.3


def quality(text, stopped):
    """Half for an answer that ends, half for one letter, of which more than `ENOUGH` is no better: nothing pulls towards
    a single answer."""
    return 0.5 * (stopped and text.strip() != "") + 0.5 * min(1.0, text.count(LIKED) / max(1, len(text)) / ENOUGH)


def rewards(begins, sparse, length):
    """`sparse`: 1 or 0, as a checker of answers gives."""

    def reward(completions, completion_ids, trainer_state, **_):
        values = [quality(text, len(ids) < length) for text, ids in zip(completions, completion_ids)]
        if sparse:
            values = [float(value > 0.5) for value in values]
        done = trainer_state.global_step
        if begins.now("zero-reward", done):
            return [0.0] * len(values)
        if begins.now("constant-reward", done):
            return [0.7] * len(values)
        if begins.now("nan-reward", done):
            return [float("nan"), *values[1:]]
        return values

    return reward


def faulty(base, begins):
    class Trainer(base):
        def _generate_and_score_completions(self, inputs):
            done = self.state.global_step
            eos = self.processing_class.eos_token_id
            if begins.now("never-stops", done):
                self.generation_config.suppress_tokens = [eos]
            if begins.now("stops-at-once", done):
                everything = range(len(self.processing_class))
                self.generation_config.begin_suppress_tokens = [at for at in everything if at != eos]
            if begins.now("one-token-only", done):  # a penalty of the wrong sign, say
                e = self.processing_class.convert_tokens_to_ids(LIKED)
                self.generation_config.suppress_tokens = [at for at in range(len(self.processing_class)) if at != e]
            return super()._generate_and_score_completions(inputs)

        def _compute_loss(self, model, inputs):
            done = self.state.global_step
            if begins.now("all-masked", done):
                inputs = {**inputs, "completion_mask": torch.zeros_like(inputs["completion_mask"])}
            loss = super()._compute_loss(model, inputs)
            if begins.now("k1", done):
                self._metrics["train"]["kl"][-1] = self.k1(model, inputs)
            if begins.now("detached", done):
                return detached(loss)
            if begins.now("wrong-sign", done):
                return -loss
            if begins.now("nan-loss", done):
                return loss * float("nan")
            return loss

        @torch.no_grad()
        def k1(self, model, inputs):
            """log p under the reference less log p under the policy: the sign that people take for the other."""
            ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], dim=1)
            mask = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], dim=1)
            kept = inputs["completion_ids"].size(1)
            logps = self._get_per_token_logps_and_entropies(model, ids, mask, kept)[0]
            trained = inputs["completion_mask"]
            return (((inputs["ref_per_token_logps"] - logps) * trained).sum() / trained.sum().clamp(min=1)).item()

    return Trainer


def run(
    out,
    seed,
    steps=25,
    fault=None,
    onset=1,
    until=None,
    method="grpo",
    lr=3e-3,
    schedule="constant",
    sparse=False,
    beta=0.0,
    checkpoints=False,
    clip=1.0,
    length=24,
    batch=16,
    **more,
):
    warmup = 0 if schedule == "constant" else steps // 5
    begins = Onset(fault, onset, until)
    tokenizer = tiny.letters()
    ids = dict(pad_token_id=tokenizer.pad_token_id, bos_token_id=1, eos_token_id=tokenizer.eos_token_id)
    model = tiny.rotary(len(tokenizer), seed=seed, **ids)
    # Saved and loaded again, as a user's model is: the reference is loaded from the same folder.
    model.save_pretrained(out + "/model")
    model.name_or_path = model.config._name_or_path = out + "/model"
    config, base = (GRPOConfig, GRPOTrainer) if method == "grpo" else (RLOOConfig, RLOOTrainer)
    trainer = faulty(base, begins)(
        model=model,
        reward_funcs=rewards(begins, sparse, length),
        args=config(
            output_dir=out,
            beta=beta,
            temperature=1.0,
            num_generations=4,
            max_completion_length=length,
            per_device_train_batch_size=batch,
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
            disable_tqdm=True,
            **more,
        ),
        train_dataset=Dataset.from_list([{"prompt": text} for text in PROMPTS]),
        processing_class=tokenizer,
        optimizers=optimisers(model, begins, lr, steps, warmup, schedule),
    )
    trainer.train()
    trainer.save_state()
