"""Log-probabilities and entropies of Actor's forward pass, and the KL between them."""

import lossproof
from lossproof.adapters.common._models import frozen
from lossproof.adapters.common._tiny import tiny_model
from lossproof.adapters.openrlhf._model import acting, batch_of, tokenizer
from lossproof.adapters.openrlhf._parts import utils
from lossproof.testing import Table

import torch


def scores(actor, ids, attention):
    """(log-probabilities, entropies), (B, T - 1), of every token behind the first."""
    with torch.no_grad():
        found, output = actor(ids, attention[:, 1:], attention_mask=attention, return_output=True, return_entropy=True)
    return found, output.entropy


def of_logits(input_ids, attention_mask, logits, temperature=1.0):
    return scores(acting(Table(torch.tensor(logits)), temperature), torch.tensor(input_ids), torch.tensor(attention_mask))


@lossproof.op(temperature=True)
def logprobs(input_ids, attention_mask, logits, temperature):
    return {"logprobs": of_logits(input_ids, attention_mask, logits, temperature)[0]}


@lossproof.op
def entropy(input_ids, attention_mask, logits):
    return {"entropy": of_logits(input_ids, attention_mask, logits)[1]}


def of_completions(actor, prompt_ids, completion_ids):
    ids, attention, action = batch_of(prompt_ids, completion_ids)
    return [[row[on].tolist() for row, on in zip(track, action.bool())] for track in scores(actor, ids, attention)]


OWN = tiny_model(len(tokenizer)).eval()


@lossproof.op
def score(prompt_ids, completion_ids):
    return {"logprobs": of_completions(acting(OWN), prompt_ids, completion_ids)[0]}


@lossproof.op(temperature=True, reference=True)
def model_score(model_path, prompt_ids, completion_ids, temperature, reference_path=None):
    found = of_completions(acting(frozen(model_path), temperature), prompt_ids, completion_ids)
    answer = dict(zip(("logprobs", "entropy"), found))
    if reference_path is not None:
        reference = acting(frozen(reference_path), temperature)
        answer["ref_logprobs"] = of_completions(reference, prompt_ids, completion_ids)[0]
    return answer


@lossproof.op(kl_estimator=["k1", "k2", "k3"])
def kl(logprobs, ref_logprobs, kl_estimator="k3"):
    return {"kl": utils.compute_approx_kl(torch.tensor(logprobs), torch.tensor(ref_logprobs), kl_estimator=kl_estimator)}
