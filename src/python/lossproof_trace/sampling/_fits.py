"""What turned logits into the probabilities that a token was drawn with: read off the two, whatever the script calls it."""

import torch

# Of the largest probability of a row: smaller ones are rounding.
LEAST = 1e-6
# By which logarithms of probabilities may differ from a straight line, in single precision and in half.
CLOSE, CLOSE_IN_HALVES = 2e-3, 6e-2
# Tokens of a row that a sampler may leave out whatever their logits are.
MOST_BARRED = 8
# Tokens of a row that a penalty or a bias may have moved, as a share of those that can be drawn; and fewer of these tell nothing.
MOST_MOVED = 0.25
LEAST_STRAIGHT = 16
# Of the largest probability: where most tokens are on one line, those far below tell as well, and of a sure model there are no others.
LEAST_OF_MOST = 1e-15
# Between the shares that the draws allow; further apart, the one that was asked for is a guess.
APART = 0.05


class Fit:
    """`tokens` (B,) that were drawn; `temperature`, None where the probabilities are no power of the logits'; `kept` (B,) how
    many tokens could be drawn, `without` and `mass` (B,) the share of them without the last, and with it. `moved`: the temperature
    is that of most tokens, and others were made likelier or less likely."""

    def __init__(self, tokens, temperature=None, kept=None, without=None, mass=None, moved=False, off=None):
        self.tokens, self.temperature, self.moved = tokens, temperature, moved
        # (B, V) where a token is not on the line of most, where that is known.
        self.off = off
        self.kept, self.without, self.mass = kept, without, mass


def fitted(z, p, picks):
    """z (B, V) or (1, V) logits or None, p (B, K) what was drawn from, picks (B,). None: which tokens were drawn is unknown."""
    if z is None:
        return Fit(picks)
    p = p.detach().to(z.device).double()
    half = z.dtype in (torch.float16, torch.bfloat16)
    z = z.detach().double()
    if z.shape[0] == 1 and p.shape[0] > 1:
        z = z.expand(p.shape[0], -1)
    if z.shape[0] != p.shape[0] or p.shape[1] > z.shape[1]:
        return Fit(picks) if p.shape[1] == z.shape[1] else None
    close = CLOSE_IN_HALVES if half else CLOSE
    # In their order; a padded vocabulary may have been cut.
    near = z[:, : p.shape[1]]
    temperature = straight(near, p, close)
    if temperature is not None:
        return described(picks, near, p, temperature)
    values, order = z.topk(p.shape[1], dim=-1)
    temperature = straight(values, p, close)
    if temperature is not None:
        tokens = order.gather(1, picks[:, None].to(order.device))[:, 0]
        return described(tokens, values, p, temperature, z)
    if p.shape[1] != z.shape[1]:
        return None
    temperature, off = bent(z, p, close)
    return Fit(picks, temperature, moved=True, off=off)


def straight(z, p, close):
    """The temperature, if log p = z / temperature + c row by row over what can be drawn; infinity where nothing tells."""
    there = p > LEAST * p.max(-1, keepdim=True).values
    count = there.sum(-1, keepdim=True).clamp(min=1)
    y = torch.where(there, p.clamp(min=1e-300).log(), 0.0)
    x = torch.where(there, z, 0.0)
    if not bool(torch.isfinite(x).all()):
        return None
    x = torch.where(there, x - x.sum(-1, keepdim=True) / count, 0.0)
    y = torch.where(there, y - y.sum(-1, keepdim=True) / count, 0.0)
    spread = (x * x).sum()
    if float(spread) == 0.0:
        # One token per row: any temperature gives it, if it is the likeliest.
        best = z.gather(1, p.argmax(-1, keepdim=True)) >= z.max(-1, keepdim=True).values
        return float("inf") if bool(best.all()) else None
    slope = (x * y).sum() / spread
    if float(slope) <= 0 or float((y - slope * x).abs().max()) > close * max(1.0, float(y.abs().max()) / 10):
        return None
    # What can be drawn is what is likeliest, but for some tokens that are never drawn.
    lowest = torch.where(there, z, float("inf")).min(-1, keepdim=True).values
    barred = (~there & (z > lowest + 1e-6)).sum(-1)
    return 1.0 / float(slope) if int(barred.max()) <= (MOST_BARRED if int(count.min()) > 2 else 0) else None


