"""Pairs of answers: ops preference, preference_loss and preference_step, and the sums of log-probabilities that they come from."""

import lossproof
from lossproof import Reject
from lossproof.adapters.common._models import descend, frozen
from lossproof.adapters.common._tiny import tiny_model
from lossproof.adapters.llama_factory._model import collating, preferring, tokenizer, tokens
from lossproof.adapters.llama_factory._parts import collators, factory, utils
from lossproof.adapters.llama_factory._rows import given
from lossproof.adapters.llama_factory._settings import BETA, OBJECTIVE, SIMPO_GAMMA
from lossproof.testing import Table, replaced

import torch

# What a logit is where its token cannot be: exp of it is 0, and sums of it stay finite.
NEVER = -1e4
TOKEN, OTHER = 0, 1


def paired(prompt_ids, chosen_ids, rejected_ids):
    """PairwiseDatasetProcessor's rows: of each pair it encodes the better answer, then the worse one."""
    encoded = []
    for prompt, *halves in zip(prompt_ids, chosen_ids, rejected_ids):
        encoded += [(list(prompt), list(half)) for half in halves]
    return given(encoded, len(prompt_ids), "rm", method="encode_oneturn")


def halves_of(rows):
    """What goes into the model, and where get_batch_logps sums: the slope of its sums."""
    batch = collating(collators.PairwiseDataCollatorWithPadding)(rows)
    targets = torch.where(batch["labels"] == -100, -100, 0)  # which tokens they are does not matter
    leaf = torch.zeros(*targets.shape, 2, requires_grad=True)
    utils.get_batch_logps(leaf, targets)[0].sum().backward()
    mask = torch.zeros_like(targets)
    mask[:, 1:] = (leaf.grad != 0).any(-1)[:, :-1].long()
    tracks = {"input_ids": batch["input_ids"], "attention_mask": batch["attention_mask"], "mask": mask}
    return {
        "%s_%s" % (half, name): track.chunk(2)[at]
        for at, half in enumerate(("chosen", "rejected"))
        for name, track in tracks.items()
    }


@lossproof.op
def preference(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    if pad_token_id != tokens["pad_token_id"]:
        raise Reject("this trainer's collator pads with %d" % tokens["pad_token_id"])
    return halves_of(paired(prompt_ids, chosen_ids, rejected_ids))


trainer = preferring(tiny_model(len(tokenizer)), tiny_model(len(tokenizer)))


def saying(rows, width):
    """A model whose logits give token t of each answer, behind a prompt of one token, the log-probability rows[b][t]."""
    logits = torch.full((len(rows), width, 2), NEVER)
    for b, row in enumerate(rows):
        said = torch.tensor(row, dtype=torch.float64)
        logits[b, : len(row), TOKEN] = said.float()
        logits[b, : len(row), OTHER] = torch.log(-torch.expm1(said)).clamp(min=NEVER).float()
    return Table(logits)


def objective(pairs, beta):
    """(loss, metrics) of get_batch_loss_metrics."""
    chosen, rejected, ref_chosen, ref_rejected = map(list, zip(*pairs))
    halves = ([[TOKEN] * len(row) for row in half] for half in (chosen, rejected))
    batch = trainer.data_collator(paired([[TOKEN]] * len(pairs), *halves))
    width = batch["input_ids"].size(1)
    reference = saying(ref_chosen + ref_rejected, width)
    # simpo_gamma is divided by beta where it is used: with another beta the target margin stays.
    settings = {"ref_model": reference, "beta": beta, "simpo_gamma": SIMPO_GAMMA / BETA * beta}
    with torch.no_grad(), replaced(trainer, **settings):
        loss, metrics = trainer.get_batch_loss_metrics(saying(chosen + rejected, width), dict(batch))
    return loss.item(), metrics


@lossproof.op(knobs={"beta": [0.1, 0.5]})
def preference_loss(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings=None):
    """The loss of the batch. What is logged of rewards are means over a batch, so each pair is asked alone as well."""
    settings = dict(settings or {})
    beta = settings.pop("beta", BETA)
    if settings:
        raise Reject("no setting %s; there is beta" % sorted(settings)[0])
    pairs = list(zip(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs))
    if trainer.loss_type in ("ipo", "orpo", "simpo") and not all(len(half) for pair in pairs for half in pair):
        raise Reject("the mean of an answer without a token")
    alone = [objective([pair], beta) for pair in pairs]
    return {
        "loss": objective(pairs, beta)[0],
        "losses": [loss for loss, _ in alone],
        "chosen_rewards": [metrics["rewards/chosen"] for _, metrics in alone],
        "rejected_rewards": [metrics["rewards/rejected"] for _, metrics in alone],
    }


def preference_step(model_path, reference_path, prompt_ids, chosen_ids, rejected_ids, learning_rate, saved_path):
    """compute_loss on the collator's batch; the step itself is plain descent."""
    model = frozen(model_path).requires_grad_(True)
    batch = trainer.data_collator(paired(prompt_ids, chosen_ids, rejected_ids))
    with replaced(trainer, ref_model=frozen(reference_path)):
        loss = trainer.compute_loss(model, dict(batch))
    descend(model, loss, learning_rate, saved_path)
    model.requires_grad_(False)
    return {"loss": loss.item()}


if OBJECTIVE == "orpo":
    factory.lacks["preference_step"] = "with LOSSPROOF_OBJECTIVE=orpo, of which this op knows no formula"
else:
    lossproof.op(preference_step)


@lossproof.op(temperature=True)
def logprobs(input_ids, attention_mask, logits, prompt_width, temperature=1.0):
    """get_batch_logps sums over a row, and is asked for one token at a time. It divides by no temperature."""
    ids, given_logits = torch.tensor(input_ids), torch.tensor(logits)
    found = torch.zeros(ids.shape)
    for row, column in torch.tensor(attention_mask).nonzero().tolist():
        if column == 0:
            continue  # nothing predicts a row's first token
        labels = torch.full_like(ids[row : row + 1], -100)
        labels[0, column] = ids[row, column]
        found[row, column] = utils.get_batch_logps(given_logits[row : row + 1], labels)[0]
    return {"logprobs": found}
