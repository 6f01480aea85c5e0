"""From rewards and values to advantages: compute_advantage, masked_whiten, apply_kl_penalty."""

import lossproof
from lossproof import Reject
from lossproof.adapters.verl._parts import AlgoConfig, DataProto, agents, core, functional, trainer, verl
from lossproof.adapters.verl._settings import ESTIMATOR
from lossproof.testing import spy

import numpy
import torch

# The lines of the agent loop that put the score of each row into its matrix.
scored_at = verl.lines(
    ["token_rewards"],
    agents,
    "AgentLoopWorker._postprocess",
    begin="if all(score is not None for score in scores):",
    end='batch["rm_scores"] = rm_scores',
    inputs=["scores", "batch", "attention_mask", "prompt_ids", "response_mask"],
    outputs="rm_scores",
)


def estimated(estimator, rewards, mask, groups, **fields):
    """compute_advantage on a batch of these token rewards."""
    batch = {"token_level_rewards": rewards, "response_mask": mask, **fields}
    gamma, lam = batch.pop("gamma", 1.0), batch.pop("lam", 1.0)
    data = DataProto.from_dict(batch, non_tensors={"uid": numpy.array(groups, dtype=object)})
    config = AlgoConfig(gamma=gamma, lam=lam, adv_estimator=estimator)
    return trainer.compute_advantage(data, estimator, gamma=gamma, lam=lam, config=config).batch


@lossproof.op(interleaved_groups=True)
def advantages(rewards, group_ids, lengths):
    """A response of one token per row: what an outcome estimator says of it is the row's advantage. Of as many as it has where
    they are the weights of its baseline; elsewhere tokens are whitened, each of which counts."""
    counts = torch.tensor(lengths) if ESTIMATOR == "opo" else torch.ones(len(rewards), dtype=torch.long)
    columns = torch.arange(int(counts.max()))
    score = torch.tensor(rewards)[:, None] * (columns == counts[:, None] - 1)
    mask = (columns < counts[:, None]).to(score.dtype)
    return {"advantages": estimated(ESTIMATOR, score, mask, group_ids)["advantages"][:, 0]}


@lossproof.op
def gae(rewards, values, completion_mask, gamma, lam):
    mask = torch.tensor(completion_mask, dtype=torch.float32)
    rows = list(range(len(mask)))
    try:
        found = estimated("gae", torch.tensor(rewards), mask, rows, values=torch.tensor(values), gamma=gamma, lam=lam)
    except ValueError as refusal:
        raise Reject(str(refusal))
    return {"advantages": found["advantages"], "returns": found["returns"]}


@lossproof.op
def returns(rewards, completion_mask, gamma):
    """REINFORCE++'s, whose whitening of them is op whiten."""
    mask = torch.tensor(completion_mask, dtype=torch.float32)
    with spy(functional, "masked_whiten", returns=torch.zeros(mask.shape)):
        found = estimated("reinforce_plus_plus", torch.tensor(rewards), mask, list(range(len(mask))), gamma=gamma)
    return {"returns": found["returns"]}


@lossproof.op
def whiten(values, completion_mask):
    try:
        return {"values": functional.masked_whiten(torch.tensor(values), torch.tensor(completion_mask))}
    except ValueError as refusal:
        raise Reject(str(refusal))


@lossproof.op
def token_rewards(scores, kl, completion_mask, kl_coef):
    """apply_kl_penalty, with this estimate in the place of kl_penalty's. The score stands where the agent loop puts it, at the
    last token of the response, which a tool may have written."""
    mask = torch.tensor(completion_mask)
    if not mask.any(1).all():
        raise Reject("the agent loop has a token in every response")
    reached = mask.flip(1).cummax(1).values.flip(1)
    placed = scored_at(
        scores=list(scores),
        batch={},
        attention_mask=torch.cat([torch.ones_like(mask[:, :1]), reached], dim=1),
        prompt_ids=mask[:, :1],
        response_mask=mask,
    )
    fields = {"response_mask": mask, "token_level_scores": placed}
    fields.update(old_log_probs=torch.zeros(mask.shape), ref_log_prob=torch.zeros(mask.shape))
    with spy(core, "kl_penalty", returns=torch.tensor(kl)):
        data, _ = trainer.apply_kl_penalty(DataProto.from_dict(fields), core.FixedKLController(kl_coef))
    return {"rewards": data.batch["token_level_rewards"]}
