"""A training loop of six steps, `python loop.py WHAT`: as it is (plain), or with one thing about it."""

import os
import signal
import sys

import torch
from tiny import IDS, loss_of, model_of

STEPS = 6


def main(what):
    model = model_of()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0 if what == "frozen" else 0.1)
    for step in range(STEPS):
        for _ in range(2 if what == "accumulated" else 1):
            loss = loss_of(model)
            (loss * 0 if what == "zero" else loss).backward()
        try:
            optimizer.step()
        except BaseException:
            if what != "swallows":
                raise
        optimizer.zero_grad()
        print("step", step, flush=True)
        after(what)
    print("the end")


def after(what):
    if what == "raises":
        raise ValueError("the data\nran out")
    if what == "interrupted":
        raise KeyboardInterrupt
    if what == "exits":
        sys.exit(3)
    if what == "killed":
        os.kill(os.getpid(), signal.SIGKILL)


def scaled():
    """The gradient of the first loss times the scale is beyond float32, so that the scaler leaves the first step out and scales less."""
    model = model_of()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
    for step in range(STEPS):
        optimizer.zero_grad()
        scaler.scale(loss_of(model) * (1000 if step == 0 else 1)).backward()
        scaler.step(optimizer)
        if step == 0:
            scaler.update(4.0)
        else:
            scaler.update()


def shared():
    """Two optimisers, each of which holds a part of the model."""
    model = model_of()
    optimizers = [torch.optim.SGD(model.embed.parameters(), lr=0.1), torch.optim.AdamW(model.head.parameters(), lr=0.1)]
    for _ in range(STEPS):
        loss_of(model).backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()


def beside():
    """A small critic is trained beside the model, by an optimiser of its own, five times as often."""
    model, critic = model_of(), torch.nn.Linear(3, 1)
    optimizers = [torch.optim.SGD(part.parameters(), lr=0.1) for part in (model, critic)]
    for _ in range(STEPS):
        for _ in range(5):
            critic(torch.ones(2, 3)).sum().backward()
            optimizers[1].step()
        loss_of(model).backward()
        optimizers[0].step()


def stepped():
    """The optimiser's step is compiled, the model is not."""
    model = model_of()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    step = torch.compile(lambda: optimizer.step(), backend="eager")
    for _ in range(STEPS):
        loss_of(model).backward()
        step()
        optimizer.zero_grad()


def hidden():
    """Model and loss are compiled as one function, which no hook of a module sees."""
    model = model_of()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    loss = torch.compile(lambda: loss_of(model), backend="eager")
    for _ in range(STEPS):
        loss().backward()
        optimizer.step()
        optimizer.zero_grad()


def sparse():
    """Of a large embedding a few rows move, by hardly anything."""
    embedding = torch.nn.Embedding(100_000, 8, sparse=True)
    head = torch.nn.Linear(8, 100_000, bias=False)
    head.requires_grad_(False)
    model = torch.nn.Sequential(embedding, head)
    optimizer = torch.optim.SGD([embedding.weight], lr=1e-3)
    ids = torch.tensor([[1, 77_777, 3]])
    for _ in range(STEPS):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(ids)[0, :-1], ids[0, 1:]).backward()
        optimizer.step()


def forked():
    """A child made by fork() trains too, then the parent does."""
    model = model_of()
    model(IDS)
    child = os.fork()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(STEPS):
        loss_of(model).backward()
        optimizer.step()
        optimizer.zero_grad()
        if child == 0:
            os._exit(0)
    os.waitpid(child, 0)


def workers():
    """Batches are made by two processes of a DataLoader."""
    model = model_of()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for ids in torch.utils.data.DataLoader(IDS.repeat(STEPS, 1), batch_size=2, num_workers=2):
        loss_of(model, ids).backward()
        optimizer.step()
        optimizer.zero_grad()


def spawned(rank):
    """One of two ranks, which know their rank from an argument alone."""
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method="file://" + os.environ["MEETING"], rank=rank, world_size=2)
    ranked()


def ranked():
    import torch.distributed as dist

    if not dist.is_initialized():
        dist.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(model_of())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(STEPS):
        loss_of(model).backward()
        optimizer.step()
        optimizer.zero_grad()
    dist.destroy_process_group()


def spawns():
    torch.multiprocessing.spawn(spawned, nprocs=2)


OTHERS = {f.__name__: f for f in (scaled, shared, beside, stepped, hidden, sparse, forked, workers, ranked, spawns)}

if __name__ == "__main__":
    word = sys.argv[1]
    if word in OTHERS:
        OTHERS[word]()
    else:
        main(word)
