"""Supervised fine-tuning: the loss of a step, scores of the model's forward pass, and a step on a checkpoint."""

from types import SimpleNamespace

import lossproof
from lossproof.adapters.common._models import descend, kept
from lossproof.adapters.common._tiny import tiny_model, transformers
from lossproof.adapters.common._trainer import accumulated, items_of
from lossproof.adapters.llama_factory._model import MULTIPLE, collating, supervised, tokenizer
from lossproof.adapters.llama_factory._parts import collators, factory
from lossproof.adapters.llama_factory._rows import given
from lossproof.adapters.llama_factory._settings import LOSS
from lossproof.testing import replaced, spy

import torch

NEAT = {"block_diag_attn": True, "neat_packing": True, "attn_implementation": "sdpa"}


def tuned_on(model):
    """The reference of ASFT is the policy itself: their KL is 0, and what is left is the loss of the targets."""
    made = supervised(model)
    made.ref_model = model
    return made


trainer = tuned_on(tiny_model(len(tokenizer)))


@kept
def trainer_of(path):
    return tuned_on(transformers.AutoModelForCausalLM.from_pretrained(path))


@lossproof.op(micro_batches=True)
def sft_loss(input_ids, attention_mask, labels, logits, micro_batches):
    """One optimiser step."""
    loss, weights, _ = accumulated(trainer, input_ids, attention_mask, labels, logits, micro_batches)
    answer = {"loss": loss, "trained_tokens": sum(label != -100 for row in labels for label in row[1:])}
    # Those of DFT are the probabilities of the tokens.
    return {**answer, "loss_weights": weights} if LOSS == "ce" else answer


def collated(owner, prompt_ids, completion_ids, packed=False):
    """(the trainer's batch of these examples, their prompts untrained, where in it each completion is)."""
    turns = [[(list(prompt), list(completion))] for prompt, completion in zip(prompt_ids, completion_ids)]
    lengths = [len(prompt) + len(completion) for ((prompt, completion),) in turns]
    if not packed:
        rows = given(turns, len(turns))
        starts = [(row, 0) for row in range(len(rows))]
        batch = owner.data_collator(rows)
    else:
        # As wide as the collator pads: positions are not padded.
        width = -(-(sum(lengths) + 1) // MULTIPLE) * MULTIPLE
        (row,) = rows = given(turns, len(turns), limit=width, neat_packing=True)
        starts = [(0, start) for start in starts_of(row, turns)]
        batch = collating(collators.SFTDataCollatorWith4DAttentionMask, owner.model, **NEAT)(rows)
    places = [
        (at, slice(start + len(prompt), start + length))
        for (at, start), ((prompt, _),), length in zip(starts, turns, lengths)
    ]
    return batch, places


def starts_of(row, turns):
    """Where each example begins in a packed row: its processor takes them in another order."""
    starts, left, begin = [None] * len(turns), list(range(len(turns))), 0
    rows = [[*prompt, *completion] for ((prompt, completion),) in turns]
    for segment in range(1, len(turns) + 1):
        end = begin + row["attention_mask"].count(segment)
        at = next(at for at in left if rows[at] == row["input_ids"][begin:end])  # those that are alike are scored alike
        left.remove(at)
        starts[at], begin = begin, end
    return starts


def scores(owner, batch):
    """(log-probabilities, entropies), (B, T): what compute_loss hands to the model, less the labels."""
    reference = replaced(owner, ref_model=lambda **_: SimpleNamespace(logits=None))  # of ASFT, which is asked first
    with reference, spy(owner.model, "forward", stop=True) as calls:
        owner.compute_loss(owner.model, dict(batch), num_items_in_batch=1)
    asked = {name: value for name, value in calls[0].kwargs.items() if name not in ("labels", "num_items_in_batch")}
    with torch.no_grad():
        logps = torch.log_softmax(owner.model(**asked).logits, dim=-1)
    found, entropy = torch.zeros(batch["input_ids"].shape), torch.zeros(batch["input_ids"].shape)
    found[:, 1:] = logps[:, :-1].gather(2, batch["input_ids"][:, 1:, None])[..., 0]
    entropy[:, 1:] = -(logps.exp() * logps).sum(-1)[:, :-1]
    return found, entropy


def of_completions(owner, prompt_ids, completion_ids, packed):
    batch, places = collated(owner, prompt_ids, completion_ids, packed)
    return [[track[place].tolist() for place in places] for track in scores(owner, batch)]


@lossproof.op(packed=True)
def score(prompt_ids, completion_ids, packed=False):
    """Packed: neat_packing without flash-attn, whose mask is (T, T)."""
    return {"logprobs": of_completions(trainer, prompt_ids, completion_ids, packed)[0]}


@lossproof.op(packed=True)
def model_score(model_path, prompt_ids, completion_ids, temperature, packed=False):
    """The forward pass of a trainer that was given this checkpoint. It knows no temperature."""
    owner = trainer_of(model_path)
    return dict(zip(("logprobs", "entropy"), of_completions(owner, prompt_ids, completion_ids, packed)))


def train_step(model_path, prompt_ids, completion_ids, learning_rate, saved_path, advantages=None):
    """compute_loss on the collator's batch; the step itself is plain descent."""
    owner = trainer_of(model_path)
    batch, _ = collated(owner, prompt_ids, completion_ids)
    loss = owner.compute_loss(owner.model, dict(batch), num_items_in_batch=items_of(owner, [batch]))
    descend(owner.model, loss, learning_rate, saved_path)
    return {"loss": loss.item()}


if LOSS == "ce":
    lossproof.op(route=["sft"])(train_step)
else:
    factory.lacks["train_step"] = "with LOSSPROOF_LOSS=%s, whose loss this op knows no formula of" % LOSS
