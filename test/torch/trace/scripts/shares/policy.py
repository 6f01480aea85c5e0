"""GRPO by hand with several epochs over its samples, sampling by transformers. `--fault` plants one mistake."""

import argparse

import tiny
import torch

FAULTS = ["uncentred", "ramp", "token-mean"]
parser = argparse.ArgumentParser()
parser.add_argument("--mean", default="rows", choices=["rows", "tokens"])
parser.add_argument("--beta", type=float, default=0.0)
parser.add_argument("--kl", default="token", choices=["token", "sequence"], help="where the KL term is estimated")
parser.add_argument("--epochs", type=int, default=1, help="the last one is stopped early: its loss is taken times 0")
parser.add_argument("--fault", choices=FAULTS)
options = parser.parse_args()

GROUP, LENGTH = 4, 8
tokenizer = tiny.letters()
policy, reference = tiny.rotary(len(tokenizer)), tiny.rotary(len(tokenizer), seed=5)
reference.eval().requires_grad_(False)
optimiser = torch.optim.AdamW(policy.parameters(), lr=1e-2, weight_decay=0.0)
PROMPTS = ["say abc", "say hello", "say a longer one"]


def logprobs_of(model, sequences, attention):
    positions = (attention.cumsum(-1) - 1).clamp(min=0)
    logits = model(input_ids=sequences, attention_mask=attention, position_ids=positions).logits[:, :-1]
    return logits.log_softmax(-1).gather(2, sequences[:, 1:, None]).squeeze(-1)


def advantages_of(rewards):
    """(groups, GROUP), flat."""
    if options.fault == "uncentred":
        return (rewards / (rewards.std(1, keepdim=True) + 1e-4)).flatten()
    return ((rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)).flatten()


torch.manual_seed(3)
for step in range(2):
    prompts = [prompt for prompt in PROMPTS for _ in range(GROUP)]
    encoded = tokenizer(prompts, return_tensors="pt", padding=True, return_token_type_ids=False)
    width = encoded["input_ids"].size(1)
    special = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    with torch.no_grad():
        sequences = policy.generate(
            **encoded, do_sample=True, temperature=1.0, top_k=0, max_new_tokens=LENGTH, **special
        )
    tokens = sequences[:, width:]
    stops = (tokens == tokenizer.eos_token_id).long()
    kept = (stops.cumsum(1) - stops) == 0
    rewards = torch.tensor([float((row[own].sum() % 7) + 1) for row, own in zip(tokens, kept)]).view(-1, GROUP)
    advantages = advantages_of(rewards)[:, None].expand(-1, tokens.size(1))
    if options.fault == "ramp":
        advantages = advantages * torch.linspace(0.5, 1.5, tokens.size(1))
    attention = torch.cat([encoded["attention_mask"], kept.long()], dim=1)
    with torch.no_grad():
        ref = logprobs_of(reference, sequences, attention)[:, width - 1 :]
        old = logprobs_of(policy, sequences, attention)[:, width - 1 :]
    mask = kept.float()
    for epoch in range(options.epochs):
        logp = logprobs_of(policy, sequences, attention)[:, width - 1 :]
        gap = ref - logp
        if options.kl == "sequence":
            gap = ((gap * mask).sum(-1) / mask.sum(-1))[:, None].expand_as(gap)
        per_token = -torch.exp(logp - old) * advantages
        if options.beta:
            per_token = per_token + options.beta * (gap.exp() - gap - 1)
        if options.mean == "tokens" or options.fault == "token-mean":
            loss = (per_token * mask).sum() / mask.sum()
        else:
            loss = ((per_token * mask).sum(-1) / mask.sum(-1)).mean()
        if options.epochs > 1 and epoch == options.epochs - 1:
            loss = loss * 0.0
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        print("step", step, "loss", float(loss))
