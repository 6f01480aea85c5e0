"""Packed rows between rollout and training."""

from dataclasses import dataclass, fields
from typing import Optional

import torch


@dataclass
class Experience:
    sequences: torch.Tensor
    action_log_probs: torch.Tensor
    base_action_log_probs: torch.Tensor
    values: Optional[torch.Tensor]
    returns: Optional[torch.Tensor]
    advantages: Optional[torch.Tensor]
    attention_mask: torch.Tensor
    action_mask: Optional[torch.Tensor]
    num_actions: torch.Tensor
    packed_seq_lens: torch.Tensor
    info: dict
    kl: Optional[torch.Tensor] = None

    def to_device(self, device):
        for field in fields(self):
            value = getattr(self, field.name)
            if torch.is_tensor(value):
                setattr(self, field.name, value.to(device))


@dataclass
class BufferItem:
    sequences: torch.Tensor
    action_log_probs: torch.Tensor
    base_action_log_probs: torch.Tensor
    values: torch.Tensor
    returns: torch.Tensor
    advantages: torch.Tensor
    attention_mask: torch.Tensor
    action_mask: Optional[torch.Tensor]
    num_actions: torch.Tensor
    packed_seq_lens: torch.Tensor
    info: dict


NAMES = [field.name for field in fields(BufferItem) if field.name != "info"]


class NaiveReplayBuffer:
    def __init__(self, sample_batch_size, limit=0, cpu_offload=True, packing_samples=False):
        self.sample_batch_size, self.limit, self.cpu_offload = sample_batch_size, limit, cpu_offload
        self.packing_samples, self.items = packing_samples, []

    def append(self, experience):
        experience.to_device("cpu")
        for at in range(len(experience.sequences)):
            tracks = {name: getattr(experience, name) for name in NAMES}
            info = {name: value[at].item() for name, value in experience.info.items()}
            self.items.append(
                BufferItem(**{name: None if each is None else each[at] for name, each in tracks.items()}, info=info)
            )

    def __len__(self):
        return len(self.items)

    def __getitem__(self, at):
        return self.items[at]

    def collate_fn(self, batch):
        tracks = {name: [getattr(item, name) for item in batch] for name in NAMES}
        info = {name: torch.tensor([item.info[name] for item in batch]) for name in batch[0].info}
        return Experience(**{name: None if each[0] is None else each for name, each in tracks.items()}, info=info)
