"""Op mask: HFRollout, with what it samples given."""

from types import SimpleNamespace

import lossproof
from lossproof.adapters.verl._parts import DataProto, rollouts
from lossproof.testing import Table, spy

import torch


def rolled_out(input_ids, attention_mask, sampled, pad_token_id, eos_token_ids):
    """HFRollout's batch, with these columns in the place of what generate() samples."""
    width = len(sampled[0])
    config = omega(do_sample=True, temperature=1.0, response_length=width)
    table = Table(sampled=torch.tensor(sampled))
    attention = torch.tensor(attention_mask)
    fields = {
        "input_ids": torch.tensor(input_ids),
        "attention_mask": attention,
        "position_ids": (attention.cumsum(1) - 1).clamp(min=0),
    }
    made = DataProto.from_dict(fields, meta_info={"eos_token_id": list(eos_token_ids), "pad_token_id": pad_token_id})
    sampler = SimpleNamespace(module=table, config=config)
    with spy(rollouts, "get_torch_device", returns=NoDevice), spy(rollouts, "get_device_name", returns="cpu"):
        return rollouts.HFRollout._generate_minibatch(sampler, made).batch


class NoDevice:
    """An accelerator without a cache."""

    @staticmethod
    def empty_cache():
        pass


def omega(**fields):
    from omegaconf import OmegaConf

    return OmegaConf.create(fields)


@lossproof.op(after_stop="any")
def mask(sequences, attention_mask, prompt_width, pad_token_id, eos_token_ids):
    ids = [row[:prompt_width] for row in sequences]
    real = [row[:prompt_width] for row in attention_mask]
    batch = rolled_out(ids, real, [row[prompt_width:] for row in sequences], pad_token_id, eos_token_ids)
    return {
        "input_ids": batch["input_ids"],
        "attention_mask": batch["attention_mask"],
        "position_ids": batch["position_ids"],
        "completion_mask": batch["attention_mask"][:, prompt_width:],
    }
