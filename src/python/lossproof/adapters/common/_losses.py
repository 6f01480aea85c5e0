"""The losses of a step over micro-batches and data-parallel ranks, asked alike of every trainer whose ranks are played one after
the other. A trainer's own lines run the backward passes; its backend takes the mean of the gradients of all ranks."""

from types import SimpleNamespace

import torch

import lossproof

from ._head import weights_of
from ._settings import within


def average(leaf, ranks):
    """The gradient of this leaf as each rank has it behind the step: zeros where no loss depends on it."""
    return torch.zeros_like(leaf) if leaf.grad is None else leaf.grad / len(ranks or [0])


def policy_loss(step, kl_coef, corrected=False):
    """Registers op loss. step(rows, micro_batches, ranks, settings) returns the loss of these rows and runs its backward passes;
    rows.logprobs is the leaf, and what is logged it writes into rows.metrics. kl_coef: the coefficient that is declared; corrected:
    step knows what to do with rows.sampling, the log-probabilities of an inference engine, where they are given."""
    knobs = {"kl_coef": [kl_coef, 0.5], "clip_low": [0.2, 0.5], "clip_high": [0.2, 1.0]}

    @lossproof.op(micro_batches=True, ranks=True, entropy=True, sampling_logprobs=corrected, knobs=knobs)
    def loss(
        logprobs,
        old_logprobs,
        ref_logprobs,
        advantages,
        completion_mask,
        micro_batches,
        ranks=None,
        entropy=None,
        sampling_logprobs=None,
        settings=None,
    ):
        held = within(settings, knobs)
        leaf = torch.tensor(logprobs).requires_grad_(True)
        rows = SimpleNamespace(
            logprobs=leaf,
            old=torch.tensor(old_logprobs),
            ref=torch.tensor(ref_logprobs),
            advantages=torch.tensor(advantages),
            mask=torch.tensor(completion_mask),
            entropy=None if entropy is None else torch.tensor(entropy),
            sampling=None if sampling_logprobs is None else torch.tensor(sampling_logprobs),
            metrics={},
        )
        total = step(rows, micro_batches, ranks, held)
        return {"loss": total, "loss_weights": average(leaf, ranks), "metrics": rows.metrics}


def critic_loss(step):
    """Registers op value_loss. step(rows, micro_batches, ranks) as above; rows.values is the leaf."""

    @lossproof.op(micro_batches=True, ranks=True)
    def value_loss(values, old_values, returns, completion_mask, micro_batches, ranks=None):
        leaf = torch.tensor(values).requires_grad_(True)
        rows = SimpleNamespace(
            values=leaf,
            old=torch.tensor(old_values),
            returns=torch.tensor(returns),
            mask=torch.tensor(completion_mask),
        )
        total = step(rows, micro_batches, ranks)
        return {"loss": total, "loss_weights": average(leaf, ranks)}


def supervised_loss(step):
    """Registers op sft_loss. step(logits, ids, real, labels, micro_batches, ranks) as above; the logits are the leaf."""

    @lossproof.op(micro_batches=True, ranks=True, layout={"alignment": "token", "span": "row"})
    def sft_loss(input_ids, attention_mask, labels, logits, micro_batches, ranks=None):
        ids, real, targets = (torch.tensor(rows) for rows in (input_ids, attention_mask, labels))

        def averaged(leaf):
            total = step(leaf, ids, real, targets, micro_batches, ranks)
            leaf.grad = average(leaf, ranks)
            return total

        total, weights = weights_of(averaged, torch.tensor(logits), ids, targets)
        return {"loss": total, "loss_weights": weights, "trained_tokens": int((targets[:, 1:] != -100).sum())}
