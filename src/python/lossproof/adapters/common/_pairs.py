"""The joints at which the DPOTrainer of every TRL can be asked. From 1.0 on a batch is rows of prompt and completion; in
the versions before, prompts and completions stand apart in it, and are joined inside of the forward pass."""

import torch

from ...testing import Table, replaced, spy
from ._rows import Rows
from ._trl import logged

# The names of an example's ids.
ROWS = ("prompt_ids", "chosen_ids", "rejected_ids")
APART = ("prompt_input_ids", "chosen_input_ids", "rejected_input_ids")


class Pairs:
    """A DPOTrainer that is asked."""

    def __init__(self, trainer):
        self.trainer = trainer
        self.apart = hasattr(trainer, "concatenated_forward")

    def prepared(self, rows, tokenizer):
        """(prompts, chosen, rejected) as ids, of data set rows that went through the trainer's preparation."""
        found = list(self.trainer._prepare_dataset(Rows(rows), tokenizer, self.trainer.args, "train"))
        return [[row[name] for row in found] for name in (APART if self.apart else ROWS)]

    def collated(self, *columns):
        """TRL's batch of these prompts, chosen and rejected completions."""
        names = APART if self.apart else ROWS
        return self.trainer.data_collator([dict(zip(names, row)) for row in zip(*columns)])

    def rows(self, batch):
        """{input_ids, attention_mask, completion_mask}, each of all chosen rows and then all rejected ones."""
        if not self.apart:
            return batch
        leaves = []

        def logits(input_ids, attention_mask, position_ids):
            width = int(input_ids.max()) + 1
            leaves.append(torch.zeros(*input_ids.shape, width, requires_grad=True))
            return leaves[0]

        table = Table(logits)
        found = self.trainer.concatenated_forward(table, batch)
        total = found["chosen_logps"].sum() + found["rejected_logps"].sum()
        (slope,) = torch.autograd.grad(total, leaves[0])
        # What counts is what has a gradient, at the column before it.
        mask = torch.zeros(slope.shape[:2], dtype=torch.long)
        mask[:, 1:] = (slope != 0).any(-1)[:, :-1].long()
        asked = table.calls[0]
        return {"input_ids": asked["input_ids"], "attention_mask": asked["attention_mask"].long(), "completion_mask": mask}

    def loss(self, model, batch, reference=None, **settings):
        """(loss, {metric: value}) of a batch under this policy and reference."""
        reference = self.trainer.ref_model if reference is None else reference
        logged(self.trainer).clear()
        with replaced(self.trainer, ref_model=reference, **settings):
            if self.apart:
                return self.trainer.get_batch_loss_metrics(model, batch, "train")
            loss = self.trainer._compute_loss(model, batch, return_outputs=False)
        return loss, {name: values[-1] for name, values in logged(self.trainer).items()}

    def scores(self, module, batch, reference):
        """([the policy's scores of tokens, the reference's], entropies or None), each (2B, T - 1), as the loss asks for them."""
        entropic = hasattr(module, "entropy_from_logits") and not self.apart
        with torch.no_grad(), spy(module, "selective_log_softmax") as logps:
            if not entropic:
                self.loss(self.trainer.model, batch, reference)
                return [track[:, :-1] for track in logps.results], None
            with spy(module, "entropy_from_logits") as entropies:
                self.loss(self.trainer.model, batch, reference)
        return logps.results, entropies.only.result
