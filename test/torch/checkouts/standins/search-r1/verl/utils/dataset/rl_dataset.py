"""Prompts of a table, rendered and encoded."""

import torch
from torch.utils.data import Dataset


class RLHFDataset(Dataset):
    def __getitem__(self, item):
        chat = self.dataframe.iloc[item].to_dict()[self.prompt_key]
        text = self.tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        gap = self.max_prompt_length - len(ids)
        real = torch.tensor([0] * gap + [1] * len(ids))
        return {"input_ids": torch.tensor([self.tokenizer.pad_token_id] * gap + ids), "attention_mask": real}
