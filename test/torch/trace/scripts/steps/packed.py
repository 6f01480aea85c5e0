"""Supervised rows of several examples. What keeps them apart: a mask of blocks, lengths, or nothing."""

import argparse

import few
import nets
import tiny
import torch
import torch.nn.functional as F

WAYS = ["blocks", "added", "transformers", "eager", "one-by-one", "causal", "is-causal", "masked"]
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--way", choices=WAYS, required=True)
options = parser.parse_args()
way = options.way
torch.manual_seed(0)
size = len(few.tokenizer)

examples = [few.encoded(row) for row in tiny.rows(options.data)]
packs = [examples[at : at + 2] for at in range(0, len(examples) - 1, 2)]
if way == "one-by-one":
    packs = [[each] for each in examples]


class Causal(nets.GPT):
    """Attention of torch's own, which looks at no positions."""

    def forward(self, ids, positions):
        x = self.wte(ids) + self.wpe(positions)
        for block in self.blocks:
            h = block.norm_1(x)
            q, k, v = (part.view(*ids.shape, nets.HEADS, -1).transpose(1, 2) for part in block.attention.qkv(h).split(nets.WIDTH, dim=-1))
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + block.attention.out(mixed.transpose(1, 2).reshape(x.shape))
            x = x + block.mlp(block.norm_2(x))
        return self.lm_head(self.norm(x))


class Blocks(nets.GPT):
    """A mask of blocks: of booleans, or of numbers that are added."""

    def forward(self, ids, positions):
        x = self.wte(ids) + self.wpe(positions)
        number = (positions == 0).cumsum(1)
        visible = nets.visible_to(ids, None) & (number[:, :, None] == number[:, None, :])[:, None]
        if way == "added":
            visible = torch.zeros(visible.shape).masked_fill(~visible, torch.finfo(torch.float32).min)
        for block in self.blocks:
            x = block(x, visible)
        return self.lm_head(self.norm(x))


def rotary():
    model = tiny.rotary(size)
    if way == "eager":
        model.set_attn_implementation("eager")
    return model


model = {"blocks": Blocks, "added": Blocks, "causal": nets.GPT, "is-causal": Causal}.get(way, lambda _: rotary())(size)
model.train()
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)


def logits_of(ids, positions):
    if way in ("blocks", "added", "is-causal"):
        return model(ids, positions)
    if way == "causal":
        return model(ids, positions=positions)
    mask = torch.ones_like(ids) if way == "masked" else None
    return model(ids, attention_mask=mask, position_ids=positions, use_cache=False).logits


for epoch in range(3):
    for pack in packs:
        ids = torch.tensor([[id for row, _ in pack for id in row]])
        labels = torch.tensor([[id for _, targets in pack for id in [few.IGNORE, *targets[1:]]]])
        positions = torch.tensor([[at for row, _ in pack for at in range(len(row))]])
        loss = few.total(logits_of(ids, positions), labels) / (labels[:, 1:] != few.IGNORE).sum()
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        print("step", float(loss.detach()))
