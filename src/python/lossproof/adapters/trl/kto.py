"""`python -m lossproof.adapters.trl.kto`: TRL's own KTOTrainer, unmodified, on a tiny random model on the CPU.

Losses, their gradients and log-probabilities come from its loss, rows from its preparation and its collator: pairs are what it
takes apart into rows that are desirable and rows that are not.
Settings: LOSSPROOF_TOKENIZER=folder, LOSSPROOF_OBJECTIVE=kto|apo_zero_unpaired (TRL's loss_type)."""

import os

import lossproof
from lossproof import Reject
from lossproof.adapters.common._tiny import VERSION, declared_tokens, load_tokenizer, stop, tiny_model, tokenizer_folder
from lossproof.adapters.common._labelled import Labelled
from lossproof.adapters.common._models import frozen, kept
from lossproof.adapters.common._said import TOKEN, said
from lossproof.adapters.common._trl import configured, rows_of, serve
from lossproof.testing import Table

import torch
import transformers
from datasets import Dataset

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

from trl import KTOConfig, KTOTrainer
from trl.trainer import kto_trainer

if not hasattr(kto_trainer, "selective_log_softmax"):
    stop("trl-kto drives TRL before 0.26, and from 1.8 on; in TRL %s KTOTrainer is an experiment" % VERSION)

OBJECTIVES = {"kto": "kto", "apo_zero_unpaired": "apo_zero"}
OBJECTIVE = os.environ.get("LOSSPROOF_OBJECTIVE") or "kto"
if OBJECTIVE not in OBJECTIVES:
    stop("LOSSPROOF_OBJECTIVE=%s: choose one of %s" % (OBJECTIVE, ", ".join(OBJECTIVES)))

FOLDER = tokenizer_folder()
tokenizer = load_tokenizer(FOLDER)

# What the rows of the KL consist of, by which the model below tells them from the others.
MISMATCHED = 2


def build(model=None):
    """The trainer with TRL's defaults, around the adapter's own tiny models or around a checkpoint in a folder, which is
    its own reference until it gets another. Its two dataset rows are never trained on."""
    rows = [{"prompt": "a", "completion": " b", "label": True}, {"prompt": "a", "completion": " c", "label": False}]
    made = KTOTrainer(
        model=tiny_model(len(tokenizer)) if model is None else transformers.AutoModelForCausalLM.from_pretrained(model),
        ref_model=tiny_model(len(tokenizer)) if model is None else frozen(model),
        args=configured(KTOConfig, loss_type=OBJECTIVE),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    return Labelled(rows_of(made), kto_trainer)


labelled = build()
trainer = labelled.trainer
labelled_of = kept(build)  # of a checkpoint
tokens = declared_tokens(tokenizer)


@lossproof.op
def unpaired_preference_loss(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """The loss of rows of a one-token prompt and as many tokens as there are log-probabilities, under a policy and a reference
    whose logits give them those."""
    leaves, kl_leaves = (
        [torch.tensor(row, dtype=torch.float64, requires_grad=True) for row in rows] for rows in (logprobs, kl_logprobs)
    )
    batch = labelled.collated(
        [[TOKEN]] * len(logprobs),
        [[TOKEN] * len(row) for row in logprobs],
        desirable,
        [[MISMATCHED] * len(row) for row in kl_logprobs],
    )
    loss, metrics = labelled.loss(saying(leaves, kl_leaves), batch, saying(ref_logprobs, ref_kl_logprobs))
    slopes = torch.autograd.grad(loss, [*leaves, *kl_leaves], allow_unused=True, materialize_grads=True)
    return {
        "loss": loss.detach(),
        "weights": slopes[: len(leaves)],
        "kl_weights": slopes[len(leaves) :],
        "kl": metrics["kl"],
    }


def saying(rows, mismatched):
    """A model that gives tokens of completions these log-probabilities, and those of mismatched ones the others."""

    def logits(input_ids, attention_mask, position_ids):
        token, given = (MISMATCHED, mismatched) if MISMATCHED in input_ids else (TOKEN, rows)
        return said(given, input_ids.size(1), len(tokenizer), token)

    return Table(logits)


@lossproof.op
def preference(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    """The rows of pairs through the collator, the chosen ones first."""
    if pad_token_id != tokens["pad_token_id"]:
        raise Reject("this trainer's collator pads with %d" % tokens["pad_token_id"])
    completions, count = chosen_ids + rejected_ids, len(prompt_ids)
    return halves_of(labelled.collated(prompt_ids * 2, completions, [1] * count + [0] * count, completions))


@lossproof.op
def preference_batch(prompts, chosen, rejected):
    """A data set of pairs of conversations through the preparation, which takes them apart, and its rows through the collator."""
    spoken = [[[{"role": "assistant", "content": text}] for text in half] for half in (chosen, rejected)]
    pairs = [dict(zip(("prompt", "chosen", "rejected"), row)) for row in zip(prompts, *spoken)]
    rows = labelled.prepared(pairs, tokenizer)
    if len(rows) != 2 * len(prompts):
        raise Reject("KTOTrainer drops a row whose prompt alone is as long as max_length")
    return halves_of(trainer.data_collator(rows))


def halves_of(batch):
    rows = labelled.rows(batch)
    fields = {"input_ids": "input_ids", "attention_mask": "attention_mask", "mask": "completion_mask"}
    return {
        "%s_%s" % (half, field): rows[name].chunk(2)[at]
        for at, half in enumerate(("chosen", "rejected"))
        for field, name in fields.items()
    }


@lossproof.op(reference=True)
def model_score(model_path, prompt_ids, completion_ids, temperature, reference_path=None):
    """What the loss sums, of policy and reference, and the entropies that it logs a mean of, if any. KTOTrainer knows no
    temperature, and its KL is of the batch."""
    owner = labelled_of(model_path)
    reference = owner.trainer.ref_model if reference_path is None else frozen(reference_path)
    batch = owner.collated(prompt_ids, completion_ids, [1] * len(prompt_ids), completion_ids)
    policy, others, entropies = owner.scores(batch, reference)
    mask = owner.rows(batch)["completion_mask"][:, 1:].bool()

    def ragged(track):
        return [row[on].tolist() for row, on in zip(track, mask)]

    answer = {"logprobs": ragged(policy)}
    if entropies is not None:
        answer["entropy"] = ragged(entropies)
    return answer if reference_path is None else {**answer, "ref_logprobs": ragged(others)}


if __name__ == "__main__":
    lacks = {}
    if labelled.early:
        lacks["preference"] = "TRL %s makes its rows of texts, in the constructor of the trainer" % VERSION
    # Where prompts have a length of their own, answers are cut at what that leaves, less the places of bos and eos; then eos
    # is put behind them.
    prompts = getattr(trainer.args, "max_prompt_length", None)
    answers = [] if prompts is None else [trainer.args.max_length - prompts + more for more in (-1, 0, 1)]
    serve(
        "trl-kto",
        trainer.args,
        lacks=lacks,
        cut_at=answers,
        layout={"alignment": "token", "span": "row"},
        semantics={
            "stop_token_in_mask": True,
            "unpaired_objective": OBJECTIVES[OBJECTIVE],
            "unpaired_beta": trainer.beta,
            "desirable_weight": trainer.desirable_weight,
            "undesirable_weight": trainer.undesirable_weight,
        },
        tokens=tokens,
        tokenizer=FOLDER,
    )
