"""accelerate with several processes and gradient accumulation, over a loader of its own. The loss is a mean over the tokens of the
whole step; `per-micro-batch` takes each one's own."""

import argparse

import batches
import tiny
import torch
from accelerate import Accelerator

batches.FAULTS.append("per-micro-batch")
parser = argparse.ArgumentParser()
options = batches.options_of(parser)

accelerator = Accelerator(cpu=True)
tokenizer = batches.tokenizer()
model = tiny.rotary(len(tokenizer))
loader = torch.utils.data.DataLoader(
    batches.encoded(options.data, tokenizer, options.fault),
    batch_size=1,
    collate_fn=lambda rows: batches.padded(rows, tokenizer.pad_token_id),
)
model, optimiser, loader = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), lr=1e-3), loader)

for step in range(2):
    micro = list(loader)
    tokens = torch.stack([batches.tokens_of(batch["labels"]) for batch in micro]).sum()
    # Gradients are averaged over the processes.
    tokens = accelerator.reduce(tokens, "sum") / accelerator.num_processes
    for at, batch in enumerate(micro):
        logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
        over = tokens
        if options.fault == "per-micro-batch":
            over = batches.tokens_of(batch["labels"]) * len(micro)
        loss = batches.loss_of(logits, batch["labels"], over)
        last = at == len(micro) - 1
        with torch.enable_grad() if last else accelerator.no_sync(model):
            accelerator.backward(loss)
    optimiser.step()
    optimiser.zero_grad()
    accelerator.print("step", step, "loss", float(loss))
