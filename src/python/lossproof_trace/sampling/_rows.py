"""The rows of one loop that samples: what was fed to the model, column by column, and which of it had been drawn before."""

import torch

CACHES = ("past", "cache")


class Rows:
    """`ids` (N, T) fed so far and `drawn` (N, T): they had been drawn; `next` (N,) drawn, and not fed yet."""

    def __init__(self, ids, mask):
        self.ids = ids
        self.drawn = torch.zeros_like(ids, dtype=torch.bool)
        self.mask = mask
        self.next = None
        """Rows that left the batch: (ids, drawn, mask) of each."""
        self.left = []
        """What those drew last that left a cache's batch."""
        self.stops = set()
        """Of rows of a fixed width, which were written to before the latest call; None: rows grow."""
        self.moved = None
        """Columns were fed that nobody had drawn, as far as is known, one at a time."""
        self.grown = False

    def extended(self, ids, named):
        """Whether a call with these ids goes on with the rows."""
        if ids.shape[1] > self.ids.shape[1]:
            return self.prefixed(ids)
        if ids.shape[1] == self.ids.shape[1] and not self.steps(ids, named):
            return self.written(ids) or self.cropped(ids)
        return self.cropped(ids) or self.appended(ids, named)

    def steps(self, ids, named):
        """Equally wide calls of one column each: one goes on with the other only by a cache."""
        return ids.shape[1] == 1 and (self.next is not None or position_of(named) is not None)

    def prefixed(self, ids):
        """All columns were fed again, and new ones behind them."""
        width = self.ids.shape[1]
        new = ids.shape[1] - width
        # More at once were not drawn: a new prompt, of which the old rows are a part.
        if new != 1:
            return False
        source = self.source(ids[:, :width])
        if source is None:
            return False
        self.take(source, ids.shape[0])
        fed = ids[:, width:]
        if self.next is None:
            # Nobody was seen drawing: another library may have.
            self.grown = True
            drawn = torch.ones_like(fed, dtype=torch.bool)
        else:
            drawn = fed == self.next[:, None]
            if not bool(drawn.any()):
                return False
        self.add(fed, drawn)
        return True

    def source(self, prefixes):
        """The row that each of these goes on with; None: one goes on with none."""
        rows = self.ids.shape[0]
        if prefixes.shape[0] == rows and bool((prefixes == self.ids).all()):
            return list(range(rows))
        known = {}
        for at, row in enumerate(self.ids.tolist()):
            known.setdefault(tuple(row), []).append(at)
        out, used = [], {}
        for row in map(tuple, prefixes.tolist()):
            places = known.get(row)
            if places is None:
                return None
            # Of equal rows each is gone on with by one, as far as they suffice.
            out.append(places[min(used.get(row, 0), len(places) - 1)])
            used[row] = used.get(row, 0) + 1
        return out

    def take(self, source, rows):
        """From here on the rows are those; fewer than before: the others have left."""
        if source == list(range(self.ids.shape[0])):
            return
        count = self.ids.shape[0]
        if rows < count and source == sorted(set(source)):
            for at in sorted(set(range(count)) - set(source)):
                self.left.append(self.row(at))
        index = torch.tensor(source, dtype=torch.long)
        self.ids, self.drawn = self.ids[index], self.drawn[index]
        self.mask = None if self.mask is None else self.mask[index]
        if self.next is not None and self.next.shape[0] == count:
            self.next = self.next[index]

    def written(self, ids):
        """Equally many columns, of which some were padding before: each row was written to in one place at most."""
        if ids.shape != self.ids.shape or self.next is None:
            return False
        changed = ids != self.ids
        if not bool(changed.any()) or int(changed.sum(-1).max()) > 1:
            return False
        values = torch.where(changed, ids, 0).sum(-1)
        if not bool((values == self.next)[changed.any(-1)].all()):
            return False
        self.ids, self.drawn, self.next = ids, self.drawn | changed, None
        self.moved = changed.any(-1)
        return True

    def cropped(self, ids):
        """The last columns of the rows, as many as the model takes, and one new column."""
        wide = ids.shape[1] - 1
        if wide < 1 or self.next is None or ids.shape[0] != self.ids.shape[0]:
            return False
        if not bool((ids[:, :-1] == self.ids[:, -wide:]).all()):
            return False
        drawn = ids[:, -1:] == self.next[:, None]
        if not bool(drawn.any()):
            return False
        self.add(ids[:, -1:], drawn)
        return True

    def appended(self, ids, named):
        """New columns alone: the model remembers the others."""
        at = position_of(named)
        going_on = at == self.ids.shape[1] or (at is None and any(cached(named)))
        if self.next is None:
            if not going_on or ids.shape[0] != self.ids.shape[0]:
                return False
            self.add(ids, torch.zeros_like(ids, dtype=torch.bool))
            return True
        if ids.shape[1] > 1 or at == 0:
            return False
        if ids.shape[0] != self.next.shape[0]:
            kept = self.without_stopped(ids[:, 0].tolist())
            if kept is None:
                return False
            self.take(kept, ids.shape[0])
        if self.next.shape[0] != self.ids.shape[0]:
            self.take([0] * self.next.shape[0], self.next.shape[0])
        drawn = ids == self.next[:, None]
        if not bool(drawn.any()) and not (at == self.ids.shape[1]):
            return False
        self.add(ids, drawn)
        return True

    def without_stopped(self, fed):
        """The rows that are left where those that drew one and the same token are gone; None: it is not that."""
        drawn = self.next.tolist()
        for stop in set(drawn):
            kept = [at for at, token in enumerate(drawn) if token != stop]
            if [drawn[at] for at in kept] == fed:
                self.stops.add(stop)
                return kept
        return None

    def add(self, fed, drawn):
        self.ids = torch.cat([self.ids, fed], dim=1)
        self.drawn = torch.cat([self.drawn, drawn], dim=1)
        self.next = None

    def draw(self, tokens):
        """Tokens (N,) were drawn; of one row several may be."""
        if tokens.shape[0] != self.ids.shape[0] and self.ids.shape[0] == 1:
            self.take([0] * tokens.shape[0], tokens.shape[0])
        if tokens.shape[0] == self.ids.shape[0]:
            self.next = tokens

    def row(self, at):
        """(ids, drawn, mask) of one, with what was drawn last."""
        ids, drawn = self.ids[at].tolist(), self.drawn[at].tolist()
        goes_on = True
        if self.moved is not None and True in drawn:
            # Behind what was written last stands what the row was filled up with.
            end = len(drawn) - drawn[::-1].index(True)
            ids, drawn, goes_on = ids[:end], drawn[:end], bool(self.moved[at])
        if self.next is not None and goes_on:
            ids, drawn = [*ids, int(self.next[at])], [*drawn, None]
        return ids, drawn, None if self.mask is None else self.mask[at].tolist()

    def all(self):
        return [*(self.row(at) for at in range(self.ids.shape[0])), *self.left]


def position_of(named):
    """The column that a call with a cache begins at, where the script says so; None: it does not."""
    for name, value in named.items():
        if "pos" in name.lower() or "start" in name.lower():
            if isinstance(value, int) and not isinstance(value, bool):
                return value
            if isinstance(value, torch.Tensor) and not value.is_floating_point() and value.numel() > 0 and value.ndim < 2:
                return int(value.flatten()[0])
    return None


def cached(named):
    for name, value in named.items():
        if value is not None and not isinstance(value, bool) and any(word in name.lower() for word in CACHES):
            yield value
