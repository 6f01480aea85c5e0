"""The losses of actor and critic: training_step of each micro-batch, as ppo_train calls it."""

from lossproof.adapters.common import _losses
from lossproof.adapters.openrlhf._parts import DeepspeedStrategy, Experience, PolicyLoss, ValueLoss, critic, normalised, policy
from lossproof.adapters.openrlhf._settings import AGGREGATION, BETA, ENTROPY_COEF, POLICY, VALUE_CLIP
from lossproof.adapters.openrlhf._standins import Strategy, Tracks, over_ranks, reduced, tree
from lossproof.testing import instance, replaced

import torch


# As its options have them: each token is weighed by how much likelier the trainer finds it than the engine, within these bounds.
CORRECTED = {"is_correction_level": "token", "is_correction_mode": "clip", "is_correction_threshold": [0.5, 5.0]}


def policy_trainer(strategy, settings, entropy_coef, corrected=False):
    """ActorPPOTrainer with these settings, in the words of the protocol; corrected: for what an inference engine says."""
    given = {"kl_coef": BETA, "clip_low": 0.2, "clip_high": 0.2, **settings}
    args = tree(
        actor={"entropy_coef": entropy_coef},
        algo={
            "kl": {
                "use_loss": given["kl_coef"] != 0,
                "init_coef": given["kl_coef"],
                "estimator": "k3",
                "unbiased_gradient": False,
            }
        },
        train={"dynamic_batch_enable": False},
    )
    strategy.args = args
    made = instance(
        policy.ActorPPOTrainer,
        strategy=strategy,
        args=args,
        aux_loss=False,
        ema_model=None,
        replay_buffer=None,
        actor_optim=None,
        actor_scheduler=tree(get_last_lr=lambda: [0.0]),
        actor_loss_fn=PolicyLoss(
            given["clip_low"],
            given["clip_high"],
            token_level_loss=AGGREGATION == "token-mean",
            policy_loss_type=POLICY,
            **(CORRECTED if corrected else {}),
        ),
    )
    return made, given["kl_coef"]


def trained(actor, experiences, strategy, settings, entropy_coef):
    """One optimiser step of one rank: training_step of each micro-batch, as ppo_train calls it. Returns the loss."""
    corrected = any(experience.rollout_log_probs is not None for experience in experiences)
    trainer, kl_coef = policy_trainer(strategy, settings, entropy_coef, corrected)
    trainer.actor = actor
    counted = normalised(experiences, strategy, len(experiences), lambda each: each.action_mask)
    for step, (experience, info) in enumerate(counted):
        strategy.statuses.append(trainer.training_step(experience, kl_coef, step, info))
    return strategy.total


def logged(ranks):
    """What ppo_train makes of what training_step returned, of the strategy and the micro-batches of each rank. Nothing where it ends
    itself: it divides by the number of trained tokens of one micro-batch over all ranks."""

    def rank(strategy, batches):
        statuses = iter(strategy.statuses)
        trainer = instance(
            policy.ActorPPOTrainer,
            strategy=tree(
                all_reduce=instance(DeepspeedStrategy, world_size=len(ranks)).all_reduce,
                accumulated_gradient=len(batches),
                ring_attn_group=None,
                is_rank_0=lambda: False,
            ),
            args=tree(train={"dynamic_batch_enable": False}, ds={"tensor_parallel_size": 1}),
            replay_buffer=tree(sample_batch_size=1, collate_fn=None),
            dataloader_pin_memory=False,
            max_epochs=1,
            training_step=lambda *_: next(statuses),
        )
        with replaced(policy, DataLoader=lambda *_, **__: batches):
            return trainer.ppo_train(0.0)

    try:
        return reduced([lambda own=own: rank(*own) for own in ranks])[0]
    except ZeroDivisionError:
        return {}


def policy_step(rows, micro_batches, ranks, settings):
    spread = rows.advantages[:, None] * torch.ones_like(rows.logprobs)
    played = []

    def rank(parts):
        batches = [
            experience(
                part,
                rows.mask,
                action_log_probs=rows.old[part],
                base_action_log_probs=rows.ref[part],
                advantages=spread[part],
                rollout_log_probs=None if rows.sampling is None else rows.sampling[part],
            )
            for part in parts
        ]
        strategy = Strategy(micro_batches=len(parts))
        total = trained(Tracks(rows.logprobs, rows.entropy), batches, strategy, settings, ENTROPY_COEF)
        played.append((strategy, batches))
        if len(batches) == 1 and "vllm_kl" in batches[0].info:
            rows.metrics["sampling_gap"] = batches[0].info["vllm_kl"]
        return total

    total = over_ranks(len(rows.mask), micro_batches, ranks, rank)
    found = logged(played).get("ppo_kl")
    if found is not None:
        rows.metrics["approx_kl"] = found
    return total


def critic_step(rows, micro_batches, ranks):
    def rank(parts):
        batches = [experience(part, rows.mask, values=rows.old[part], returns=rows.returns[part]) for part in parts]
        strategy = Strategy(tree(actor={"aux_loss_coef": 0.0}, train={"dynamic_batch_enable": False}), len(parts))
        trainer = instance(
            critic.CriticPPOTrainer,
            strategy=strategy,
            args=strategy.args,
            aux_loss=False,
            replay_buffer=None,
            critic=Tracks(rows.values),
            critic_optim=None,
            critic_scheduler=tree(get_last_lr=lambda: [0.0]),
            critic_loss_fn=ValueLoss(VALUE_CLIP),
        )
        for step, (batch, info) in enumerate(normalised(batches, strategy, len(batches), lambda each: each.action_mask)):
            trainer.training_step(batch, step, info)
        return strategy.total

    return over_ranks(len(rows.mask), micro_batches, ranks, rank)


def experience(part, mask, **fields):
    """These rows of a batch; their ids say which ones they are."""
    ids = torch.zeros(len(part), mask.size(1) + 1, dtype=torch.long)
    ids[:, 0] = torch.tensor(part)
    return Experience(sequences=ids, attention_mask=torch.ones_like(ids), action_mask=mask[part], **fields)


_losses.policy_loss(policy_step, BETA, corrected=True)
_losses.critic_loss(critic_step)
