"""Log-probabilities of Actor's forward pass, values of the critic's, scores of the reward model's, and the KL of two policies."""

import lossproof
from lossproof.adapters.common._models import frozen
from lossproof.adapters.common._tiny import tiny_model
from lossproof.adapters.orz._model import acting, regression, scored, tokenizer
from lossproof.adapters.orz._outside import Packed
from lossproof.adapters.orz._parts import utils
from lossproof.adapters.orz._rows import laid
from lossproof.adapters.orz._settings import PACKED, RELEASED
from lossproof.testing import Table

import torch

KINDS = {"k1": (False, False), "k3": (True, False), "abs": (False, True)}
OWN_KIND = "k3" if RELEASED.use_kl_estimator_k3 else "k1"

OWN = Packed(tiny_model(len(tokenizer)).eval())
CRITIC = regression("critic")
REWARD = regression("reward")


def of_logits(input_ids, attention_mask, logits):
    """(B, T) log-probabilities of every token behind the first of its row."""
    ids, real, table = torch.tensor(input_ids), torch.tensor(attention_mask), torch.tensor(logits)
    found = torch.zeros(ids.shape)
    with torch.no_grad():
        if not PACKED:
            found[:, 1:] = acting(Table(table))(ids, ids.size(1) - 1, real)
            return found
        rows = [row.nonzero()[:, 0] for row in real]
        places = [(at, columns) for at, columns in enumerate(rows) if len(columns)]
        lengths = [len(columns) for _, columns in places]
        index = torch.cat([torch.full((count,), at + 1) for at, count in enumerate(lengths)])[None]
        one = torch.cat([ids[at, columns] for at, columns in places])[None]
        given = Table(torch.cat([table[at, columns] for at, columns in places])[None])
        actions = [count - 1 for count in lengths]
        values = acting(given)(one, actions, index, packed_seq_lens=lengths)
    for (at, columns), part in zip(places, values[0].split(actions)):
        found[at, columns[1:]] = part
    return found


@lossproof.op
def logprobs(input_ids, attention_mask, logits):
    return {"logprobs": of_logits(input_ids, attention_mask, logits)}


def of_completions(role, model, prompt_ids, completion_ids, packed=True):
    """A list per row: of all of them in packed rows, or of each in its own."""
    if packed:
        batches = laid(prompt_ids, completion_ids)
    else:
        batches = [batch for row in zip(prompt_ids, completion_ids) for batch in laid(*([ids] for ids in row))]
    values = [scored(role, model, batch, num_actions=batch.actions)[0].split(batch.actions) for batch in batches]
    return [row.tolist() for parts in values for row in parts]


@lossproof.op(packed=True)
def score(prompt_ids, completion_ids, packed=False):
    return {"logprobs": of_completions("PolicyRayActorBase", acting(OWN), prompt_ids, completion_ids, packed)}


@lossproof.op(reference=True, packed=True)
def model_score(model_path, prompt_ids, completion_ids, reference_path=None, packed=False):
    def under(role, path):
        return of_completions(role, acting(Packed(frozen(path))), prompt_ids, completion_ids, packed)

    answer = {"logprobs": under("PolicyRayActorBase", model_path)}
    if reference_path is not None:
        answer["ref_logprobs"] = under("RefRayActorBase", reference_path)
    return answer


@lossproof.op
def values(prompt_ids, completion_ids):
    return {"values": of_completions("CriticRayActorBase", CRITIC, prompt_ids, completion_ids)}


@lossproof.op
def reward_model(prompt_ids, completion_ids):
    return {"scores": torch.cat([scored("RewardRayActorBase", REWARD, each) for each in laid(prompt_ids, completion_ids)])}


@lossproof.op(kl_estimator=list(KINDS))
def kl(logprobs, ref_logprobs, completion_mask, kl_estimator=OWN_KIND):
    """Without a mask where rows are packed, as they have no padding there."""
    k3, absolute = KINDS[kl_estimator]
    mask = None if PACKED else torch.tensor(completion_mask)
    return {"kl": utils.compute_approx_kl(torch.tensor(logprobs), torch.tensor(ref_logprobs), mask, k3, absolute)}
