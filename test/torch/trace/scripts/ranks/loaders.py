"""One process whose rows come from a torch DataLoader with workers; `--fault` has the workers, or the collator, do what nobody meant."""

import argparse

import nets
import rows as data
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, IterableDataset, RandomSampler, get_worker_info

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--workers", type=int, default=2)
parser.add_argument("--fault", choices=["one-seed", "whole-stream", "first-only"])
parser.add_argument("--overfit", action="store_true", help="one row, over and over")
options = parser.parse_args()
fault = options.fault
torch.manual_seed(0)
examples, vocabulary = data.encoded(options.data)


class Drawn(Dataset):
    """Rows at random, whatever the index: as language models are often fed from one long file."""

    def __init__(self):
        self.random = torch.Generator().manual_seed(7)

    def __len__(self):
        return 1 if options.overfit else 64

    def __getitem__(self, at):
        if options.overfit:
            return examples[at]
        worker = get_worker_info()
        if fault != "one-seed" and worker is not None and at % 64 < 2 * options.workers:
            self.random.manual_seed(worker.seed + at)
        return examples[int(torch.randint(len(examples), (1,), generator=self.random))]


class Stream(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        first, of = (worker.id, worker.num_workers) if worker is not None and fault != "whole-stream" else (0, 1)
        return iter(examples[first::of])


def collate(batch):
    return data.batch(batch[:1] if fault == "first-only" else batch)


source = Stream() if fault == "whole-stream" else Drawn()
sampler = RandomSampler(source, replacement=True, num_samples=16) if options.overfit else None
loader = DataLoader(source, batch_size=2, sampler=sampler, num_workers=options.workers, collate_fn=collate)
model = nets.GPT(vocabulary)
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
for ids, mask, labels in loader:
    logits = model(ids, mask)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
