"""From scores and values to advantages: RewardManager, apply_kl_penalty, compute_values, compute_advantage."""

import lossproof
from lossproof import Reject
from lossproof.adapters.common._checkout import Quiet
from lossproof.adapters.search_r1._model import codec
from lossproof.adapters.search_r1._parts import DataProto, core, critics, functional, outcome, trainer
from lossproof.adapters.search_r1._rows import Rows
from lossproof.testing import instance, replaced, spy

import numpy
import torch


def penalised(batch, scores, kl, kl_coef):
    """apply_kl_penalty, with this estimate in the place of kl_penalty's."""
    batch.batch["token_level_scores"] = scores
    batch.batch["old_log_probs"], batch.batch["ref_log_prob"] = torch.zeros_like(kl), torch.zeros_like(kl)
    with spy(core, "kl_penalty", returns=kl):
        return trainer.apply_kl_penalty(batch, core.FixedKLController(kl_coef))[0].batch["token_level_rewards"]


@lossproof.op
def token_rewards(scores, kl, completion_mask, kl_coef):
    """The score stands where RewardManager puts it."""
    others = {
        "data_source": numpy.array([""] * len(scores), dtype=object),
        "reward_model": numpy.array([{"ground_truth": score} for score in scores], dtype=object),
    }
    batch = DataProto.from_dict(Rows(completion_mask).fields(), non_tensors=others, meta_info={})
    with replaced(outcome, _select_rm_score_fn=lambda _: lambda ground_truth, **__: ground_truth):
        placed = outcome.RewardManager(codec, 0)(batch)
    return {"rewards": penalised(batch, placed, torch.tensor(kl), kl_coef)}


def valued(batch, values):
    """compute_values of a critic that says these."""
    made = instance(
        critics.DataParallelPPOCritic,
        critic_module=Quiet(),
        ulysses_sequence_parallel_size=1,
        _forward_micro_batch=lambda _: values,
    )
    batch.meta_info.update(micro_batch_size=len(values), use_dynamic_bsz=False)
    return made.compute_values(batch)


def estimated(batch, estimator, **settings):
    try:
        return trainer.compute_advantage(batch, estimator, **settings).batch
    except ValueError as refusal:
        raise Reject(str(refusal))  # of a batch of one trained token


@lossproof.op
def gae(rewards, values, completion_mask, gamma, lam):
    """Rewards are as apply_kl_penalty leaves them, and values as compute_values does: both mask."""
    batch = DataProto.from_dict(Rows(completion_mask).fields(), meta_info={})
    kl = -torch.tensor(rewards)
    batch.batch["token_level_rewards"] = penalised(batch, torch.zeros_like(kl), kl, 1.0)
    batch.batch["values"] = valued(batch, torch.tensor(values))
    found = estimated(batch, "gae", gamma=gamma, lam=lam)
    return {name: found[name] for name in ("advantages", "returns")}


@lossproof.op
def whiten(values, completion_mask):
    try:
        return {"values": functional.masked_whiten(torch.tensor(values), torch.tensor(completion_mask))}
    except ValueError as refusal:
        raise Reject(str(refusal))


@lossproof.op(interleaved_groups=True)
def advantages(rewards, group_ids):
    """Its GRPO, on a response of one token per row."""
    fields = {**Rows([[1]] * len(rewards)).fields(), "token_level_rewards": torch.tensor(rewards)[:, None]}
    batch = DataProto.from_dict(fields, non_tensors={"uid": numpy.array(group_ids, dtype=object)}, meta_info={})
    return {"advantages": estimated(batch, "grpo")["advantages"][:, 0]}
