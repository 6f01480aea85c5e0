"""Which batch of which data loader the script took last: told with each forward pass behind it."""

import functools

from ._orders import Orders


def install(session, module):
    owner = module._BaseDataLoaderIter
    original = owner.__next__
    passes = [-1]
    orders = Orders(session)
    next_index = owner._next_index

    @functools.wraps(next_index)
    def following_index(self):
        index = next_index(self)
        with session.guard("data loader"):
            orders.drew(self, index)
            if isinstance(index, (list, tuple)):
                # Of workers by the number of the task, which the iterator begins to count anew with each pass.
                sizes = self.__dict__.setdefault("_lossproof_sizes", {})
                sizes[getattr(self, "_send_idx", self._num_yielded)] = len(index)
        return index

    @functools.wraps(original)
    def following(self):
        batch = original(self)
        with session.guard("data loader"):
            took(session, self, passes)
            orders.took(self, self._lossproof_pass)
            if session.change_batch is not None:
                batch = session.change_batch(batch)
        return batch

    owner.__next__, owner._next_index = following, following_index


def took(session, iterator, passes):
    """Number of the pass over a loader, and of the batch within it; its workers; rows that it fetches for a batch, and rows
    that there are to fetch, 0: not known."""
    number = int(iterator._num_yielded) - 1
    # Persistent workers begin again with the iterator that they had.
    if number == 0 or not hasattr(iterator, "_lossproof_pass"):
        passes[0] += 1
        iterator._lossproof_pass = passes[0]
    size = getattr(getattr(iterator, "_index_sampler", None), "batch_size", None)
    # The last batch of a pass has what is left.
    task = getattr(iterator, "_rcvd_idx", number + 1) - 1
    size = getattr(iterator, "_lossproof_sizes", {}).pop(task, size)
    session.batch = [
        iterator._lossproof_pass,
        number,
        int(getattr(iterator, "_num_workers", 0) or 0),
        size if isinstance(size, int) and size > 0 else 0,
        length(getattr(iterator, "_dataset", None)),
    ]


def length(source):
    if not hasattr(type(source), "__len__"):
        return 0
    try:
        return int(len(source))
    except Exception:  # noqa: BLE001 - the script's own, which may have none
        return 0
