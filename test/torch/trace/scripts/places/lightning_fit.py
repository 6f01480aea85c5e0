"""Trainer.fit of Lightning, with a model of Hugging Face or one written by hand, its optimisation automatic or by hand."""

import argparse
import logging
import warnings

import batches
import nets
import pytorch_lightning
import tiny
import torch

warnings.filterwarnings("ignore")
logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
parser = argparse.ArgumentParser()
parser.add_argument("--model", default="hf", choices=["hf", "hand"])
parser.add_argument("--manual", action="store_true")
options = batches.options_of(parser)
tokenizer = batches.tokenizer()


class Tuned(pytorch_lightning.LightningModule):
    def __init__(self):
        super().__init__()
        size = len(tokenizer)
        self.model = tiny.rotary(size) if options.model == "hf" else nets.GPT(size)
        self.automatic_optimization = not options.manual

    def training_step(self, batch, at):
        if options.model == "hf":
            logits = self.model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
        else:
            logits = self.model(batch["input_ids"], batch["attention_mask"])
        loss = batches.loss_of(logits, batch["labels"], batches.tokens_of(batch["labels"]))
        if options.manual:
            optimiser = self.optimizers()
            optimiser.zero_grad()
            self.manual_backward(loss)
            optimiser.step()
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


loader = torch.utils.data.DataLoader(
    batches.encoded(options.data, tokenizer, options.fault),
    batch_size=2,
    collate_fn=lambda rows: batches.padded(rows, tokenizer.pad_token_id),
)
quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
pytorch_lightning.Trainer(max_epochs=1, accelerator="cpu", devices=1, **quiet).fit(Tuned(), loader)
