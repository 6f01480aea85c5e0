"""A training that begins with a checkpoint: saved, loaded in one of the usual ways, cast, resized, adapted."""

import argparse
import tempfile

import few
import tiny
import torch
import transformers

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--way", default="state", choices=["state", "pretrained", "copied"])
parser.add_argument("--tied", action="store_true")
parser.add_argument("--fault", default="", choices=["", "reset", "prefix", "head"])
options = parser.parse_args()

first = tiny.rotary(len(few.tokenizer), seed=1, tie_word_embeddings=options.tied)
if options.way == "pretrained":
    with tempfile.TemporaryDirectory() as folder:
        first.save_pretrained(folder)
        model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    model.resize_token_embeddings(len(few.tokenizer) + 8)
else:
    model = tiny.rotary(len(few.tokenizer), seed=2, tie_word_embeddings=options.tied)
    state = first.state_dict()
    if options.fault == "prefix":
        state = {"module." + name: value for name, value in state.items()}
    model.load_state_dict(state, strict=options.fault != "prefix")
if options.fault == "reset":
    for module in model.modules():
        if isinstance(module, (torch.nn.Linear, torch.nn.Embedding)):
            torch.nn.init.normal_(module.weight, std=0.3)
if options.fault == "head":
    torch.nn.init.normal_(model.lm_head.weight, std=0.3)
model.to(torch.bfloat16).to(torch.float32).train()
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
for batch in few.batches(options.data) * 2:
    ids, mask, labels = batch
    (few.total(model(ids, attention_mask=mask).logits, labels) / few.count([batch])).backward()
    optimiser.step()
    optimiser.zero_grad()
    print("step")
