"""Whether a data loader that shuffles has another order in each pass: the indices that its sampler gives, of its first batches."""

# Indices of a pass that are compared, and how many must be alike before they are no chance; of a sampler that makes its order
# from an epoch's number, which nobody changed, fewer do.
MOST, LEAST, LEAST_OF_EPOCH = 64, 8, 2

# Samplers inside of samplers that are looked through.
DEPTH = 4


class Orders:
    def __init__(self, session):
        self.session = session
        # Of each data set and kind of sampler, the pass before the last one, and the last one.
        self.passes = {}

    def drew(self, iterator, index):
        """The sampler gave a batch's indices, before or while a worker fetches the batch."""
        if getattr(iterator, "_lossproof_of", None) is not iterator._sampler_iter:
            iterator._lossproof_of, iterator._lossproof_drawn = iterator._sampler_iter, []
        drawn = iterator._lossproof_drawn
        if len(drawn) < MOST:
            drawn.extend(index if isinstance(index, (list, tuple)) else [index])

    def took(self, iterator, number):
        sampler = innermost(iterator._index_sampler)
        drawn = getattr(iterator, "_lossproof_drawn", [])[:MOST]
        if not shuffles(sampler) or not drawn or not all(isinstance(index, int) for index in drawn):
            return
        key = (id(iterator._dataset), len(iterator._dataset), type(sampler).__name__)
        epoch = getattr(sampler, "epoch", None)
        before, last = self.passes.get(key, (None, None))
        if last is None or last["pass"] != number:
            before, last = last, {"pass": number, "told": False}
            self.passes[key] = before, last
        last["drawn"], last["epoch"] = drawn, epoch
        if before is None or last["told"]:
            return
        alike = min(len(drawn), len(before["drawn"]))
        same = drawn[:alike] == before["drawn"][:alike]
        of_epoch = isinstance(epoch, int) and epoch == before["epoch"]
        if same and alike < (LEAST_OF_EPOCH if of_epoch else LEAST):
            return
        last["told"] = True
        values = {"passes": [before["pass"], number], "same": same, "indices": alike, "sampler": type(sampler).__name__}
        if isinstance(epoch, int) and hasattr(sampler, "set_epoch"):
            values["epoch"] = epoch
        self.session.write("event", what="order", step=self.session.step, model=None, place=None, names=[], values=values)


def innermost(sampler):
    for _ in range(DEPTH):
        inner = getattr(sampler, "sampler", None) or getattr(sampler, "batch_sampler", None)
        if inner is None:
            break
        sampler = inner
    return sampler


def shuffles(sampler):
    said = getattr(sampler, "shuffle", None)
    return said is True or (said is None and type(sampler).__name__ in ("RandomSampler", "SubsetRandomSampler", "SeedableRandomSampler"))
