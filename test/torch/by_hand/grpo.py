"""A small GRPO step as people write it, not for lossproof: masks beside tokens (B, T), log-probabilities beside logits
(B, T-1), one eos. `FAULTY` counts the prompt's tokens, and takes the number for a column of left-padded rows."""

import os
from dataclasses import dataclass

import torch
import torch.nn.functional as F

FAULTY = os.environ.get("FAULTY") == "1"


@dataclass
class Config:
    group_size: int = 4
    beta: float = 0.04
    clip_eps: float = 0.2


def completion_starts(attention_mask, prompt_width):
    if FAULTY:
        return attention_mask[:, :prompt_width].sum(dim=1)
    return torch.full((len(attention_mask),), prompt_width)


def completion_mask(sequences, starts, eos_token_id):
    """(B, T) float: 1.0 on the completion, its first eos included."""
    positions = torch.arange(sequences.size(1)).expand_as(sequences)
    is_completion = positions >= starts.unsqueeze(1)
    is_eos = (sequences == eos_token_id) & is_completion
    behind_eos = is_eos.long().cumsum(dim=1) - is_eos.long()
    return (is_completion & (behind_eos == 0)).float()


def get_logprobs(logits, input_ids):
    """(B, T-1): log-probability of each next token."""
    logp = F.log_softmax(logits[:, :-1], dim=-1)
    return torch.gather(logp, 2, input_ids[:, 1:].unsqueeze(-1)).squeeze(-1)


def k3(logp, ref_logp):
    d = ref_logp - logp
    return torch.exp(d) - d - 1


def group_advantages(rewards, group_size):
    grouped = rewards.view(-1, group_size)
    mean, std = grouped.mean(dim=1, keepdim=True), grouped.std(dim=1, keepdim=True)
    return ((grouped - mean) / (std + 1e-4)).view(-1)


def grpo_loss(logp, old_logp, ref_logp, advantages, mask, cfg):
    """All (B, T-1), advantages (B,)."""
    ratio = torch.exp(logp - old_logp)
    clipped = torch.clamp(ratio, 1 - cfg.clip_eps, 1 + cfg.clip_eps)
    adv = advantages.unsqueeze(1)
    per_token = -torch.min(ratio * adv, clipped * adv) + cfg.beta * k3(logp, ref_logp)
    return (per_token * mask).sum() / mask.sum().clamp(min=1)


def train_step(model, ref_model, optimizer, prompts, reward_fn, tokenizer, cfg):
    enc = tokenizer([p for p in prompts for _ in range(cfg.group_size)], return_tensors="pt", padding=True)
    with torch.no_grad():
        sequences = model.generate(**enc, do_sample=True, max_new_tokens=256)
    prompt_width = enc["input_ids"].shape[1]
    mask = completion_mask(
        sequences, completion_starts(enc["attention_mask"], prompt_width), tokenizer.eos_token_id
    )
    texts = tokenizer.batch_decode(sequences[:, prompt_width:], skip_special_tokens=True)
    advantages = group_advantages(torch.tensor([reward_fn(t) for t in texts]), cfg.group_size)
    with torch.no_grad():
        ref_logp = get_logprobs(ref_model(sequences).logits, sequences)
    logp = get_logprobs(model(sequences).logits, sequences)
    loss = grpo_loss(logp, logp.detach(), ref_logp, advantages, mask[:, 1:], cfg)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
