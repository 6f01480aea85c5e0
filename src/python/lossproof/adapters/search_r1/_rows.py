"""Per-token tracks of a request as Search-R1's batch has them: one token of a prompt, and a response in which a tool may have written."""

import torch


class Rows:
    """completion_mask (B, C): .info is 1 where the policy wrote, .real where anyone did: up to the last trained token, as behind it there
    is padding."""

    def __init__(self, completion_mask):
        self.info = torch.tensor(completion_mask)
        self.real = self.info.flip(1).cummax(1).values.flip(1)

    def fields(self):
        prompt = torch.ones_like(self.info[:, :1])
        attention = torch.cat([prompt, self.real], dim=1)
        ids = torch.zeros_like(attention)
        return {
            "prompts": ids[:, :1],
            "responses": ids[:, 1:],
            "input_ids": ids,
            "attention_mask": attention,
            "info_mask": torch.cat([prompt, self.info], dim=1),
            "position_ids": (attention.cumsum(1) - 1).clamp(min=0),
        }
