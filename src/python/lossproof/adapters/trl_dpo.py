"""`python -m lossproof.adapters.trl_dpo`: TRL's own DPOTrainer, unmodified, on a tiny random model on the CPU.

Pairs are laid out by the trainer's collator, losses and log-probabilities come from its _compute_loss. One step on
a checkpoint is op preference_step: DPOTrainer has no loss of rows that are not pairs, so there is no train_step.
Settings: LOSSPROOF_TOKENIZER=folder, LOSSPROOF_OBJECTIVE=sigmoid|hinge|ipo (TRL's loss_type)."""

import os
import tempfile

import lossproof
from lossproof import Reject
from lossproof.adapters.common._tiny import VERSION, declared_tokens, load_tokenizer, stop, tiny_model, tokenizer_folder
from lossproof.adapters.common._models import descend, frozen, kept
from lossproof.testing import Table, replaced, spy

import torch
from datasets import Dataset
from trl import DPOConfig, DPOTrainer
from trl.trainer import dpo_trainer

OBJECTIVES = {"sigmoid": "dpo", "hinge": "hinge", "ipo": "ipo"}
OBJECTIVE = os.environ.get("LOSSPROOF_OBJECTIVE") or "sigmoid"
if OBJECTIVE not in OBJECTIVES:
    stop("LOSSPROOF_OBJECTIVE=%s: choose one of %s" % (OBJECTIVE, ", ".join(OBJECTIVES)))

FOLDER = tokenizer_folder()
tokenizer = load_tokenizer(FOLDER)

# What a logit is where its token cannot be: exp of it is 0, and sums of it stay finite.
NEVER = -1e4
# Any two tokens: which they are does not matter where the log-probability of the first is given.
TOKEN, OTHER = 0, 1


def build(model=None):
    """The trainer with TRL's defaults, around the adapter's own tiny models or around a checkpoint in a folder, which is
    its own reference until it gets another. Its one dataset row is never trained on."""
    with tempfile.TemporaryDirectory(prefix="lossproof-") as scratch:
        made = DPOTrainer(
            model=tiny_model(len(tokenizer)) if model is None else model,
            ref_model=tiny_model(len(tokenizer)) if model is None else frozen(model),
            args=DPOConfig(
                output_dir=os.path.join(scratch, "out"),
                loss_type=[OBJECTIVE],
                use_cpu=True,
                bf16=False,
                gradient_checkpointing=False,
                report_to="none",
            ),
            train_dataset=Dataset.from_list([{"prompt": "a", "chosen": "b", "rejected": "c"}]),
            processing_class=tokenizer,
        )
    made.model.train()
    made.current_gradient_accumulation_steps = 1  # set by Trainer.train() otherwise
    return made


trainer = build()
trainer_of = kept(build)  # of a checkpoint
tokens = declared_tokens(tokenizer)


def collated(prompt_ids, chosen_ids, rejected_ids):
    """TRL's batch: all chosen rows, then all rejected ones."""
    names = ("prompt_ids", "chosen_ids", "rejected_ids")
    return trainer.data_collator([dict(zip(names, row)) for row in zip(prompt_ids, chosen_ids, rejected_ids)])


