"""Advantages, and the part of the loop that scores a batch, takes its loss and sets the gradient: KL and the loss."""

from types import SimpleNamespace

import lossproof
from lossproof.adapters.common._settings import within
from lossproof.adapters.grpo_dual._parts import dual, trainer
from lossproof.testing import Table, replaced

import torch

SCORED = ["kl", "loss"]
LOOP = "grpo_train"
BATCH = ["full_tok", "comp_mask"]
KL_COEF = 0.1
LEAST = 0.01
KNOBS = {"kl_coef": [KL_COEF, 0.5]}


def block(begin, inputs, outputs, end=None):
    """A whole `with` or `for` of the training loop, by how it begins; or from there to the end of another."""
    return dual.lines(SCORED, trainer, LOOP, begin=begin, end=end or begin, inputs=inputs, outputs=outputs)


reference = block("with torch.no_grad():\nout_ref = base_model(", ["base_model", *BATCH], "ref_lp")
snapshot = block("with torch.no_grad():\nout_old = model(", ["model", *BATCH], "old_lp")
updates = block(
    "loss_fair = torch.tensor(0.0, device=device)",
    [
        "model",
        *BATCH,
        *("old_lp", "ref_lp", "adv", "kl_controller", "conflict_monitor", "trainable", "task_mask_f", "task_mask_h"),
        *("is_first_microbatch", "nan_inf_hits", "step", "device"),
    ],
    ["kl", "loss_fair", "loss_halu"],
    end="for _ in range(config.MU_UPDATES):",
)


def twice(rows):
    """The batch once for each of the two tasks: the trainer takes the mean of their losses, and cannot be without either."""
    return torch.cat([rows, rows])


def scores(logprobs):
    """A model whose scores are these log-probabilities (B, T), each where the token before it is: of one token, whose id is 0."""
    return Table(torch.nn.functional.pad(twice(logprobs)[:, 1:], (0, 1)).unsqueeze(-1))


def taken(leaf, old, ref, mask, advantages, kl_coef=KL_COEF):
    """One step of the loop on these rows, without its bonus for entropy; the gradient is then in the leaf."""
    rows = twice(torch.tensor(mask))
    batch = {"full_tok": {"input_ids": torch.zeros_like(rows)}, "comp_mask": rows[:, 1:].float()}
    halu = torch.arange(len(rows)) < len(rows) // 2
    given = SimpleNamespace(log_softmax=lambda scored, dim: scored)
    config = {"MU_UPDATES": 1, "GRADIENT_ACCUMULATION_STEPS": 1, "ENTROPY_COEF": 0.0}
    with replaced(trainer, F=given), replaced(trainer.config, **config):
        return updates(
            model=scores(leaf),
            **batch,
            old_lp=snapshot(model=scores(torch.tensor(old)), **batch),
            ref_lp=reference(base_model=scores(torch.tensor(ref)), **batch),
            adv=twice(torch.tensor(advantages)),
            kl_controller=trainer.BranchedKLController(kl_coef, kl_coef),
            conflict_monitor=trainer.GradientConflictMonitor(),
            trainable=[leaf],
            task_mask_f=~halu,
            task_mask_h=halu,
            is_first_microbatch=True,
            nan_inf_hits=0,
            step=0,
            device="cpu",
        )


@lossproof.op(group_size=trainer.config.K_ROLLOUTS)
def advantages(rewards):
    return {"advantages": trainer.compute_group_advantages(torch.tensor(rewards), trainer.config.K_ROLLOUTS)}


@lossproof.op
def kl(logprobs, old_logprobs, ref_logprobs, completion_mask):
    leaf = torch.tensor(logprobs).requires_grad_()
    found = taken(leaf, old_logprobs, ref_logprobs, completion_mask, [0.0] * len(logprobs))
    return {"mean_kl": found["kl"].mean()}


@lossproof.op(knobs=KNOBS)
def loss(logprobs, old_logprobs, ref_logprobs, completion_mask, advantages, settings=None):
    """The loss that the loop logs, and the gradient that it sets."""
    leaf = torch.tensor(logprobs).requires_grad_()
    found = taken(leaf, old_logprobs, ref_logprobs, completion_mask, advantages, **within(settings, KNOBS))
    # What is not finite sets no gradient.
    slope = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
    return {"loss": 0.5 * (found["loss_fair"] + found["loss_halu"]), "loss_weights": slope}


def least_deviation():
    """`advantage_min_std` of the semantics, where this commit has one: rewards that differ by less say nothing to it."""
    if "advantages" in dual.lacks:
        return {}
    close = torch.zeros(trainer.config.K_ROLLOUTS)
    close[0] = LEAST  # with a deviation of half of that
    said = trainer.compute_group_advantages(close, len(close)).any()
    return {} if said else {"advantage_min_std": LEAST}
