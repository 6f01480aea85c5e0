"""Log-probabilities and entropies of the engine's forward pass, and the KL between them."""

import lossproof
from lossproof import Reject
from lossproof.adapters.verl._model import engine, engine_of, laid_out, unpadded
from lossproof.adapters.verl._parts import core
from lossproof.testing import Table

import torch


def given(input_ids, attention_mask, logits, prompt_width, **settings):
    """The engine's answer to these logits. Its rows have no padding on the left: a model's logits stand where its ids do."""
    ids, real = torch.tensor(input_ids), torch.tensor(attention_mask)
    data = engine.rows(ids, real, prompt_width, **settings)
    return engine.forward(data, Table(unpadded(torch.tensor(logits), real)))


@lossproof.op(temperature=True)
def logprobs(input_ids, attention_mask, logits, prompt_width, temperature):
    return {"logprobs": given(input_ids, attention_mask, logits, prompt_width, temperature=temperature)["log_probs"]}


@lossproof.op
def entropy(input_ids, attention_mask, logits, prompt_width):
    return {"entropy": given(input_ids, attention_mask, logits, prompt_width, calculate_entropy=True)["entropy"]}


def scored(owner, prompt_ids, completion_ids, packed=False, temperature=1.0):
    """Log-probabilities and entropies; packed, all rows are one (use_remove_padding, verl's default)."""
    if any(not prompt for prompt in prompt_ids):
        raise Reject("verl has no rows without a prompt")
    data = owner.rows(
        *laid_out(prompt_ids, completion_ids),
        temperature=temperature,
        use_remove_padding=packed,
        calculate_entropy=True,
    )
    found = owner.forward(data)
    return [
        [row[: len(ids)].tolist() for row, ids in zip(found[name], completion_ids)] for name in ("log_probs", "entropy")
    ]


@lossproof.op(packed=True)
def score(prompt_ids, completion_ids, packed=False):
    return {"logprobs": scored(engine, prompt_ids, completion_ids, packed)[0]}


@lossproof.op(temperature=True, reference=True, packed=True)
def model_score(model_path, prompt_ids, completion_ids, temperature, reference_path=None, packed=False):
    found = scored(engine_of(model_path), prompt_ids, completion_ids, packed, temperature)
    answer = dict(zip(("logprobs", "entropy"), found))
    if reference_path is not None:
        answer["ref_logprobs"] = scored(engine_of(reference_path), prompt_ids, completion_ids, packed, temperature)[0]
    return answer


@lossproof.op(kl_estimator=["k1", "k2", "k3", "abs"])
def kl(logprobs, ref_logprobs, completion_mask, kl_estimator="k3"):
    return {"kl": core.kl_penalty(torch.tensor(logprobs), torch.tensor(ref_logprobs), kl_estimator)}
