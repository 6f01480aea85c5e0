"""A tokenizer of the library `tokenizers` as it is, held in several places, over a model by hand."""

import argparse
import os
import tempfile

import nets
import tokenizers
import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--held", default="local", choices=["local", "slots", "file"])
options = parser.parse_args()

TEXTS = ["hello there, how are you", "a cat sat on the mat"]


class Slots:
    __slots__ = ("tokenizer",)


def made():
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    letters = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=300, special_tokens=["<pad>"], initial_alphabet=letters)
    tokenizer.train_from_iterator(TEXTS * 5, trainer)
    tokenizer.enable_padding(pad_id=0, pad_token="<pad>")
    return tokenizer


def train(tokenizer):
    model = nets.Llama(tokenizer.get_vocab_size())
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    encoded = tokenizer.encode_batch(TEXTS)
    ids, mask = torch.tensor([each.ids for each in encoded]), torch.tensor([each.attention_mask for each in encoded])
    for _ in range(2):
        labels = ids.masked_fill(mask == 0, -100)[:, 1:]
        loss = F.cross_entropy(model(ids, mask)[:, :-1].flatten(0, 1), labels.flatten())
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()


if options.held == "local":
    train(made())
elif options.held == "slots":
    holder = Slots()
    holder.tokenizer = made()
    train(holder.tokenizer)
else:
    path = os.path.join(tempfile.mkdtemp(), "tokenizer.json")
    made().save(path)
    tokenizer = tokenizers.Tokenizer.from_file(path)
    train(tokenizer)
