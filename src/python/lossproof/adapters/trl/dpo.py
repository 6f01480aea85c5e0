"""`python -m lossproof.adapters.trl.dpo`: TRL's own DPOTrainer, unmodified, on a tiny random model on the CPU.

Pairs are laid out by the trainer's collator, losses and log-probabilities come from its loss. One step on
a checkpoint is op preference_step: DPOTrainer has no loss of rows that are not pairs, so there is no train_step.
Settings: LOSSPROOF_TOKENIZER=folder, LOSSPROOF_OBJECTIVE=sigmoid|hinge|ipo (TRL's loss_type)."""

import os

import lossproof
from lossproof import Reject
from lossproof.adapters.common._tiny import declared_tokens, load_tokenizer, stop, tiny_model, tokenizer_folder
from lossproof.adapters.common._models import descend, frozen, kept
from lossproof.adapters.common._pairs import Pairs
from lossproof.adapters.common._said import TOKEN, said
from lossproof.adapters.common._trl import configured, logged, rows_of, serve
from lossproof.testing import Table, replaced

import torch
import transformers
from datasets import Dataset
from trl import DPOConfig, DPOTrainer
from trl.trainer import dpo_trainer

OBJECTIVES = {"sigmoid": "dpo", "hinge": "hinge", "ipo": "ipo"}
OBJECTIVE = os.environ.get("LOSSPROOF_OBJECTIVE") or "sigmoid"
if OBJECTIVE not in OBJECTIVES:
    stop("LOSSPROOF_OBJECTIVE=%s: choose one of %s" % (OBJECTIVE, ", ".join(OBJECTIVES)))

FOLDER = tokenizer_folder()
tokenizer = load_tokenizer(FOLDER)


def build(model=None):
    """The trainer with TRL's defaults, around the adapter's own tiny models or around a checkpoint in a folder, which is
    its own reference until it gets another. Its one dataset row is never trained on."""
    kinds = [OBJECTIVE]
    if isinstance(DPOConfig.__dataclass_fields__["loss_type"].default, str):
        kinds = OBJECTIVE  # one loss, before several could be added up
    made = DPOTrainer(
        model=tiny_model(len(tokenizer)) if model is None else transformers.AutoModelForCausalLM.from_pretrained(model),
        ref_model=tiny_model(len(tokenizer)) if model is None else frozen(model),
        args=configured(DPOConfig, loss_type=kinds),
        train_dataset=Dataset.from_list([{"prompt": "a", "chosen": "b", "rejected": "c"}]),
        processing_class=tokenizer,
    )
    return Pairs(rows_of(made))


pairs = build()
trainer = pairs.trainer
pairs_of = kept(build)  # of a checkpoint
tokens = declared_tokens(tokenizer)


@lossproof.op
def preference(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    if pad_token_id != tokens["pad_token_id"]:
        raise Reject("this trainer's collator pads with %d" % tokens["pad_token_id"])
    return halves_of(pairs.collated(prompt_ids, chosen_ids, rejected_ids))


@lossproof.op
def preference_batch(prompts, chosen, rejected):
    """A data set of conversations through the preparation, and its rows through the collator."""
    spoken = [[[{"role": "assistant", "content": text}] for text in half] for half in (chosen, rejected)]
    rows = [dict(zip(("prompt", "chosen", "rejected"), row)) for row in zip(prompts, *spoken)]
    columns = pairs.prepared(rows, tokenizer)
    if len(columns[0]) != len(prompts):
        raise Reject("DPOTrainer drops a pair whose prompt alone is as long as max_length")
    return halves_of(pairs.collated(*columns))


def halves_of(batch):
    rows = pairs.rows(batch)
    fields = {"input_ids": "input_ids", "attention_mask": "attention_mask", "mask": "completion_mask"}
    halves = {name: rows[name].chunk(2) for name in fields.values()}
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
    given = list(zip(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs))
    alone = [objective([pair], beta) for pair in given]
    return {
        "loss": objective(given, beta)[0],
        "losses": [loss for loss, _ in alone],
        "chosen_rewards": [metrics["rewards/chosen"] for _, metrics in alone],
        "rejected_rewards": [metrics["rewards/rejected"] for _, metrics in alone],
    }


def objective(given, beta):
    """(loss, metrics) of rows of a one-token prompt and as many tokens as there are log-probabilities, under a policy and
    a reference whose logits give them those."""
    chosen, rejected, ref_chosen, ref_rejected = map(list, zip(*given))
    halves = ([[TOKEN] * len(row) for row in half] for half in (chosen, rejected))
    batch = pairs.collated([[TOKEN]] * len(given), *halves)
    width = 1 + max(map(len, chosen + rejected))
    policy, reference = saying(chosen + rejected, width), saying(ref_chosen + ref_rejected, width)
    with torch.no_grad():
        loss, metrics = pairs.loss(policy, batch, reference, beta=beta)
    return loss.item(), {name: float(value) for name, value in metrics.items()}


def saying(rows, width):
    """A model whose logits give token t of each completion the log-probability rows[b][t]."""
    return Table(said(rows, width, len(tokenizer)))


@lossproof.op(reference=True)
def model_score(model_path, prompt_ids, completion_ids, temperature, reference_path=None):
    """What the loss sums, of policy and reference, and the entropies that it logs a mean of, if any. Each completion
    stands on both sides of a pair. DPOTrainer knows no temperature, and a KL it has none."""
    owner = pairs_of(model_path)
    reference = owner.trainer.ref_model if reference_path is None else frozen(reference_path)
    batch = owner.collated(prompt_ids, completion_ids, completion_ids)
    (policy, others), entropies = owner.scores(dpo_trainer, batch, reference)
    logged(owner.trainer).clear()
    mask = owner.rows(batch)["completion_mask"][:, 1:].bool()

    def ragged(track):
        return [row[on].tolist() for row, on in list(zip(track, mask))[: len(prompt_ids)]]

    answer = {"logprobs": ragged(policy)}
    if entropies is not None:
        answer["entropy"] = ragged(entropies)
    return answer if reference_path is None else {**answer, "ref_logprobs": ragged(others)}


@lossproof.op
def preference_step(
    model_path, reference_path, prompt_ids, chosen_ids, rejected_ids, learning_rate, saved_path
):
    """compute_loss on the collator's batch, with another checkpoint as ref_model; the step itself is plain descent."""
    owner = pairs_of(model_path)
    batch = owner.collated(prompt_ids, chosen_ids, rejected_ids)
    with replaced(owner.trainer, ref_model=frozen(reference_path)):
        loss = owner.trainer.compute_loss(owner.trainer.model, batch)
    descend(owner.trainer.model, loss, learning_rate, saved_path)
    logged(owner.trainer).clear()
    return {"loss": loss.item()}


if __name__ == "__main__":
    serve(
        "trl-dpo",
        trainer.args,
        layout={"alignment": "token", "span": "row"},
        semantics={
            "stop_token_in_mask": True,
            "preference_objective": OBJECTIVES[OBJECTIVE],
            "preference_beta": trainer.beta,
            "preference_label_smoothing": trainer.label_smoothing,
        },
        tokens=tokens,
        tokenizer=FOLDER,
    )
