"""A head z = f(W h + b), never for more than one block of positions and vocabulary at once."""

import torch

from ._recovery import WORKING

# Directions that a sketch has. A wrong target looks right in it, by chance, with a probability of about residual**SKETCH.
SKETCH = 64


class Head:
    def __init__(self, weight, bias, post, kind, rows=None):
        """rows (V, r): what moments are taken of, and targets fitted in; W itself without."""
        self.weight, self.bias, self.post, self.kind = weight, bias, post, kind
        self.of = weight if rows is None else rows
        self.vocab, self.width = weight.shape
        self.block = max(256, min(16384, WORKING // (4 * self.width)))
        self.positions = max(1, WORKING // (4 * min(self.block, self.vocab)))

    def sketched(self):
        """(head, S): the same head with S^T W_v in place of W_v, S (d, r) of random numbers, never the script's. Whatever
        is linear in the rows holds among sketches as it holds among the rows, at r / d of the cost."""
        device = self.weight.device
        directions = torch.randn(self.width, SKETCH, generator=torch.Generator().manual_seed(self.width), dtype=torch.float64)
        directions = (directions / SKETCH**0.5).to(device, self.kind)
        rows = torch.cat([w @ directions for _, w, _ in self.blocks()])
        return Head(self.weight, self.bias, self.post, self.kind, rows), directions

    def with_post(self, post):
        return self if post is self.post else Head(self.weight, self.bias, post, self.kind, None if self.of is self.weight else self.of)

    def blocks(self):
        for begin in range(0, self.vocab, self.block):
            w = self.weight[begin : begin + self.block].to(self.kind)
            b = None if self.bias is None else self.bias[begin : begin + self.block].to(self.kind)
            yield begin, w, b

    def of_block(self, begin, w):
        return w if self.of is self.weight else self.of[begin : begin + self.block]

    def pull(self, ids, h):
        """(n, r) what a logit at `ids` pulls h toward: f'(z) times its row."""
        rows = self.of[ids].to(self.kind)
        return rows if self.post.identity else rows * self.post.slope_at(self.raw(ids, h))[:, None]

    def raw(self, ids, h):
        step = max(1, WORKING // (8 * self.width))
        parts = [(self.weight[i].to(self.kind) * x).sum(-1) for i, x in zip(ids.split(step), h.split(step))]
        z = torch.cat(parts) if parts else h.new_zeros(0)
        return z if self.bias is None else z + self.bias[ids].to(self.kind)

    def logit(self, ids, h):
        return self.post.value(self.raw(ids, h))

    def moment(self, h, tau=1.0):
        """m (n, r), the mean pull of all tokens under softmax(z / tau), and lse (n,), in one pass with a running maximum."""
        ms, ls = [], []
        for part in h.split(self.positions):
            high = part.new_full((part.shape[0], 1), -torch.inf)
            mass = part.new_zeros((part.shape[0], 1))
            m = part.new_zeros((part.shape[0], self.of.shape[1]))
            for begin, w, b in self.blocks():
                z = part @ w.t() if b is None else torch.addmm(b, part, w.t())
                slope = None if self.post.identity else self.post.slope_at(z)
                if not self.post.identity:
                    z = self.post.value(z)
                if tau != 1.0:
                    z = z / tau
                top = torch.maximum(high, z.amax(1, keepdim=True))
                z.sub_(top).exp_()
                shrink = torch.exp(high - top)
                mass.mul_(shrink).add_(z.sum(1, keepdim=True))
                m.mul_(shrink).addmm_(z if slope is None else z.mul_(slope), self.of_block(begin, w))
                high = top
            ms.append(m / mass)
            ls.append((high + mass.log()).flatten())
        return torch.cat(ms), torch.cat(ls)

    def moments(self, h, tau=1.0):
        """m and lse as `moment` has them; with x = z / tau: the mean of x times the pull (n, r) and of x (n,) under the softmax,
        and the mean pull (n, r) of all tokens alike."""
        ms, ls, ws, xs, fs = [], [], [], [], []
        for part in h.split(self.positions):
            high = part.new_full((part.shape[0], 1), -torch.inf)
            mass, mean = part.new_zeros((part.shape[0], 1)), part.new_zeros((part.shape[0], 1))
            m = part.new_zeros((part.shape[0], self.of.shape[1]))
            wide, flat = torch.zeros_like(m), torch.zeros_like(m)
            for begin, w, b in self.blocks():
                raw = part @ w.t() if b is None else torch.addmm(b, part, w.t())
                rows = self.of_block(begin, w)
                slope = torch.ones_like(raw) if self.post.identity else self.post.slope_at(raw)
                x = (raw if self.post.identity else self.post.value(raw)) / tau
                top = torch.maximum(high, x.amax(1, keepdim=True))
                p = torch.exp(x - top)
                shrink = torch.exp(high - top)
                mass.mul_(shrink).add_(p.sum(1, keepdim=True))
                mean.mul_(shrink).add_((p * x).sum(1, keepdim=True))
                m.mul_(shrink).addmm_(p * slope, rows)
                wide.mul_(shrink).addmm_(p * x * slope, rows)
                flat.addmm_(slope, rows)
                high = top
            ms.append(m / mass)
            ls.append((high + mass.log()).flatten())
            ws.append(wide / mass)
            xs.append((mean / mass).flatten())
            fs.append(flat / self.vocab)
        return tuple(torch.cat(each) for each in (ms, ls, ws, xs, fs))

    def best(self, g, h, m):
        """(n, 2) the two ids of the whole vocabulary that explain most of g: the largest squared cosines of g and m - f' W_v."""
        out = []
        for g, h, m in zip(*(each.split(self.positions) for each in (g, h, m))):
            gm, mm = (g * m).sum(-1, keepdim=True), m.pow(2).sum(-1, keepdim=True)
            top = torch.full_like(gm, -1.0).expand(-1, 2)
            which = torch.zeros(top.shape, dtype=torch.int64, device=g.device)
            for begin, w, b in self.blocks():
                of = self.of_block(begin, w)
                gw, mw, ww = g @ of.t(), m @ of.t(), of.pow(2).sum(1)[None, :]
                if not self.post.identity:
                    z = h @ w.t() if b is None else torch.addmm(b, h, w.t())
                    slope = self.post.slope_at(z)
                    gw, mw, ww = gw * slope, mw * slope, ww * slope**2
                cosine = (gm - gw).pow_(2).div_((mm - 2 * mw + ww).clamp_(min=1e-30))
                value, place = cosine.topk(min(2, cosine.shape[1]), dim=1)
                value, order = torch.cat([top, value], 1).topk(2, dim=1)
                which, top = torch.cat([which, place + begin], 1).gather(1, order), value
            out.append(which)
        return torch.cat(out)
