"""The tokenizer, Actor around models, and rows as OpenRLHF lays them out."""

from lossproof import Reject
from lossproof.adapters.common._tiny import declared_tokens, load_tokenizer, tokenizer_folder, with_pad
from lossproof.adapters.openrlhf._parts import Actor

import torch

FOLDER = tokenizer_folder()
tokenizer = with_pad(load_tokenizer(FOLDER))  # as its get_tokenizer does
tokens = declared_tokens(tokenizer)
UNLIMITED = 1 << 20


def acting(model, temperature=1.0):
    made = Actor(model, temperature=temperature).eval()
    made.packing_samples = False  # set where Actor loads its model itself
    return made


def batch_of(prompt_ids, completion_ids):
    """(ids, attention mask, mask of the tokens that predict a completion's): rows as Experience.concat_experiences pads them."""
    rows = [[*prompt, *completion] for prompt, completion in zip(prompt_ids, completion_ids)]
    if any(not prompt for prompt in prompt_ids):
        raise Reject("OpenRLHF has no rows without a prompt")
    width = max(map(len, rows))
    ids = torch.tensor([row + [tokens["pad_token_id"]] * (width - len(row)) for row in rows])
    attention = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    action = torch.zeros_like(attention[:, 1:])
    for row, (prompt, completion) in enumerate(zip(prompt_ids, completion_ids)):
        action[row, len(prompt) - 1 : len(prompt) - 1 + len(completion)] = 1
    return ids, attention, action


def predicting(labels):
    """The mask of SFTDataset for these labels: 1 where the token behind is trained."""
    return torch.nn.functional.pad((labels[:, 1:] != -100).float(), (0, 1))