def bent(z, p, close):
    """(temperature of most tokens, (B, V) of those that were moved from their straight line), where these are few in each row: a
    penalty, or a bias, does that. (None, None): there is no such line."""
    there = p > LEAST_OF_MOST * p.max(-1, keepdim=True).values
    rows = [(z[row][mask], p[row][mask].log()) for row, mask in enumerate(there) if int(mask.sum()) >= LEAST_STRAIGHT]
    if len(rows) < p.shape[0] or not all(bool(torch.isfinite(x).all()) for x, _ in rows):
        return None, None
    slopes = []
    for x, y in rows:
        x, order = x.sort()
        y = y[order]
        half = x.numel() // 2
        run = x[-half:] - x[:half]
        slopes.append(((y[-half:] - y[:half]) / run)[run > 0])
    slopes = torch.cat(slopes)
    slope = float(slopes.median()) if slopes.numel() > 0 else 0.0
    if slope <= 0:
        return None, None
    off = torch.zeros_like(there)
    for row, (x, y) in enumerate(rows):
        rest = y - slope * x
        room = close * max(1.0, float((y - y.mean()).abs().max()) / 10)
        away = (rest - rest.median()).abs() > room
        if float(away.double().mean()) > MOST_MOVED:
            return None, None
        off[row, there[row]] = away
    return 1.0 / slope, off


def described(tokens, z, p, temperature, everything=None):
    if temperature == float("inf"):
        return Fit(tokens, None, (p > 0).sum(-1))
    there = p > 0
    whole = (z if everything is None else everything) / temperature
    share = (z / temperature - whole.logsumexp(-1, keepdim=True)).exp()
    mass = torch.where(there, share, 0.0).sum(-1)
    last = torch.where(there, share, float("inf")).min(-1).values
    return Fit(tokens, temperature, there.sum(-1), mass - last, mass)


def of_prompt(off, prompts):
    """Whether in each row tokens of its prompt were moved, half of them at least, and no others: off (B, V), prompts (B, P). A
    bias on a few tokens is none of the prompt, though it may hold them."""
    inside = torch.zeros_like(off)
    inside.scatter_(1, prompts.to(off.device).clamp(0, off.shape[1] - 1), True)
    return bool((2 * off.sum(1) >= inside.sum(1)).all()) and not bool((off & ~inside).any())


class Settings:
    """What all draws of one loop have in common."""

    def __init__(self):
        self.temperatures, self.kept, self.unfit = [], set(), 0
        # Of draws from logits that nothing had moved: they tell where a penalty bends the others too far, as from the second token on.
        self.straight = []
        # Draws from logits of which a few were moved; and whether, before anything was sampled, these were tokens of the prompt.
        self.moved, self.prompt_moved = 0, False
        self.below, self.above = 0.0, 1.0
        self.cut, self.vocab = False, 0

    def add(self, fit, vocab):
        if fit.temperature is None:
            self.unfit += fit.kept is None
            return
        self.temperatures.append(fit.temperature)
        if fit.moved:
            self.moved += 1
            return
        self.straight.append(fit.temperature)
        self.vocab = vocab
        self.kept.update(fit.kept.tolist())
        inside = fit.kept < vocab
        if bool(inside.any()):
            self.cut = True
            self.below = max(self.below, float(fit.without[inside].max()))
            self.above = min(self.above, float(fit.mass[inside].min()))

    def temperature(self):
        told = self.straight if self.unfit else self.temperatures
        if not told:
            return None
        middle = sorted(told)[len(told) // 2]
        apart = max(abs(each - middle) for each in told)
        return float("%.4g" % middle) if apart <= 0.02 * middle else None

    def others(self):
        """As the record has them: how the likely tokens were cut, and of how many draws something else is to be said."""
        # Draws that fit nothing, beside some that fit exactly: what is between the two is a processor, not a temperature.
        moved = self.moved + (self.unfit if self.straight else 0)
        moved = {"moved": moved} if moved else {}
        if self.prompt_moved:
            moved["prompt_moved"] = True
        unfit = {"unread": self.unfit} if self.unfit and not self.straight else {}
        return {**self.cuts(), **moved, **unfit}

    def cuts(self):
        if not self.cut:
            return {}
        share = self.below < self.above
        if len(self.kept) == 1:
            kept = next(iter(self.kept))
            # All but a few: some tokens are barred. Few draws may be cut at one share as well.
            return {"top_k": kept} if kept + MOST_BARRED < self.vocab and not share else {}
        if not share or self.above - self.below > APART:
            return {}
        for digits in range(1, 5):
            value = round(self.above, digits) if round(self.above, digits) <= self.above else self.above - 10**-digits
            value = float("%.*f" % (digits, value))
            if self.below < value <= self.above:
                return {"top_p": value}
        return {}
