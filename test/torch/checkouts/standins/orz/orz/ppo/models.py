"""Policy, critic and reward model on packed rows, or on padded ones."""

import torch
import torch.nn.functional as F
from torch import nn


def log_probs_from_logits(logits, labels):
    return F.log_softmax(logits, dim=-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)


def reset_position_ids(attention_mask):
    """Of packed rows, which the mask counts from 1."""
    positions = torch.zeros_like(attention_mask, dtype=torch.long)
    for row, mask in zip(positions, attention_mask):
        for index in mask.unique().tolist():
            row[mask == index] = torch.arange(int((mask == index).sum()))
    return positions


def positions_of(attention_mask, packing):
    found = reset_position_ids(attention_mask) if packing else attention_mask.long().cumsum(-1) - 1
    return found.masked_fill(attention_mask == 0, 1)


def of_actions(track, num_actions, packed_seq_lens):
    """Of (1, T - 1), which speaks of the next token each: the end of every packed row."""
    parts, end = [], 0
    for count, length in zip(num_actions, packed_seq_lens):
        end += length
        parts.append(track[:, end - count - 1 : end - 1])
    return torch.cat(parts, dim=1)


class Actor(nn.Module):
    def __init__(self, pretrain_or_model, packing_samples=False):
        super().__init__()
        self.model, self.packing_samples = pretrain_or_model, packing_samples

    def forward(
        self,
        sequences,
        num_actions=None,
        attention_mask=None,
        return_output=False,
        ring_attn_group=None,
        packed_seq_lens=None,
    ):
        positions = positions_of(attention_mask, self.packing_samples)
        output = self.model(sequences, attention_mask=attention_mask, position_ids=positions)
        found = log_probs_from_logits(output["logits"][:, :-1, :], sequences[:, 1:])
        if self.packing_samples:
            found = of_actions(found, num_actions, packed_seq_lens)
        else:
            found = found[:, found.size(1) - num_actions :]
        return (found, output) if return_output else found


def scoring(base_pretrained_model, base_llm_model, value_head_prefix, packing_samples):
    class Scoring(base_pretrained_model):
        def __init__(self, config):
            super().__init__(config)
            setattr(self, self.base_model_prefix, base_llm_model(config))
            setattr(self, value_head_prefix, nn.Linear(config.hidden_size, 1, bias=False))

        def scores(self, input_ids, attention_mask):
            """(1, T), behind each token."""
            body, head = getattr(self, self.base_model_prefix), getattr(self, value_head_prefix)
            positions = positions_of(attention_mask, packing_samples)
            found = body(input_ids, attention_mask=attention_mask, position_ids=positions)
            return head(found["last_hidden_state"]).squeeze(-1)

    return Scoring


def _get_reward_model(base_pretrained_model, base_llm_model, value_head_prefix="value_head", packing_samples=False):
    class RewardModel(scoring(base_pretrained_model, base_llm_model, value_head_prefix, packing_samples)):
        def forward(self, input_ids=None, attention_mask=None, packed_seq_lens=None):
            ends = torch.tensor(packed_seq_lens).cumsum(0) - 1
            return self.scores(input_ids, attention_mask)[0, ends]

    return RewardModel


def _get_critic_model(base_pretrained_model, base_llm_model, value_head_prefix="value_head", packing_samples=False):
    class CriticModel(scoring(base_pretrained_model, base_llm_model, value_head_prefix, packing_samples)):
        def forward(
            self, input_ids=None, num_actions=None, attention_mask=None, return_output=False, packed_seq_lens=None
        ):
            values = of_actions(self.scores(input_ids, attention_mask)[:, :-1], num_actions, packed_seq_lens)
            return (values, None) if return_output else values

    return CriticModel
