"""A loop by hand that samples, scores and updates: GRPO with two updates a batch, logged under names as several trainers have
them, and its rollouts as JSON lines."""

import json
import time

import tiny
import torch
from logbook import Logbook
from onset import Onset
from rl import PROMPTS, quality

GROUP, LENGTH, UPDATES, CLIP = 4, 24, 2, 0.2


def padded(rows, pad):
    width = max(map(len, rows))
    return torch.tensor([row + [pad] * (width - len(row)) for row in rows])


def logprobs_of(model, ids, attention, kept, temperature):
    """(B, kept) log-probabilities of the last `kept` tokens, and the entropies there."""
    positions = (attention.cumsum(-1) - 1).clamp(min=0)
    logits = model(input_ids=ids, attention_mask=attention, position_ids=positions).logits[:, -kept - 1 : -1]
    logp = (logits / temperature).log_softmax(-1)
    return logp.gather(2, ids[:, -kept:, None]).squeeze(-1), -(logp.exp() * logp).sum(-1)


def run(out, seed, steps=25, fault=None, onset=1, until=None, form="csv", lr=3e-3, beta=0.02):
    begins = Onset(fault, onset, until)
    tokenizer = tiny.letters()
    eos, pad = tokenizer.eos_token_id, tokenizer.pad_token_id
    policy, reference = (tiny.rotary(len(tokenizer), seed=seed) for _ in range(2))
    reference.eval().requires_grad_(False)
    optimiser = torch.optim.AdamW(policy.parameters(), lr=lr, weight_decay=0.0)
    book = Logbook(out, form)
    rollouts = open(out + "/rollouts.jsonl", "w", encoding="utf-8")
    torch.manual_seed(seed)
    for done in range(steps):
        started = time.perf_counter()
        prompts = [prompt for prompt in PROMPTS for _ in range(GROUP)]
        encoded = tokenizer(prompts, return_tensors="pt", padding=True, return_token_type_ids=False)
        width = encoded["input_ids"].size(1)
        sampled = policy.generate(
            **encoded,
            do_sample=True,
            temperature=0.5 if begins.now("temperature", done) else 1.0,
            top_k=0,
            max_new_tokens=LENGTH,
            eos_token_id=eos,
            pad_token_id=pad,
        )
        tokens = sampled[:, width:]
        stops = (tokens == eos).long()
        mask = ((stops.cumsum(1) - stops) == 0).float()
        lengths = mask.sum(1)
        stopped = stops.any(1)
        texts = tokenizer.batch_decode(tokens, skip_special_tokens=True)
        scores = torch.tensor([quality(text, bool(end)) for text, end in zip(texts, stopped)])
        grouped = scores.view(-1, GROUP)
        centre = 0.0 if begins.now("uncentred", done) else grouped.mean(1, keepdim=True)
        advantages = ((grouped - centre) / (grouped.std(1, keepdim=True) + 1e-4)).view(-1)

        attention = torch.cat([encoded["attention_mask"], mask.long()], dim=1)
        kept = tokens.size(1)
        scoring = 1.0
        with torch.no_grad():
            # What the engine says of its own tokens, and what the trainer says of them.
            engine = logprobs_of(policy, sampled, attention, kept, 0.5 if begins.now("temperature", done) else 1.0)[0]
            old, entropy = logprobs_of(policy, sampled, attention, kept, scoring)
            ref = logprobs_of(reference, sampled, attention, kept, scoring)[0]
        mean = lambda values: ((values * mask).sum() / mask.sum()).item()
        losses, norms, clipped, kls, ratios = [], [], [], [], []
        for update in range(UPDATES):
            logp = logprobs_of(policy, sampled, attention, kept, scoring)[0]
            behind = engine if begins.now("temperature", done) else old
            ratio = torch.exp(logp - behind)
            if begins.now("stale-logprobs", done):
                ratio = torch.exp(logp - old.roll(1, dims=0))
            surrogate = torch.min(ratio * advantages[:, None], ratio.clamp(1 - CLIP, 1 + CLIP) * advantages[:, None])
            gap = ref - logp
            loss = -((surrogate - beta * (gap.exp() - gap - 1)) * mask).sum() / mask.sum()
            optimiser.zero_grad()
            loss.backward()
            norms.append(torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0).item())
            optimiser.step()
            losses.append(loss.item())
            ratios.append(mean(ratio.detach()))
            clipped.append(mean(((ratio.detach() - 1).abs() > CLIP).float()))
            kls.append(mean((gap.exp() - gap - 1).detach()))
        average = lambda values: sum(values) / len(values)
        seconds = time.perf_counter() - started
        book.log(
            done + 1,
            {
                "actor/pg_loss": average(losses),
                "actor/grad_norm": average(norms),
                "actor/lr": lr,
                "actor/entropy": mean(entropy),
                "actor/kl_loss": average(kls),
                "actor/pg_clipfrac": average(clipped),
                "ratio_mean": ratios[0],
                "critic/score/mean": scores.mean().item(),
                "critic/score/max": scores.max().item(),
                "critic/score/min": scores.min().item(),
                "advantages/mean": advantages.mean().item(),
                "advantages/std": advantages.std().item(),
                "response_length/mean": lengths.mean().item(),
                "response_length/max": lengths.max().item(),
                "response_length/min": lengths.min().item(),
                "response_length/clip_ratio": (~stopped).float().mean().item(),
                "train_rollout_logprob_abs_diff": mean((engine - old).abs()),
                "perf/throughput": attention.sum().item() / seconds,
                "timing_s/step": seconds,
            },
        )
        for at, text in enumerate(texts):
            row = {
                "input": prompts[at],
                "output": text,
                "score": scores[at].item(),
                "step": done + 1,
                "response_ids": tokens[at, : int(lengths[at])].tolist(),
                "finish_reason": "stop" if stopped[at] else "length",
            }
            rollouts.write(json.dumps(row) + "\n")
    book.close()
    rollouts.close()
