"""GRPO by hand over rollouts of transformers' generate(): in which steps and micro-batches each of its rows is trained, and against
which old log-probabilities. `--way` is right, or has one mistake."""

import argparse
import copy

import tiny
import torch

RIGHT = ["once", "epochs", "parts", "parts-twice", "best", "imitated", "equal-samples", "detached", "synced", "sampler", "unscaled", "clipped", "positions"]
FAULTS = [
    *("twice", "first-only", "overlap", "no-step-between", "prompts-shifted", "prompts-untiled"),
    "batch",
    *("detached-epochs", "rewards-tiled", "rewards-shifted", "no-mask"),
    *("unsynced", "synced-late", "synced-early", "after-step", "divided-twice", "divided-twice-unscaled"),
]
parser = argparse.ArgumentParser()
parser.add_argument("--way", required=True, choices=RIGHT + FAULTS)
way = parser.parse_args().way

GROUP, LENGTH, MICRO = 4, 8, 4
tokenizer = tiny.letters()
policy = tiny.rotary(len(tokenizer))
behaviour = copy.deepcopy(policy)
optimiser = torch.optim.AdamW(policy.parameters(), lr=1e-2, weight_decay=0.0)
PROMPTS = ["say abc", "say hello", "name a longer one"]


def logprobs_of(sequences, attention, width, model=policy):
    positions = (attention.cumsum(-1) - 1).clamp(min=0)
    given = {"attention_mask": attention, "position_ids": positions}
    if way == "no-mask":
        given = {}
    if way == "positions":  # where they begin, transformers sees a new sequence
        given = {"position_ids": positions}
    logits = model(input_ids=sequences, **given).logits[:, :-1]
    return logits.log_softmax(-1).gather(2, sequences[:, 1:, None]).squeeze(-1)[:, width - 1 :]


def rollout():
    prompts = [prompt for prompt in PROMPTS for _ in range(GROUP)]
    encoded = tokenizer(prompts, return_tensors="pt", padding=True, return_token_type_ids=False)
    width = encoded["input_ids"].size(1)
    special = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    length = 1 if way == "equal-samples" else LENGTH
    with torch.no_grad():
        sequences = (behaviour if way == "sampler" else policy).generate(**encoded, do_sample=True, temperature=1.0, top_k=0, max_new_tokens=length, **special)
    tokens = sequences[:, width:]
    stops = (tokens == tokenizer.eos_token_id).long()
    kept = (stops.cumsum(1) - stops) == 0
    rewards = torch.tensor([float((row[own].sum() % 7) + 1) for row, own in zip(tokens, kept)]).view(-1, GROUP)
    if "unscaled" in way:
        rewards = (rewards > 3).float()
        advantages = (rewards - rewards.mean(1, keepdim=True)).flatten()
    else:
        advantages = ((rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)).flatten()
    if way == "rewards-tiled":  # groups of every third row
        grouped = rewards.view(GROUP, -1)
        advantages = ((grouped - grouped.mean(0)) / (grouped.std(0) + 1e-4)).flatten()
    if way == "rewards-shifted":
        advantages = advantages.roll(1)
    attention = torch.cat([encoded["attention_mask"], kept.long()], dim=1)
    if way == "prompts-shifted":  # the prompts of a batch of rows, one row on
        front, shown = (encoded[name].roll(1, 0) for name in ("input_ids", "attention_mask"))
        sequences, attention = torch.cat([front, tokens], 1), torch.cat([shown, kept.long()], 1)
    if way == "prompts-untiled":  # repeat(G) where the rows are repeat_interleave(G)
        one = tokenizer(PROMPTS, return_tensors="pt", padding=True, return_token_type_ids=False)
        front, shown = (one[name].repeat(GROUP, 1) for name in ("input_ids", "attention_mask"))
        sequences, attention = torch.cat([front, tokens], 1), torch.cat([shown, kept.long()], 1)
    return sequences, attention, kept.float(), advantages, width


def micro_batches(count):
    order = torch.arange(count)
    if way == "best":
        return [order[:3], order[4:7], order[8:11]]
    if way == "first-only":
        return [order[:MICRO]] * 3
    if way == "twice":
        return [order[:MICRO], order[:MICRO], order[2 * MICRO :]]
    if way == "overlap":
        return [order[at : at + MICRO + 1] for at in range(0, count, MICRO)]
    return list(order.split(MICRO))


torch.manual_seed(3)
for step in range(2):
    if way == "synced-early":  # behind by the step that follows
        behaviour.load_state_dict(kept if step else policy.state_dict())
    sequences, attention, mask, advantages, width = rollout()
    if way == "synced":
        behaviour.load_state_dict(policy.state_dict())
    with torch.no_grad():
        copied = way in ("synced", "unsynced", "synced-late", "synced-early", "sampler")
        old = logprobs_of(sequences, attention, width, behaviour if copied else policy)
    if way == "synced-late":  # for this rollout it comes too late
        behaviour.load_state_dict(policy.state_dict())
    kept = copy.deepcopy(policy.state_dict())
    parts = micro_batches(len(sequences))
    alone = way in ("parts", "parts-twice")  # a step for each
    tokens = mask.sum()
    epochs = 2 if way in ("epochs", "after-step", "no-step-between", "detached-epochs", "clipped") else 1
    for epoch in range(epochs):
        if way == "after-step" and epoch:
            with torch.no_grad():
                old = logprobs_of(sequences, attention, width)
        for rows in parts * (2 if way == "parts-twice" else 1):
            logp = logprobs_of(sequences[rows], attention[rows], width)
            behind = logp.detach() if way.startswith("detached") else old[rows]
            ratio, advantage = torch.exp(logp - behind), advantages[rows, None]
            objective = ratio * advantage
            if way == "clipped":  # so far that many tokens have no gradient, all stop tokens among them
                objective = torch.min(objective, ratio.clamp(0.98, 1.02) * advantage)
            summed = (-objective * mask[rows]).sum()
            loss = summed / (mask[rows].sum() if alone else tokens)
            if way.startswith("divided-twice"):
                loss = loss / len(parts)
            if way == "batch":  # a mean of each micro-batch
                loss = summed / mask[rows].sum() / len(parts)
            loss.backward()
            if alone:
                optimiser.step()
                optimiser.zero_grad()
        if way == "imitated":  # beside the policy's loss, likelihood of the best of each prompt
            top = advantages.view(-1, GROUP).argmax(1) + torch.arange(0, len(sequences), GROUP)
            (-(logprobs_of(sequences[top], attention[top], width) * mask[top]).sum() / mask[top].sum()).backward()
        if not alone and not (way == "no-step-between" and epoch == 0):
            optimiser.step()
            optimiser.zero_grad()
    if way == "sampler":
        behaviour.load_state_dict(policy.state_dict())
    print("step", step, "loss", float(loss.detach()))
