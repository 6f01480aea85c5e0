"""Fingerprints of tensors: the norm, and sums of the elements under fixed random signs.

With signs s of R independent draws, E[(s . (a - b))^2] = |a - b|^2, so that two runs need not keep their tensors to know how far
they are apart (Achlioptas 2003, "Database-friendly random projections"): of R = 8, to within a factor of two.
"""

R = 8
# Signs are those of a table of so many elements, and again.
CHUNK = 2**22
WIDTH = 1024
# Elements that are read at a time: 8 MiB in float64, which stays in a cache.
PART = 2**20
SEED = 8191


class Prints:
    def __init__(self, torch):
        self.torch = torch
        self._signs = {}

    def signs(self, rows, device, wide):
        """(rows, R) of 1 and -1, the same in every process."""
        key = (rows, str(device), wide)
        if key not in self._signs:
            generator = self.torch.Generator().manual_seed(SEED + rows)
            drawn = self.torch.randint(0, 2, (rows, R), generator=generator) * 2 - 1
            self._signs[key] = drawn.to(device=device, dtype=wide)
        return self._signs[key]

    def of(self, tensor):
        """(R + 1,) float64: the norm, and the sums. None where there are no numbers."""
        torch = self.torch
        if tensor is None:
            return None
        tensor = tensor.detach()
        if hasattr(tensor, "to_local"):
            tensor = tensor.to_local()
        if tensor.is_sparse:
            tensor = tensor.to_dense()
        if not tensor.is_floating_point() or tensor.is_meta or tensor.numel() == 0:
            return None
        flat = tensor.reshape(-1)
        wide = torch.float32 if flat.device.type == "mps" else torch.float64
        inner = self.signs(WIDTH, flat.device, wide)
        table = self.signs(CHUNK // WIDTH, flat.device, wide)
        square = torch.zeros((), device=flat.device, dtype=wide)
        sums = torch.zeros(R, device=flat.device, dtype=wide)
        for start in range(0, flat.numel(), PART):
            part = flat[start : start + PART].to(wide)
            square += torch.dot(part, part)
            rest = -part.numel() % WIDTH
            lines = (torch.nn.functional.pad(part, (0, rest)) if rest else part).view(-1, WIDTH)
            first = start % CHUNK // WIDTH
            # Alternating between chunks, too: equal chunks must not add up to one.
            outer = table[first : first + lines.shape[0]].roll(start // CHUNK, 1)
            sums += ((lines @ inner) * outer).sum(0)
        return torch.cat([square.sqrt().reshape(1), sums]).double()

    def of_all(self, tensors):
        """(n, R + 1) float64 on the processor; NaN where there is nothing."""
        torch = self.torch
        nothing = torch.full((R + 1,), float("nan"), dtype=torch.float64)
        rows = [self.of(tensor) for tensor in tensors]
        return torch.stack([nothing if row is None else row.cpu() for row in rows]) if rows else nothing[None][:0]

    def of_tokens(self, tensor):
        """(B, T, R) float32 of hidden states (B, T, D)."""
        wide = self.torch.float32
        # As the signs of a tensor of one row of D elements.
        return tensor.detach().to(wide) @ self.signs(tensor.shape[-1], tensor.device, wide)

    def of_rows(self, tokens, real):
        """(B, R) float64: sums over the real tokens of each row, told apart by how many stand before them, so that padding on
        either side changes nothing."""
        torch = self.torch
        real = real.to(tokens.device)
        place = (real.long().cumsum(1) - 1).clamp(min=0)
        wide = torch.float32 if tokens.device.type == "mps" else torch.float64
        # The same table for every width: a longer row begins with the signs of a shorter one.
        signs = self.signs(CHUNK // WIDTH, tokens.device, wide)
        picked = signs[place % signs.shape[0]]
        # Nothing leaves the device here: that would wait for it, once for each module.
        return (tokens.to(wide) * picked * real[..., None]).sum(1)
