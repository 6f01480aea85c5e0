"""The losses, as forward_backward_batch accumulates them over micro-batches and ranks."""

from lossproof import Reject
from lossproof.adapters.common import _losses
from lossproof.adapters.verl._model import engine, unpadded
from lossproof.adapters.verl._parts import (
    ActorConfig,
    CriticConfig,
    DataProto,
    PolicyLossConfig,
    RolloutCorrectionConfig,
    add_correction,
    debug_metrics,
    losses,
    value_loss,
)
from lossproof.adapters.verl._settings import AGGREGATION, BETA, ENTROPY_COEF, NORM, POLICY, VALUE_CLIP
from lossproof.testing import Table, replaced

import torch

SCALE = NORM if AGGREGATION == "seq-mean-token-sum-norm" else None


def policy_config(settings, coefficients=(BETA, ENTROPY_COEF)):
    """verl's own configuration of an actor; `settings` in the words of the protocol."""
    given = {"kl_coef": coefficients[0], "clip_low": 0.2, "clip_high": 0.2, **settings}
    return ActorConfig(
        strategy="fsdp",
        rollout_n=1,
        ppo_micro_batch_size_per_gpu=1,
        use_kl_loss=given["kl_coef"] != 0,
        kl_loss_coef=given["kl_coef"],
        clip_ratio_low=given["clip_low"],
        clip_ratio_high=given["clip_high"],
        entropy_coeff=coefficients[1],
        loss_agg_mode=AGGREGATION,
        policy_loss=PolicyLossConfig(loss_mode=POLICY),
        loss_scale_factor=SCALE,
    )


def policy_step(rows, micro_batches, ranks, settings):
    """ppo_loss, as an actor of several micro-batches and ranks runs it."""
    config = policy_config(settings)
    data = responses(
        rows.mask,
        old_log_probs=rows.old,
        ref_log_prob=rows.ref,
        # compute_advantage has an advantage a token, 0 outside of the mask.
        advantages=rows.advantages[:, None] * rows.mask,
        **beside_engine(rows),
    )
    tracks = {"log_probs": rows.logprobs, **({} if rows.entropy is None else {"entropy": rows.entropy})}
    total = accumulated(data, lambda **given: losses.ppo_loss(config, **given), tracks, micro_batches, ranks)
    log(rows)
    return total


def log(rows):
    """What train_mini_batch makes of the KL that ppo_loss has for each micro-batch. Ranks with unlike numbers of them, which verl's
    own partition does not make, log nothing."""
    found = [logged["actor/ppo_kl"] for logged in engine.logged]
    if len({len(metric.values) for metric in found}) == 1:
        rows.metrics["approx_kl"] = losses.Metric.aggregate_dp(found)


def beside_engine(rows):
    """What the trainer makes of what the inference engine says: it logs the gap, and weighs each token."""
    if rows.sampling is None:
        return {}
    said = {"old_log_probs": rows.old, "rollout_log_probs": rows.sampling, "response_mask": rows.mask, "responses": rows.mask}
    data = DataProto.from_dict(said)
    rows.metrics["sampling_gap"] = debug_metrics(data)["training/rollout_probs_diff_mean"]
    config = RolloutCorrectionConfig(rollout_is="token")
    return {"rollout_is_weights": add_correction(data, config)[0].batch["rollout_is_weights"]}


def critic_step(rows, micro_batches, ranks):
    """value_loss, as a critic's engine runs it."""
    config = CriticConfig(
        strategy="fsdp",
        ppo_micro_batch_size_per_gpu=1,
        cliprange_value=VALUE_CLIP,
        loss_agg_mode=AGGREGATION,
        loss_scale_factor=SCALE,
    )
    data = responses(rows.mask, values=rows.old, returns=rows.returns)
    return accumulated(data, lambda **given: value_loss(config, **given), {"values": rows.values}, micro_batches, ranks)


def responses(mask, **fields):
    """A batch of one-token prompts, whose response is as wide as the mask."""
    ids = torch.zeros(mask.size(0), mask.size(1) + 1, dtype=torch.long)
    return engine.batch(
        row=torch.arange(mask.size(0)),
        prompts=ids[:, :1],
        responses=ids[:, 1:],
        attention_mask=torch.ones_like(ids),
        response_mask=mask,
        loss_mask=mask,
        global_batch_size=mask.size(0),
        **fields,
    )


def accumulated(data, loss, tracks, micro_batches, ranks):
    """The loss of these rows where the model's output is these tracks."""

    def forward(batch):
        return {name: nested(track[batch["row"]]) for name, track in tracks.items()}

    return engine.accumulate(data, loss, micro_batches, ranks, forward=forward)


def nested(track):
    """As the engine has it: jagged rows, of which index t predicts token t + 1 and the last predicts nothing."""
    rows = [torch.cat([row, torch.zeros(1)]) for row in track]
    lengths = torch.tensor([0, *[len(row) for row in rows]])
    return torch.nested.nested_tensor_from_jagged(torch.cat(rows), offsets=lengths.cumsum(0))


def supervised(owner, ids, real, labels):
    """The SFT trainer's batch: jagged rows of real tokens."""
    lengths = torch.cat([torch.zeros(1, dtype=torch.long), real.sum(1)]).cumsum(0)
    jagged = {
        "input_ids": ids,
        "position_ids": (real.cumsum(1) - 1).clamp(min=0),
        "loss_mask": (labels != -100).long(),
    }
    rows = {
        name: torch.nested.nested_tensor_from_jagged(track[real.bool()], offsets=lengths) for name, track in jagged.items()
    }
    return owner.batch(**rows, temperature=1.0, use_remove_padding=False, pad_mode="no_padding", global_batch_size=len(ids))


def supervised_step(leaf, ids, real, labels, micro_batches, ranks):
    """sft_loss behind the engine's own forward pass."""
    if not real.any(1).all():
        raise Reject("verl has no rows without a token")
    data = supervised(engine, ids, real, labels)
    data["row"] = torch.arange(len(ids))

    def forward(batch):
        table = Table(unpadded(leaf[batch["row"]], real[batch["row"]]))
        with replaced(engine.engine, module=table):
            inputs, kept_back = engine.engine.prepare_model_inputs(batch)
            return engine.engine.prepare_model_outputs(table(**inputs, use_cache=False), kept_back, batch, None)

    return engine.accumulate(data, lambda **given: losses.sft_loss(None, **given), micro_batches, ranks, forward=forward)


_losses.policy_loss(policy_step, BETA, corrected=True)
_losses.critic_loss(critic_step)
_losses.supervised_loss(supervised_step)
