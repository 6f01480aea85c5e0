"""Faults that begin at a step: what a trainer does right until then, and wrongly from the update that is logged as `onset` on."""

import torch
import transformers


class Onset:
    """`fault` from step `onset` to step `until`, both included; `None` is no fault, and no end."""

    def __init__(self, fault=None, onset=1, until=None):
        self.fault = fault
        self.onset = onset
        self.until = until

    def now(self, fault, done):
        """Whether `fault` has begun when `done` updates are done: the next one is logged as step `done + 1`."""
        return self.fault == fault and self.onset <= done + 1 <= (self.until or done + 1)


def detached(loss):
    """The same number, and no way back to a parameter."""
    return loss.detach().requires_grad_()


class Frozen(torch.optim.AdamW):
    """From `onset` on it changes nothing, as where the optimiser was built of another model's parameters."""

    def __init__(self, parameters, begins, **options):
        super().__init__(parameters, **options)
        self.begins = begins
        self.done = 0

    def step(self, closure=None):
        if not self.begins.now("frozen-optimiser", self.done):
            super().step(closure)
        self.done += 1


def optimisers(model, begins, lr, steps, warmup, schedule):
    """The optimiser and a scheduler that goes wrong when its time has come."""
    optimiser = Frozen(model.parameters(), begins, lr=lr, weight_decay=0.0)

    def factor(done):
        if begins.now("lr-1e3", done):
            return 1e3 / lr
        if begins.now("growing-lr", done):
            return 2.0 ** (done + 2 - begins.onset)
        return 1.0

    if schedule == "constant":
        return optimiser, torch.optim.lr_scheduler.LambdaLR(optimiser, factor)
    scheduler = transformers.get_scheduler(schedule, optimiser, num_warmup_steps=warmup, num_training_steps=steps)
    if begins.fault == "unstepped-scheduler":
        scheduler.step = lambda *_: None
    return optimiser, scheduler
