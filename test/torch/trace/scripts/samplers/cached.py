"""A rotary model that remembers keys and values, as samplers of their own have it: `forward` for training, `inference` for the
columns that are new. Its widths are chosen to mislead: a table as wide as the model, layers as wide as the vocabulary."""

import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH, HEADS = 32, 4


def turned(x, start):
    length, size = x.shape[-2:]
    angle = (torch.arange(length) + start)[:, None] * 10000 ** (-torch.arange(0, size, 2) / size)
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos()], -1).flatten(-2)


class Block(nn.Module):
    def __init__(self, wide):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, wide), nn.Linear(wide, WIDTH)
        self.norm_1, self.norm_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.past = None

    def forward(self, x, start=None):
        batch, length, _ = x.shape
        heads = (part.view(batch, length, HEADS, -1).transpose(1, 2) for part in self.qkv(self.norm_1(x)).split(WIDTH, -1))
        q, k, v = heads
        q, k = turned(q, start or 0), turned(k, start or 0)
        if start is not None:
            if start > 0:
                k, v = (torch.cat([old.expand(batch, -1, -1, -1), new], 2) for old, new in zip(self.past, (k, v)))
            self.past = (k, v)
        total = k.shape[2]
        visible = torch.ones(total, total, dtype=torch.bool).tril()[-length:]
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=visible)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


class Cached(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.tok_embeddings = nn.Embedding(vocabulary, WIDTH)
        self.kinds = nn.Embedding(WIDTH, WIDTH)
        self.blocks = nn.ModuleList(Block(vocabulary) for _ in range(2))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, tokens):
        return self.read(tokens, None)

    def inference(self, tokens, start_pos):
        return self.read(tokens, start_pos)

    def read(self, tokens, start):
        x = self.tok_embeddings(tokens) + self.kinds(torch.zeros_like(tokens))
        for block in self.blocks:
            x = block(x, start)
        return self.norm(x) @ self.tok_embeddings.weight.T
