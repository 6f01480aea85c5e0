"""The supervised loss: the loop of SFTTrainer.fit, its own lines."""

from lossproof.adapters.common import _losses
from lossproof.adapters.openrlhf._model import acting, predicting
from lossproof.adapters.openrlhf._parts import SFTLoss, openrlhf, sft
from lossproof.adapters.openrlhf._standins import Idle, Strategy, over_ranks, tree
from lossproof.testing import Table, instance

import torch

loop = openrlhf.lines(
    ["sft_loss", "train_step"],
    sft,
    "SFTTrainer.fit",
    begin="def sft_loss_mask(batch):",
    end="for batch in self.train_dataloader:",
    inputs=[
        "self",
        "args",
        "engine",
        "window",
        "step_bar",
        "device",
        "accumulated_gradient",
        "samples_per_micro_batch",
        "consumed_samples",
        "loss_sum",
    ],
    outputs="loss_sum",
)


def fitted(model, batches, strategy):
    """One optimiser step of SFTTrainer.fit on these micro-batches: (ids, attention mask, loss mask). Returns the loss."""
    trainer = instance(
        sft.SFTTrainer,
        model=model,
        strategy=strategy,
        train_dataloader=batches,
        loss_fn=SFTLoss(),
        aux_loss=False,
        args=tree(model={"aux_loss_coef": 0.0}),
        optimizer=None,
        scheduler=tree(get_last_lr=lambda: [0.0]),
        save_logs_and_checkpoints=lambda *_: None,
    )
    loop(
        self=trainer,
        args=trainer.args,
        engine=tree(global_steps=0),
        window=[],
        step_bar=Idle(),
        device=torch.device("cpu"),
        accumulated_gradient=len(batches),
        samples_per_micro_batch=1,
        consumed_samples=0,
        loss_sum=0.0,
    )
    return strategy.total


def supervised_step(leaf, ids, real, labels, micro_batches, ranks):
    mask = predicting(labels)

    def rank(parts):
        batches = [tuple(track[part][:, None] for track in (ids, real, mask)) for part in parts]
        model = acting(Table([leaf[part] for part in parts]))
        return fitted(model, batches, Strategy(micro_batches=len(batches)))

    return over_ranks(len(ids), micro_batches, ranks, rank)


_losses.supervised_loss(supervised_step)
