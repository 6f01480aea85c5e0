"""The tokenizer, engines around models, and rows as verl lays them out."""

from lossproof.adapters.common._models import frozen, kept
from lossproof.adapters.common._tiny import declared_tokens, load_tokenizer, tiny_model, tokenizer_folder, with_pad
from lossproof.adapters.verl._engine import Engine
from lossproof.adapters.verl._parts import EngineConfig, implementation, padding, tensordict, verl

import torch

FOLDER = tokenizer_folder()
tokenizer = with_pad(load_tokenizer(FOLDER))  # as its set_pad_token_id does
tokens = declared_tokens(tokenizer)


def engine_around(model):
    return Engine(implementation.FSDPEngineWithLMHead, model, EngineConfig(), implementation, tensordict, padding)


engine = None if "logprobs" in verl.lacks else engine_around(tiny_model(len(tokenizer)).eval())


@kept
def engine_of(path):
    return engine_around(frozen(path))


def laid_out(prompt_ids, completion_ids):
    """(ids, attention mask, prompt width): prompts padded on the left, responses on the right."""
    width, room = max(map(len, prompt_ids)), max(map(len, completion_ids))
    pad = tokens["pad_token_id"]
    ids, real = [], []
    for prompt, completion in zip(prompt_ids, completion_ids):
        before, behind = width - len(prompt), room - len(completion)
        ids.append([pad] * before + list(prompt) + list(completion) + [pad] * behind)
        real.append([0] * before + [1] * (len(prompt) + len(completion)) + [0] * behind)
    return torch.tensor(ids), torch.tensor(real), width


def unpadded(logits, real):
    """The logits of the tokens alone, with what is missing on the right: the engine asks its model for such rows."""
    rows = [row[on] for row, on in zip(logits, real.bool())]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
