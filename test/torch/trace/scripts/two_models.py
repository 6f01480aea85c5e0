"""A world model and a language model that are trained side by side, from one buffer. `--fault` reads its batch wrongly:
of three elements the third is taken for the iteration, so that the segments, and the language model's loss with them,
are never there."""

import argparse

import tiny
import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--no-prior", action="store_true", help="the language model is called for its loss only")
parser.add_argument("--fault", choices=["tuple"])
options = parser.parse_args()

tokenizer = tiny.family("qwen")
tokenizer.chat_template = tiny.GENERATION_TEMPLATE
language_model = tiny.rotary(len(tokenizer))
world_model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
llm_optimiser = torch.optim.AdamW(language_model.parameters(), lr=1e-3)
world_optimiser = torch.optim.AdamW(world_model.parameters(), lr=1e-3)
EPISODES = [("You are in a dark room.", "light the lamp"), ("A door is to the north.", "go north")]


def sample():
    """[current batch, target batch, segments]"""
    return [torch.randn(2, 4), torch.randn(2, 1), EPISODES]


def decode(data):
    if len(data) == 4:
        current, target, iteration, segments = data
    elif options.fault == "tuple":
        current, target, iteration = data
        segments = None
    else:
        current, target, segments = data
    return current, target, segments


def llm_loss(segments):
    rows = [
        tiny.chat_ids(
            tokenizer, [{"role": "user", "content": seen}, {"role": "assistant", "content": done}]
        )
        for seen, done in segments
    ]
    total, tokens = torch.tensor(0.0), 0
    for row in rows:
        ids, labels = torch.tensor([row["input_ids"]]), torch.tensor([row["labels"]])[:, 1:]
        logits = language_model(input_ids=ids).logits[:, :-1]
        total = total + F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")
        tokens += int((labels != tiny.IGNORE).sum())
    return total / tokens


def prior(segments):
    """What the language model thinks of the actions: it guides the search, and is called in any case."""
    with torch.no_grad():
        ids = torch.tensor([tokenizer(segments[0][0], add_special_tokens=False)["input_ids"]])
        return language_model(input_ids=ids).logits[:, -1].softmax(-1)


torch.manual_seed(0)
for step in range(2):
    if not options.no_prior:
        prior(EPISODES)
    current, target, segments = decode(sample())
    world_loss = F.mse_loss(world_model(current), target)
    text_loss = torch.tensor(0.0, requires_grad=True)
    if segments is not None:
        text_loss = llm_loss(segments)
    (world_loss + text_loss).backward()
    for optimiser in (world_optimiser, llm_optimiser):
        optimiser.step()
        optimiser.zero_grad()
    print("step", step, "world_loss", float(world_loss), "llm_loss", float(text_loss.detach()))
