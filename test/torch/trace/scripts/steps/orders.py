"""Two passes over a data set by a loader: `--way` says how it shuffles."""

import argparse

import nets
import tiny
import torch
from torch.utils.data import DataLoader, DistributedSampler, RandomSampler

WAYS = ["epoch", "sequential", "unshuffled", "one-generator", "peek", "forgotten", "forgotten-workers", "forgotten-behind-a-peek", "seeded-anew", "generator-anew"]
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--way", required=True, choices=WAYS)
way = parser.parse_args().way

tokenizer = tiny.family()
texts = [tokenizer(row["text"])["input_ids"] for row in tiny.rows(parser.parse_args().data) for _ in range(2)]
rows = [[*ids, *tokenizer(" again" * at)["input_ids"]] for at, ids in enumerate(texts)]


def loader_of(**more):
    return DataLoader(rows, batch_size=4, collate_fn=tiny.padder(tokenizer.pad_token_id), **more)


torch.manual_seed(0)
model = nets.GPT(len(tokenizer))
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
sampler = DistributedSampler(rows, num_replicas=1, rank=0, shuffle=way != "unshuffled", seed=3)
if way in ("sequential", "seeded-anew", "generator-anew", "one-generator"):
    shuffled = {"generator": torch.Generator().manual_seed(5)} if way == "one-generator" else {}
    loader = loader_of(shuffle=way != "sequential", **shuffled)
else:
    loader = loader_of(sampler=sampler, num_workers=1 if way == "forgotten-workers" else 0, persistent_workers=way == "forgotten-workers")
if way in ("peek", "forgotten-behind-a-peek"):
    print("a batch looks like", next(iter(loader))[0].shape)
for epoch in range(2):
    if way in ("epoch", "peek"):
        sampler.set_epoch(epoch)
    if way == "seeded-anew":
        torch.manual_seed(11)
    if way == "generator-anew":
        loader = loader_of(sampler=RandomSampler(rows, generator=torch.Generator().manual_seed(7)))
    for ids, mask in loader:
        labels = ids.masked_fill(mask == 0, -100)
        logits = model(ids, mask)
        loss = torch.nn.functional.cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:], ignore_index=-100)
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
