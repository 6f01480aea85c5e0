"""A policy gradient over a sampler of the script's own. `--fault` plants one mistake."""

import argparse

import tiny
import torch
from draws import categorical, elsewhere, exponential, greedy, grown, gumbel, leaving, likeliest, nucleus, ragged, TEMPERATURE
from cached import Cached
from nets import Llama

DRAWS = dict(nucleus=nucleus, topk=likeliest, categorical=categorical, greedy=greedy, gumbel=gumbel, exponential=exponential, elsewhere=elsewhere)
FAULTS = ["temperature", "prompt", "stop-untrained", "past-the-stop", "re-encoded", "stripped", "reference"]
parser = argparse.ArgumentParser()
parser.add_argument("--draw", choices=DRAWS, default="nucleus")
parser.add_argument("--loop", choices=["prefix", "ragged", "leaving", "method"], default="prefix")
parser.add_argument("--beta", type=float, default=0.0)
parser.add_argument("--fault", choices=FAULTS)
options = parser.parse_args()

GROUP, LENGTH = 4, 8
tokenizer = tiny.letters()
STOP, PAD = tokenizer.eos_token_id, tokenizer.pad_token_id
torch.manual_seed(1)


class Method(type(tiny.rotary(40))):
    """Its `generate` is its own, and not that of the library."""

    @torch.inference_mode()
    def generate(self, inputs, attention_mask, max_new_tokens, temperature):
        for _ in range(max_new_tokens):
            logits = self(inputs, attention_mask=attention_mask).logits[:, -1] / temperature
            lowest = torch.topk(logits, 12, dim=-1).values[:, -1:]
            tokens = torch.multinomial(logits.masked_fill(logits < lowest, -float("inf")).softmax(-1), 1)
            inputs = torch.cat([inputs, tokens], dim=1)
            attention_mask = torch.cat([attention_mask, torch.ones_like(tokens)], dim=1)
        return inputs


def model(seed):
    torch.manual_seed(seed)
    if options.loop == "method":
        return Method(tiny.rotary(len(tokenizer), seed).config)
    net = (Llama if options.loop == "prefix" else Cached)(len(tokenizer))
    torch.nn.init.normal_((net.embed if options.loop == "prefix" else net.tok_embeddings).weight, std=0.3)
    # Not too sure of anything, so that a row stops now and then.
    torch.nn.init.constant_(net.norm.weight, 0.4)
    return net


policy, reference = model(7), model(8)
optimiser = torch.optim.AdamW(policy.parameters(), lr=1e-2, weight_decay=0.0)
ASKED = ["abc", "hello", "a longer one"] if options.loop != "leaving" else ["hello", "abc"]
PROMPTS = ["say " + text for text in ASKED]
draw = DRAWS[options.draw]
scoring = 1.0 if options.fault == "temperature" or options.draw == "greedy" else TEMPERATURE


def scores(net, ids, mask):
    """By the method itself, as some call it."""
    if options.loop == "method":
        return net(ids, attention_mask=mask).logits
    return net(ids, mask) if options.loop == "prefix" else net.forward(ids)


def sampled():
    """(ids, first column of the completion): rows of prompt and completion, with the padding that each way has."""
    encoded = [tokenizer.encode(prompt, add_special_tokens=False) for prompt in PROMPTS]
    repeated = [ids for ids in encoded for _ in range(GROUP)]
    if options.loop == "ragged":
        return list(zip(ragged(policy, repeated, draw, LENGTH, STOP, PAD).tolist(), map(len, repeated)))
    if options.loop == "leaving":
        out = [leaving(policy, prompt, GROUP, draw, LENGTH, STOP, PAD).tolist() for prompt in encoded]
        return [(ids, len(prompt)) for prompt, group in zip(encoded, out) for ids in group]
    width = max(map(len, repeated))
    ids = torch.tensor([[PAD] * (width - len(row)) + row for row in repeated])
    mask = (ids != PAD).long()
    if options.loop == "method":
        out = policy.generate(ids, mask, LENGTH, TEMPERATURE)
    else:
        # The padding in front is none of the model's business: rotary positions are relative.
        out = grown(lambda x: policy(x, torch.cat([mask, mask.new_ones(len(x), x.shape[1] - width)], 1)), ids, draw, LENGTH, STOP, PAD)
    return [(row[width - len(prompt) :], len(prompt)) for row, prompt in zip(out.tolist(), repeated)]


def batch(rows):
    """Right-padded rows, what is trained of them, and what is attended to."""
    ids, trained = [], []
    for row, start in rows:
        prompt, answer = row[:start], row[start:]
        kept = answer[: answer.index(STOP) + 1] if STOP in answer else answer
        if options.fault == "re-encoded":
            text = tokenizer.decode(kept, skip_special_tokens=True)
            kept = tokenizer.encode(text[::-1] if len(text) > 3 else text + "q", add_special_tokens=False) + [STOP]
        if options.fault == "stripped":
            kept = [token for token in kept if token != STOP]
        behind = answer[len(kept) :] if options.fault == "past-the-stop" else []
        weights = [float(options.fault == "prompt")] * start + [1.0] * len(kept) + [1.0] * len(behind)
        if options.fault == "stop-untrained" and kept[-1:] == [STOP]:
            weights[-1] = 0.0
        ids.append(prompt + kept + behind)
        trained.append(weights)
    width = max(map(len, ids))
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in ids])
    return (
        torch.tensor([row + [PAD] * (width - len(row)) for row in ids]),
        torch.tensor([row + [0.0] * (width - len(row)) for row in trained]),
        mask,
    )


def logprobs(net, ids, mask):
    return (scores(net, ids, mask)[:, :-1] / scoring).log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0]


for step in range(2):
    policy.eval()
    with torch.no_grad():
        rows = sampled()
    policy.train()
    rewards = torch.tensor([float(sum(row) % 7) for row, _ in rows]).view(-1, GROUP)
    advantages = ((rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)).view(-1)
    if options.draw == "greedy":  # its own answers, learned by heart
        advantages = torch.ones(len(rows))
    ids, trained, mask = batch(rows)
    logp = logprobs(policy, ids, mask)
    per_token = -torch.exp(logp - logp.detach()) * advantages[:, None]
    if options.beta:
        with torch.no_grad():
            gap = logprobs(reference, ids.roll(1, 0) if options.fault == "reference" else ids, mask)
        gap = gap - logp
        per_token = per_token + options.beta * (gap.exp() - gap - 1)
    loss = (per_token * trained[:, 1:]).sum() / trained[:, 1:].sum()
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    print("step", step, "loss", loss.item())
