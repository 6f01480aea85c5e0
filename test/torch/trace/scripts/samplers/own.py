"""A policy gradient over a sampler of the script's own. `--fault` plants one mistake."""

import argparse

import tiny
import torch
from draws import categorical, elsewhere, exponential, greedy, grown, gumbel, leaving, likeliest, nucleus, ragged, TEMPERATURE
from cached import Cached
from learning import FAULTS, Learner
from nets import Llama

DRAWS = dict(nucleus=nucleus, topk=likeliest, categorical=categorical, greedy=greedy, gumbel=gumbel, exponential=exponential, elsewhere=elsewhere)
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
    if options.loop != "prefix":
        net.norm.bias.data = net.tok_embeddings.weight[STOP].detach().clone() * 0.7
    return net


policy, reference = model(7), model(8)
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


learner = Learner(policy, reference, scores, tokenizer, scoring, options)
for step in range(2):
    policy.eval()
    with torch.no_grad():
        rows = sampled()
    policy.train()
    print("step", step, "loss", learner.step(rows, GROUP, alike=options.draw == "greedy"))
