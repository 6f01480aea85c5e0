"""GRPO by hand: sampling by transformers' generate, a frozen reference, its own loss. `--fault` plants one mistake."""

import argparse

import tiny
import torch

FAULTS = ["temperature", "reference", "past-the-stop", "prompt", "stop-untrained", "re-encoded", "kl-sign"]
parser = argparse.ArgumentParser()
parser.add_argument("--beta", type=float, default=0.04)
parser.add_argument("--temperature", type=float, default=0.7)
parser.add_argument("--model", default="rotary", choices=["rotary", "absolute"])
parser.add_argument("--no-positions", action="store_true")
parser.add_argument("--value-head", action="store_true")
parser.add_argument("--entropy", type=float, default=0.0)
parser.add_argument("--constant-group", action="store_true", help="all rewards of the first prompt alike")
parser.add_argument("--pad-is-eos", action="store_true")
parser.add_argument("--fault", choices=FAULTS)
options = parser.parse_args()

GROUP, LENGTH = 4, 8
tokenizer = tiny.letters(pad="<eos>" if options.pad_is_eos else "<pad>")
build = tiny.rotary if options.model == "rotary" else tiny.absolute
policy, reference = build(len(tokenizer)), build(len(tokenizer), seed=5)
reference.eval().requires_grad_(False)
value_head = torch.nn.Linear(32, 1)
parameters = [*policy.parameters(), *(value_head.parameters() if options.value_head else [])]
optimiser = torch.optim.AdamW(parameters, lr=1e-2, weight_decay=0.0)
ASKED = ["abc", "hello", "a longer one"]
PROMPTS = ["say " + text for text in ASKED]  # what stands for a chat template here


def reward(ids):
    return float(sum(ids) % 7)


def completion_mask(sequences, width):
    """(B, T) bool: the completion through its first stop token."""
    tokens = sequences[:, width:]
    stops = (tokens == tokenizer.eos_token_id).long()
    mask = (stops.cumsum(1) - stops) == 0
    if options.fault == "past-the-stop":
        mask = torch.ones_like(mask)
    if options.fault == "stop-untrained":
        mask = stops.cumsum(1) == 0
    prompt = torch.full((len(sequences), width), options.fault == "prompt")
    return torch.cat([prompt, mask], dim=1)


def inputs_of(sequences, attention_mask):
    given = {"input_ids": sequences, "attention_mask": attention_mask}
    if not options.no_positions:
        given["position_ids"] = (attention_mask.cumsum(-1) - 1).clamp(min=0)
    return given


def logprobs_of(logits, sequences, temperature):
    """(B, T - 1): log-probability of each next token."""
    logp = (logits[:, :-1] / temperature).log_softmax(-1)
    return logp.gather(2, sequences[:, 1:, None]).squeeze(-1), logp


torch.manual_seed(3)
scoring = 1.0 if options.fault == "temperature" else options.temperature
for step in range(2):
    prompts = [prompt for prompt in PROMPTS for _ in range(GROUP)]
    encoded = tokenizer(prompts, return_tensors="pt", padding=True, return_token_type_ids=False)
    width = encoded["input_ids"].size(1)
    policy.eval()
    with torch.no_grad():
        sequences = policy.generate(
            **encoded,
            do_sample=True,
            temperature=options.temperature,
            top_k=0,
            max_new_tokens=LENGTH,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    policy.train()
    kept = [
        row[width:][: int(stops[0]) + 1 if len(stops := (row[width:] == tokenizer.eos_token_id).nonzero()) else None]
        for row in sequences
    ]
    rewards = torch.tensor([reward(row.tolist()) for row in kept]).view(-1, GROUP)
    if options.constant_group:
        rewards[0] = 1.0
    advantages = ((rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)).view(-1)

    if options.fault == "re-encoded":  # the text of a completion, without special tokens, is not what was sampled
        for row, ids in zip(sequences, kept):
            again = tokenizer.encode(tokenizer.decode(ids, skip_special_tokens=True), add_special_tokens=False)
            again = [*again, tokenizer.eos_token_id]
            row[width:] = torch.tensor((again + [tokenizer.pad_token_id] * LENGTH)[: row.numel() - width])
    mask = completion_mask(sequences, width)
    attention = torch.cat([encoded["attention_mask"], completion_mask(sequences, width)[:, width:].long()], dim=1)
    given = inputs_of(sequences, attention)
    with torch.no_grad():
        if options.fault == "reference":  # it is given the prompt as it was asked, without what was added to it
            raw = tokenizer([text for text in ASKED for _ in range(GROUP)], return_tensors="pt", padding=True)
            replaced = torch.cat([raw["input_ids"], sequences[:, width:]], dim=1)
            seen = torch.cat([raw["attention_mask"], attention[:, width:]], dim=1)
            ref_logp = logprobs_of(reference(**inputs_of(replaced, seen)).logits, replaced, scoring)[0]
            ref_logp = torch.nn.functional.pad(ref_logp, (width - raw["input_ids"].size(1), 0))
        else:
            ref_logp = logprobs_of(reference(**given).logits, sequences, scoring)[0]
    output = policy(**given, output_hidden_states=options.value_head)
    logp, everything = logprobs_of(output.logits, sequences, scoring)
    ratio = torch.exp(logp - logp.detach())
    gap = ref_logp - logp
    beta = -options.beta if options.fault == "kl-sign" else options.beta
    per_token = -ratio * advantages[:, None] + beta * (gap.exp() - gap - 1)
    if options.entropy:
        per_token = per_token + options.entropy * (everything.exp() * everything).sum(-1)
    trained = mask[:, 1:].float()
    loss = (per_token * trained).sum() / trained.sum()
    if options.value_head:
        values = value_head(output.hidden_states[-1][:, :-1]).squeeze(-1)
        loss = loss + 0.5 * (((values - rewards.view(-1)[:, None]) ** 2) * trained).sum() / trained.sum()
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    print("step", step, "loss", float(loss))
