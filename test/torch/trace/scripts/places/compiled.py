"""A model under torch.compile, in the ways that people do it, with its own compiler (inductor)."""

import argparse

import batches
import nets
import tiny
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--how", default="module", choices=["module", "fullgraph", "method", "step", "loss-inside"])
parser.add_argument("--model", default="hf", choices=["hf", "hand"])
options = batches.options_of(parser)

tokenizer = batches.tokenizer()
size = len(tokenizer)
model = tiny.rotary(size) if options.model == "hf" else nets.GPT(size)
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)


def logits_of(run, batch):
    if options.model == "hf":
        return run(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
    return run(batch["input_ids"], batch["attention_mask"])


def plain(run, batch):
    return batches.loss_of(logits_of(run, batch), batch["labels"], batches.tokens_of(batch["labels"]))


run, loss_of = model, plain
if options.how == "method":
    model.compile()
elif options.how == "step":

    @torch.compile(dynamic=False)
    def loss_of(run, batch):
        return plain(run, batch)

else:
    run = torch.compile(model, fullgraph=options.how == "fullgraph")
    assert run._orig_mod is model and isinstance(run, torch.nn.Module)
if options.how == "loss-inside":

    def loss_of(run, batch):
        return run(**batch).loss


for step, batch in enumerate(batches.batches(options.data, tokenizer, options.fault)):
    loss = loss_of(run, batch)
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    print("step", step, "loss", float(loss))
