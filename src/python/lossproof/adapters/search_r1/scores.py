"""Log-probabilities and entropies of the actor's forward pass on padded rows, and the KL of two policies."""

import lossproof
from lossproof.adapters.search_r1._parts import actors, core
from lossproof.adapters.search_r1._settings import ESTIMATORS, OWN_ESTIMATOR
from lossproof.testing import Table, instance

import torch


def forward(input_ids, attention_mask, logits, prompt_width, temperature=1.0):
    """(entropies, log-probabilities), (B, C) each."""
    ids, real = torch.tensor(input_ids), torch.tensor(attention_mask)
    actor = instance(
        actors.DataParallelPPOActor,
        actor_module=Table(torch.tensor(logits)),
        use_remove_padding=False,
        use_ulysses_sp=False,
    )
    batch = {
        "input_ids": ids,
        "attention_mask": real,
        "position_ids": (real.cumsum(1) - 1).clamp(min=0),
        "responses": ids[:, prompt_width:],
    }
    with torch.no_grad():
        return actor._forward_micro_batch(batch, temperature=temperature)


@lossproof.op(temperature=True)
def logprobs(input_ids, attention_mask, logits, prompt_width, temperature=1.0):
    return {"logprobs": forward(input_ids, attention_mask, logits, prompt_width, temperature)[1]}


@lossproof.op
def entropy(input_ids, attention_mask, logits, prompt_width):
    return {"entropy": forward(input_ids, attention_mask, logits, prompt_width)[0]}


@lossproof.op(kl_estimator=list(ESTIMATORS))
def kl(logprobs, ref_logprobs, kl_estimator=OWN_ESTIMATOR):
    return {"kl": core.kl_penalty(torch.tensor(logprobs), torch.tensor(ref_logprobs), ESTIMATORS[kl_estimator])}
