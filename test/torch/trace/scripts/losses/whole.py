"""Distillation and z-losses over all positions or some, by a plain loop or by a subclass of transformers' Trainer."""

import argparse

import nets
import tiny
import torch
import torch.nn.functional as F
import transformers
from tokenizers import Tokenizer

IGNORE = -100
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--output")
parser.add_argument("--kl", default="none", choices=["none", "forward", "reverse", "jsd"])
parser.add_argument("--share", type=float, default=1.0, help="of the divergence; the rest is cross-entropy of the labels")
parser.add_argument("--tau", type=float, default=1.0)
parser.add_argument("--beta", type=float, default=0.5, help="of the generalised Jensen-Shannon divergence")
parser.add_argument("--cap", type=float)
parser.add_argument("--z", type=float, default=0.0)
parser.add_argument("--over", default="all", choices=["all", "real", "labels"], help="positions of the divergence and the z-loss")
parser.add_argument("--chunks", type=int, default=1)
parser.add_argument("--loop", default="plain", choices=["plain", "trainer"])
parser.add_argument("--vocabulary", type=int, default=0, help="so many tokens at least")
parser.add_argument("--head", default="called", choices=["called", "inside", "hidden"], help="how the logits of the plain loop's model come into being")
parser.add_argument("--equal", action="store_true", help="rows of one length: no padding")
parser.add_argument("--fault", choices=["prompt", "stop", "same-token", "pads", "other-columns", "other-rows"])
options = parser.parse_args()
fault = options.fault

tokenizer = Tokenizer.from_file(str(tiny.FAMILIES / "qwen" / "tokenizer.json"))
PAD, size = tokenizer.token_to_id("<|endoftext|>"), tokenizer.get_vocab_size()
size = max(size, options.vocabulary)


def encode(row):
    prompt, completion = (tokenizer.encode(text, add_special_tokens=False).ids for text in (row["prompt"], row["completion"] + "<|im_end|>"))
    labels = (prompt if fault == "prompt" else [IGNORE] * len(prompt)) + completion
    if fault == "stop":
        labels[-1] = IGNORE
    return prompt + completion, labels


def collate(examples):
    width = min(len(ids) for ids, _ in examples) if options.equal else max(len(ids) for ids, _ in examples) + 2
    ids = torch.full((len(examples), width), PAD)
    labels, mask = torch.full_like(ids, PAD if fault == "pads" else IGNORE), torch.zeros_like(ids)
    for at, (row, targets) in enumerate(examples):
        count = min(width, len(row))
        ids[at, :count], labels[at, :count], mask[at, :count] = torch.tensor(row)[:count], torch.tensor(targets)[:count], 1
    if fault == "same-token":
        labels = torch.cat([torch.full((len(labels), 1), IGNORE), labels[:, :-1]], 1)
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def divergence(z, taught):
    """(B, T) at the temperature."""
    logp, logq = (z / options.tau).log_softmax(-1), (taught / options.tau).log_softmax(-1)
    if options.kl == "forward":
        each = F.kl_div(logp, logq, log_target=True, reduction="none")
    elif options.kl == "reverse":
        each = F.kl_div(logq, logp, log_target=True, reduction="none")
    else:
        beta = options.beta
        mixed = torch.logaddexp(logp + torch.tensor(1 - beta).log(), logq + torch.tensor(beta).log())
        each = beta * F.kl_div(mixed, logq, log_target=True, reduction="none") + (1 - beta) * F.kl_div(mixed, logp, log_target=True, reduction="none")
    return each.sum(-1) * options.tau**2


def loss_of(z, taught, labels, mask):
    if fault == "other-columns":
        taught = taught.roll(1, 1)
    elif fault == "other-rows":
        taught = taught.roll(1, 0)
    z, taught, labels, mask = z[:, :-1], taught[:, :-1], labels[:, 1:], mask[:, 1:]
    if options.cap:
        z = options.cap * torch.tanh(z / options.cap)
    labelled = labels != IGNORE
    over = {"all": torch.ones_like(labelled), "real": mask.bool(), "labels": labelled}[options.over].float()
    count = z.shape[1]
    own = torch.zeros(())
    rest = torch.zeros(())
    for columns in torch.arange(count).chunk(options.chunks):
        part, target = z[:, columns], labels[:, columns]
        own = own + F.cross_entropy(part.transpose(1, 2), target, ignore_index=IGNORE, reduction="sum")
        if options.kl != "none":
            rest = rest + (divergence(part, taught[:, columns]) * over[:, columns]).sum()
        if options.z:
            rest = rest + options.z * (part.logsumexp(-1) ** 2 * over[:, columns]).sum()
    share = options.share if options.kl != "none" else 0.0
    return (1 - share) * own / labelled.sum() + (share or 1.0) * rest / over.sum()


rows = [encode(row) for row in tiny.rows(options.data)]
if options.loop == "plain":
    torch.manual_seed(0)
    model = tiny.rotary(size) if options.head == "hidden" else nets.GPT(size)
    teacher = nets.GPT(size).requires_grad_(False)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for at in (0, 2):
        batch = collate(rows[at : at + 2])
        ids, mask = batch["input_ids"], batch["attention_mask"]
        with torch.no_grad():
            taught = teacher(ids, mask)
        if options.head == "inside":
            model(ids, mask, loss=lambda hidden, head: loss_of(head(hidden), taught, batch["labels"], mask)).backward()
        elif options.head == "hidden":
            z = F.linear(model.model(input_ids=ids, attention_mask=mask).last_hidden_state, model.lm_head.weight)
            loss_of(z, taught, batch["labels"], mask).backward()
        else:
            loss_of(model(ids, mask), taught, batch["labels"], mask).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
else:
    model, teacher = tiny.rotary(size, seed=1), tiny.rotary(size, seed=2).eval()

    class Distilled(transformers.Trainer):
        def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
            outputs = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
            with torch.no_grad():
                taught = teacher(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]).logits
            loss = loss_of(outputs.logits, taught, inputs["labels"], inputs["attention_mask"])
            return (loss, outputs) if return_outputs else loss

    args = transformers.TrainingArguments(
        options.output, per_device_train_batch_size=2, max_steps=2, remove_unused_columns=False, learning_rate=1e-3, **tiny.PLAIN
    )
    Distilled(model, args, train_dataset=rows, data_collator=collate).train()
