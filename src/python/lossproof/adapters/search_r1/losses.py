"""Losses of actor and critic: update_policy and update_critic, whose optimiser's step is left out."""

import lossproof
from lossproof import Reject
from lossproof.adapters.common._checkout import Quiet
from lossproof.adapters.common._losses import average
from lossproof.adapters.common._settings import within
from lossproof.adapters.search_r1._parts import DataProto, actors, critics
from lossproof.adapters.search_r1._rows import Rows
from lossproof.adapters.search_r1._settings import CLIP, ENTROPY_COEF, VALUE_CLIP
from lossproof.testing import Settings, instance, recorded_backward, replaced

import torch

KNOBS = {"clip_ratio": [CLIP, 0.5]}


def split(micro_batches):
    """(the rows in the order of their micro-batches, how many a micro-batch has)."""
    sizes = {len(part) for part in micro_batches}
    if len(sizes) != 1:
        raise Reject("micro-batches of Search-R1 are of one size")
    return [row for part in micro_batches for row in part], sizes.pop()


def config(rows, size, **settings):
    fixed = {"use_dynamic_bsz": False, "ulysses_sequence_parallel_size": 1}
    return Settings(ppo_mini_batch_size=rows, ppo_micro_batch_size=size, **fixed, **settings)


def stepping(update, batch):
    """The sum of the losses that update runs backward."""
    with replaced(type(batch.batch), cuda=lambda batch, *_, **__: batch), recorded_backward() as losses:
        update(batch)
    return sum(float(each.loss) for each in losses)


def nothing():
    """_optimizer_step: left out."""
    return torch.zeros(())


@lossproof.op(micro_batches=True, entropy=True, knobs=KNOBS)
def loss(
    logprobs, old_logprobs, completion_mask, advantages, micro_batches, entropy=None, settings=None
):
    held = {"clip_ratio": CLIP, **within(settings, KNOBS)}
    rows = Rows(completion_mask)
    order, size = split(micro_batches)
    leaf = torch.tensor(logprobs).requires_grad_()
    spread = torch.zeros(leaf.shape) if entropy is None else torch.tensor(entropy)

    def forward(micro_batch, temperature):
        at = micro_batch["row"]
        return spread[at], leaf[at]

    fields = {
        **rows.fields(),
        "row": torch.arange(len(leaf)),
        "old_log_probs": torch.tensor(old_logprobs),
        "advantages": torch.tensor(advantages)[:, None].expand(rows.info.shape).contiguous(),
        "loss_mask": rows.info,
    }
    batch = Known.of({name: field[order] for name, field in fields.items()}, temperature=1.0)
    made = instance(
        actors.DataParallelPPOActor,
        config=config(
            len(order), size, state_masking=True, use_kl_loss=False, entropy_coeff=ENTROPY_COEF, **held
        ),
        actor_module=Quiet(),
        actor_optimizer=Quiet(),
        ulysses_sequence_parallel_size=1,
        _forward_micro_batch=forward,
        _optimizer_step=nothing,
    )
    total = stepping(made.update_policy, batch)
    return {"loss": total, "loss_weights": average(leaf, None)}


@lossproof.op(micro_batches=True)
def value_loss(values, old_values, returns, completion_mask, micro_batches):
    rows = Rows(completion_mask)
    order, size = split(micro_batches)
    leaf = torch.tensor(values).requires_grad_()
    fields = {
        **rows.fields(),
        "row": torch.arange(len(leaf)),
        "values": torch.tensor(old_values),
        "returns": torch.tensor(returns),
    }
    batch = Known.of({name: field[order] for name, field in fields.items()})
    model = Settings(use_remove_padding=False)
    made = critics.DataParallelPPOCritic(config(len(order), size, cliprange_value=VALUE_CLIP, model=model), Quiet(), Quiet())
    made._forward_micro_batch = lambda micro_batch: leaf[micro_batch["row"]]
    made._optimizer_step = nothing
    total = stepping(made.update_critic, batch)
    return {"loss": total, "loss_weights": average(leaf, None)}


class Known(DataProto):
    """A batch that says of each row which one it is, whatever is selected of it."""

    @classmethod
    def of(cls, fields, **said):
        made = DataProto.from_dict(fields, meta_info=said)
        made.__class__ = cls
        return made

    def select(self, batch_keys=None, **others):
        return super().select(batch_keys=[*batch_keys, "row"], **others)
