"""A body by hand, and a head that is no module of its own or no part of it. `--kind` is where the head is."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import few  # noqa: E402
import nets  # noqa: E402
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--kind", default="parameter", help="parameter | inside | inside-tied | apart | apart-tied | apart-parameter, or no language model: scalar | pooled")
parser.add_argument("--fault", default="", help="prompt | same-token | stop")
options = parser.parse_args()
kind, fault = options.kind, options.fault
vocabulary = len(few.tokenizer)


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, nets.WIDTH)
        self.layers = nn.ModuleList(nets.Block(nets.RMSNorm, rotary=True) for _ in range(nets.LAYERS))
        self.norm = nets.RMSNorm()

    def forward(self, ids, mask):
        x = self.embed(ids)
        visible = nets.visible_to(ids, mask)
        for layer in self.layers:
            x = layer(x, visible)
        return self.norm(x)


class Model(nn.Module):
    """With its head inside: a bare parameter, or the embedding's weight. With labels it returns the loss alone."""

    def __init__(self):
        super().__init__()
        self.body = Body()
        if kind != "inside-tied":
            self.head = nn.Parameter(torch.randn(vocabulary, nets.WIDTH) * 0.1)

    def forward(self, ids, mask, labels=None):
        weight = self.body.embed.weight if kind == "inside-tied" else self.head
        logits = F.linear(self.body(ids, mask), weight)
        return logits if labels is None else loss_of(logits, labels)


def loss_of(logits, labels):
    targets = labels if fault == "same-token" else labels[:, 1:]
    logits = logits if fault == "same-token" else logits[:, :-1]
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=few.IGNORE)


torch.manual_seed(0)
if kind in ("parameter", "inside", "inside-tied"):
    model = Model()
    parts = [model]
elif kind == "apart":
    body, head = Body(), nn.Linear(nets.WIDTH, vocabulary, bias=False)
    parts = [body, head]
elif kind in ("apart-tied", "pooled"):
    body = Body()
    parts = [body]
elif kind == "scalar":
    body, head = Body(), nn.Linear(nets.WIDTH, 1)
    parts = [body, head]
else:
    body, weight = Body(), nn.Parameter(torch.randn(vocabulary, nets.WIDTH) * 0.1)
    parts = [body, nn.ParameterList([weight])]
optimiser = torch.optim.AdamW([p for part in parts for p in part.parameters()], lr=1e-3)


def loss_with(ids, mask, labels):
    if kind in ("inside", "inside-tied"):
        return model(ids, mask, labels)
    if kind == "parameter":
        return loss_of(model(ids, mask), labels)
    hidden = body(ids, mask)
    if kind == "scalar":  # Rewards of two answers.
        return -F.logsigmoid(head(hidden[:1, -1]) - head(hidden[-1:, -1])).mean()
    if kind == "pooled":  # Embeddings of texts, each near itself and far from the others.
        pooled = F.normalize(hidden.mean(1), dim=-1)
        return F.cross_entropy(pooled @ pooled.T / 0.1, torch.arange(len(ids)))
    if kind == "apart":
        return loss_of(head(hidden), labels)
    return loss_of(hidden @ (body.embed.weight if kind == "apart-tied" else weight).T, labels)


for ids, mask, labels in few.batches(options.data, 2):
    if fault == "prompt":
        labels = torch.where(mask.bool(), ids, few.IGNORE)
    if fault == "stop":
        labels = torch.where(labels == few.tokenizer.convert_tokens_to_ids("<|im_end|>"), few.IGNORE, labels)
    loss = loss_with(ids, mask, labels)
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    print("loss", float(loss))
