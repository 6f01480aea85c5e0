"""Two language models written by hand, as people write them: learned positions with a tied head of its own module, and
rotary positions with RMSNorm and the embedding's weight as a functional head."""

import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH, HEADS, LAYERS, LONGEST = 32, 4, 2, 128


class Attention(nn.Module):
    def __init__(self, rotary):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.rotary = rotary

    def forward(self, x, visible):
        batch, length, _ = x.shape
        q, k, v = (
            part.view(batch, length, HEADS, -1).transpose(1, 2) for part in self.qkv(x).split(WIDTH, dim=-1)
        )
        if self.rotary:
            q, k = rotate(q), rotate(k)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=visible)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))


def rotate(x):
    length, size = x.shape[-2:]
    frequency = 10000 ** (-torch.arange(0, size, 2) / size)
    angle = torch.arange(length)[:, None] * frequency
    cos, sin = angle.cos(), angle.sin()
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


class RMSNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class Block(nn.Module):
    def __init__(self, norm, rotary):
        super().__init__()
        self.norm_1, self.norm_2 = norm(), norm()
        self.attention = Attention(rotary)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x, visible):
        x = x + self.attention(self.norm_1(x), visible)
        return x + self.mlp(self.norm_2(x))


def visible_to(ids, mask):
    """(B, 1, T, T): what each position may look at."""
    length = ids.size(1)
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    if mask is None:
        return causal[None, None]
    return (causal & mask.bool()[:, None, :] | torch.eye(length, dtype=torch.bool))[:, None]


class GPT(nn.Module):
    """Learned positions; they are counted from the row's first column unless they are given. With `loss` it returns what
    that makes of the hidden states and the head, if the logits are too many to exist at once."""

    def __init__(self, vocabulary):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, WIDTH)
        self.wpe = nn.Embedding(LONGEST, WIDTH)
        self.blocks = nn.ModuleList(Block(lambda: nn.LayerNorm(WIDTH), rotary=False) for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.lm_head = nn.Linear(WIDTH, vocabulary, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, ids, mask=None, positions=None, loss=None):
        if positions is None:
            positions = torch.arange(ids.size(1))[None]
        x = self.wte(ids) + self.wpe(positions)
        visible = visible_to(ids, mask)
        for block in self.blocks:
            x = block(x, visible)
        return self.lm_head(self.norm(x)) if loss is None else loss(self.norm(x), self.lm_head)


class Llama(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, WIDTH)
        self.layers = nn.ModuleList(Block(RMSNorm, rotary=True) for _ in range(LAYERS))
        self.norm = RMSNorm()

    def forward(self, tokens, mask=None):
        x = self.embed(tokens)
        visible = visible_to(tokens, mask)
        for layer in self.layers:
            x = layer(x, visible)
        return F.linear(self.norm(x), self.embed.weight)
