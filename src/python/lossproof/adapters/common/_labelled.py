"""The joints at which the KTOTrainer of every TRL can be asked. From 1.8 on a batch is rows of prompt and completion, with masks;
before 0.26 rows have labels that are -100 on the prompt, and are made in the constructor. Between the two it was an experiment."""

import contextlib

import torch

from ...testing import replaced, spy
from ._rows import Rows
from ._trl import logged


class Labelled:
    """A KTOTrainer that is asked; `module` is where it stands."""

    def __init__(self, trainer, module):
        self.trainer, self.module = trainer, module
        self.early = not hasattr(trainer, "_prepare_dataset")

    def prepared(self, rows, tokenizer):
        """The data set's rows as the trainer's preparation leaves them, the desirable ones first."""
        if self.early:
            with replaced(self.module, concatenate_datasets=beside):
                made = type(self.trainer)(
                    model=self.trainer.model,
                    ref_model=self.trainer.ref_model,
                    args=self.trainer.args,
                    train_dataset=Early(rows),
                    processing_class=tokenizer,
                )
            found = made.train_dataset
        else:
            found = self.trainer._prepare_dataset(Rows(rows), tokenizer, self.trainer.args, "train")
        return sorted(found, key=lambda row: not row["label"])

    def collated(self, prompts, completions, desirable, mismatched):
        """TRL's batch of these rows, and of what its KL is estimated from: the same prompts with other completions."""
        rows = zip(prompts, completions, map(bool, desirable), mismatched)
        return self.trainer.data_collator([self._example(*row) for row in rows])

    def _example(self, prompt, completion, desirable, mismatched):
        if not self.early:
            return {
                "prompt_ids": prompt,
                "completion_ids": completion,
                "KL_completion_ids": mismatched,
                "label": desirable,
            }
        made = {"label": desirable}
        for prefix, ids in (("", completion), ("KL_", mismatched)):
            made[prefix + "completion_input_ids"] = prompt + ids
            made[prefix + "completion_attention_mask"] = [1] * len(prompt + ids)
            made[prefix + "completion_labels"] = [self.trainer.label_pad_token_id] * len(prompt) + ids
        return made

    def rows(self, batch):
        """{input_ids, attention_mask, completion_mask}, each (B, T), the last 1 on what is trained."""
        if not self.early:
            return batch
        return {
            "input_ids": batch["completion_input_ids"],
            "attention_mask": batch["completion_attention_mask"],
            "completion_mask": (batch["completion_labels"] != self.trainer.label_pad_token_id).long(),
        }

    def loss(self, model, batch, reference):
        """(loss, {metric: value}) of a batch under this policy and reference."""
        logged(self.trainer).clear()
        with replaced(self.trainer, ref_model=reference):
            if self.early:
                return self.trainer.get_batch_loss_metrics(model, batch)
            loss = self.trainer._compute_loss(model, batch, return_outputs=False)
        metrics = {name: values[-1] for name, values in logged(self.trainer).items()}
        logged(self.trainer).clear()
        return loss, metrics

    def scores(self, batch, reference):
        """(the policy's scores of tokens, the reference's, entropies or None), each (B, T - 1), as the loss asks for them."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.no_grad())
            logps = stack.enter_context(spy(self.module, "selective_log_softmax"))
            entropic = hasattr(self.module, "entropy_from_logits")
            entropies = stack.enter_context(spy(self.module, "entropy_from_logits")) if entropic else None
            self.loss(self.trainer.model, batch, reference)
        # Of the policy and then of the reference, the rows of the KL before the others, where there are any.
        policy, others = logps.results[len(logps.results) // 2 - 1], logps.results[-1]
        return policy, others, entropies.only.result if entropic else None


class Early(Rows):
    """Rows as the constructor asks for them."""

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        return [row[at] for row in self.rows] if isinstance(at, str) else self.rows[at]

    def map(self, function, num_proc=None, desc=None, **options):
        made = super().map(function, **options).rows
        # As Arrow has them: arrays are lists.
        return Early([{name: plain(value) for name, value in row.items()} for row in made])


def beside(datasets, axis):
    """datasets.concatenate_datasets of columns."""
    return Early([{name: value for row in rows for name, value in row.items()} for rows in zip(*datasets)])


def plain(value):
    return value.tolist() if hasattr(value, "tolist") else value
