"""Data-parallel ranks in one process: they run one after the other, and what stands in the place of their network adds what
each of them sent."""

import torch

from ...testing import replaced


class _Heard(BaseException):
    """Ends a rank where it would wait for the others."""


class Network:
    """all_reduce and the size of the group, over ranks that are functions."""

    def __init__(self, size):
        self.size, self.sums, self.at, self.sent = size, [], 0, None

    def play(self, ranks):
        """What each of these functions returns. Every one is ended at the first sum that is not known, until none is: what
        they do behind their last all_reduce is done once."""
        group = {
            "is_available": lambda: True,
            "is_initialized": lambda: True,
            "get_world_size": lambda *_, **__: self.size,
            "all_reduce": self._all_reduce,
        }
        with replaced(torch.distributed, **group):
            while True:
                heard, answers = [], []
                for rank in ranks:
                    self.at = 0
                    try:
                        answers.append(rank())
                    except _Heard:
                        heard.append(self.sent)
                if not heard:
                    return answers
                if answers:
                    raise RuntimeError("%d of %d ranks take part in an all_reduce: it hangs" % (len(heard), len(ranks)))
                self.sums.append(sum(heard))

    def _all_reduce(self, tensor, op=None, group=None, **_):
        if op is not None and op != torch.distributed.ReduceOp.SUM:
            raise NotImplementedError("ranks are played with sums alone")
        if self.at == len(self.sums):
            self.sent = tensor.clone()
            raise _Heard
        tensor.copy_(self.sums[self.at])
        self.at += 1
