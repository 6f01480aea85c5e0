import torch.nn.functional as F


def sft_loss(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)


def step(model, batch):
    return sft_loss(model(batch["input_ids"]).logits, batch["labels"])  # nobody shifts