@lossproof.op
def preference(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    if pad_token_id != tokens["pad_token_id"]:
        raise Reject("this trainer's collator pads with %d" % tokens["pad_token_id"])
    batch = collated(prompt_ids, chosen_ids, rejected_ids)
    halves = {name: rows.chunk(2) for name, rows in batch.items()}
    fields = {"input_ids": "input_ids", "attention_mask": "attention_mask", "mask": "completion_mask"}
    return {
        "%s_%s" % (half, field): halves[name][at]
        for at, half in enumerate(("chosen", "rejected"))
        for field, name in fields.items()
    }


@lossproof.op(knobs={"beta": [0.1, 0.5]})
def preference_loss(
    chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings=None
):
    """The loss of the batch. What TRL logs of rewards are means over a batch, so each pair is asked alone as well."""
    settings = dict(settings or {})
    beta = settings.pop("beta", trainer.beta)
    if settings:
        raise Reject("no setting %s; there is beta" % sorted(settings)[0])
    pairs = list(zip(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs))
    alone = [objective([pair], beta) for pair in pairs]
    return {
        "loss": objective(pairs, beta)[0],
        "losses": [loss for loss, _ in alone],
        "chosen_rewards": [logged["rewards/chosen"][-1] for _, logged in alone],
        "rejected_rewards": [logged["rewards/rejected"][-1] for _, logged in alone],
    }


def objective(pairs, beta):
    """(loss, metrics) of _compute_loss on rows of a one-token prompt and as many tokens as there are log-probabilities,
    under a policy and a reference whose logits give them those."""
    chosen, rejected, ref_chosen, ref_rejected = map(list, zip(*pairs))
    batch = collated([[TOKEN]] * len(pairs), *([[TOKEN] * len(row) for row in half] for half in (chosen, rejected)))
    width = batch["input_ids"].size(1)
    policy, reference = saying(chosen + rejected, width), saying(ref_chosen + ref_rejected, width)
    trainer._metrics["train"].clear()
    with torch.no_grad(), replaced(trainer, beta=beta, ref_model=reference):
        loss = trainer._compute_loss(policy, batch, return_outputs=False)
    return loss.item(), dict(trainer._metrics["train"])


def saying(rows, width):
    """A model whose logits give token t of each completion the log-probability rows[b][t]: its logit is that, another
    token's is the logarithm of what is left."""
    logits = torch.full((len(rows), width, len(tokenizer)), NEVER)
    for b, row in enumerate(rows):
        given = torch.tensor(row, dtype=torch.float64)
        logits[b, : len(row), TOKEN] = given.float()
        logits[b, : len(row), OTHER] = torch.log(-torch.expm1(given)).clamp(min=NEVER).float()
    return Table(logits)


@lossproof.op(reference=True)
def model_score(model_path, prompt_ids, completion_ids, temperature, reference_path=None):
    """What _compute_loss sums, of policy and reference, and the entropies that it logs a mean of. Each completion stands
    on both sides of a pair. DPOTrainer knows no temperature, and a KL it has none."""
    owner = trainer_of(model_path)
    reference = owner.ref_model if reference_path is None else frozen(reference_path)
    batch = collated(prompt_ids, completion_ids, completion_ids)
    with torch.no_grad(), replaced(owner, ref_model=reference):
        with spy(dpo_trainer, "selective_log_softmax") as logps, spy(dpo_trainer, "entropy_from_logits") as entropies:
            owner._compute_loss(owner.model, batch, return_outputs=False)
    owner._metrics["train"].clear()
    mask = batch["completion_mask"][:, 1:].bool()

    def ragged(track):
        return [row[on].tolist() for row, on in list(zip(track, mask))[: len(prompt_ids)]]

    policy, others = logps.results
    answer = {"logprobs": ragged(policy), "entropy": ragged(entropies.only.result)}
    return answer if reference_path is None else {**answer, "ref_logprobs": ragged(others)}


@lossproof.op
def preference_step(
    model_path, reference_path, prompt_ids, chosen_ids, rejected_ids, learning_rate, saved_path
):
    """compute_loss on the collator's batch, with another checkpoint as ref_model; the step itself is plain descent."""
    owner = trainer_of(model_path)
    with replaced(owner, ref_model=frozen(reference_path)):
        loss = owner.compute_loss(owner.model, collated(prompt_ids, chosen_ids, rejected_ids))
    descend(owner.model, loss, learning_rate, saved_path)
    owner._metrics["train"].clear()
    return {"loss": loss.item()}


if __name__ == "__main__":
    lossproof.serve(
        name="trl-dpo",
        version=VERSION,
        layout={"alignment": "token", "span": "row"},
        semantics={
            "stop_token_in_mask": True,
            "preference_objective": OBJECTIVES[OBJECTIVE],
            "preference_beta": trainer.beta,
            "preference_label_smoothing": trainer.label_smoothing,
        },
        tokens=tokens,
        tokenizer=FOLDER,
        dtype="float32",
    )
