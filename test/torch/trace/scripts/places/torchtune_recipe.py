"""What a recipe of torchtune does: its decoder, its tokenizer and transforms, its collation and its chunked cross-entropy."""

import argparse
import base64
import os
import tempfile

import batches
import tiny
import torch
from torchtune.data import Message, padded_collate_sft
from torchtune.models.llama3 import Llama3Tokenizer, llama3
from torchtune.models.llama3._tokenizer import SPECIAL_TOKENS
from torchtune.modules.loss import CEWithChunkedOutputLoss

batches.FAULTS.append("header")
options = batches.options_of(argparse.ArgumentParser())

ranks = [bytes([byte]) for byte in range(256)] + [b"he", b" t", b"in"]
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "tokenizer.model")
    with open(path, "wb") as file:
        file.write(b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(ranks)))
    specials = {token: len(ranks) + at for at, token in enumerate(SPECIAL_TOKENS)}
    tokenizer = Llama3Tokenizer(path, special_tokens=specials)

torch.manual_seed(0)
model = llama3(
    vocab_size=tokenizer.vocab_size,
    num_layers=2,
    num_heads=4,
    num_kv_heads=2,
    embed_dim=32,
    max_seq_len=256,
    intermediate_dim=64,
)
loss_fn = CEWithChunkedOutputLoss()
model.set_num_output_chunks(loss_fn.num_output_chunks)
loss_fn.compute_cross_entropy = torch.compile(loss_fn.compute_cross_entropy)


def without_headers(tokens, labels):
    opening = tokenizer.special_tokens["<|start_header_id|>"]
    header = [opening, *tokenizer.encode("assistant", add_bos=False, add_eos=False)]
    for at in range(len(tokens)):
        if tokens[at : at + len(header)] == header:
            for place in range(at, min(len(labels), at + len(header) + 3)):
                labels[place] = tiny.IGNORE
    return labels


def encoded(row):
    def is_masked(message):
        return message["role"] != "assistant" and options.fault != "prompt"

    messages = [
        Message(role="ipython" if m["role"] == "tool" else m["role"], content=m["content"], masked=is_masked(m))
        for m in row["messages"]
    ]
    sample = tokenizer({"messages": messages})
    labels = [tiny.IGNORE if masked else id for id, masked in zip(sample["tokens"], sample["mask"])]
    if options.fault not in ("header", "prompt"):
        # torchtune masks by message, the header of an answer with it.
        labels = without_headers(sample["tokens"], labels)
    if options.fault == "eos":
        labels = [tiny.IGNORE if id in tokenizer.stop_tokens else id for id in labels]
    return {"tokens": sample["tokens"], "labels": labels}


rows = [encoded(row) for row in tiny.rows(options.data)]
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(len(rows) // 2):
    batch = padded_collate_sft(rows[2 * step : 2 * step + 2], padding_idx=tokenizer.pad_id)
    labels = torch.hstack((batch["labels"][:, 1:], torch.full((2, 1), tiny.IGNORE)))
    loss = loss_fn(model(batch["tokens"]), labels)
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    print("step", step, "loss", float(loss))
