"""GRPO with a sampling loop of its own, one micro-batch per prompt. `--fault` plants one mistake."""

import argparse
import copy

import nets
import torch

MEANS = ["step", "rows", "batch"]
FAULTS = ["means-of-means", "sum-of-means", "wrong-axis", "no-baseline", "begins-early", "begins-late", "ends-early", "cut-row"]
FAULTS += ["other-rows", "other-columns", "old-of-other-rows", "old-of-other-columns", "old-shifted-ahead"]
parser = argparse.ArgumentParser()
parser.add_argument("--mean", default="step", choices=MEANS, help="what the loss is a mean over")
parser.add_argument("--temperature", type=float, default=0.7)
parser.add_argument("--scored-at", type=float, help="another temperature than that of the samples")
parser.add_argument("--presence", type=float, default=0.0, help="a penalty on tokens that were sampled before")
parser.add_argument("--from", dest="begin", type=int, default=1, help="the token that the penalty begins with")
parser.add_argument("--vocabulary", type=int, default=64, help="of few tokens a penalty moves most")
parser.add_argument("--prompt-too", action="store_true", help="the penalty counts the prompt")
parser.add_argument("--repetition", type=float, default=0.0, help="logits of tokens that stand in the row are divided by this")
parser.add_argument("--bias", type=float, default=0.0, help="on the stop token and a few others")
parser.add_argument("--without", choices=["prompt", "reward", "completion"], help="what has no part in the loss")
parser.add_argument("--squashed", action="store_true", help="logits are bent before each draw")
parser.add_argument("--beta", type=float, default=0.0)
parser.add_argument("--clip", type=float, help="ratios to log-probabilities from before the step, clipped")
parser.add_argument("--apart", action="store_true", help="the reference is another model")
parser.add_argument("--mask-cut", action="store_true", help="completions without an end are left out")
parser.add_argument("--stops", type=float, default=2.0, help="how likely the stop token is made")
parser.add_argument("--unscaled", action="store_true", help="advantages are not divided by their deviation")
parser.add_argument("--fault", choices=FAULTS)
options = parser.parse_args()

VOCABULARY, STOP, PROMPTS, GROUP, LENGTH = options.vocabulary, 1, 4, 4, 10
torch.manual_seed(0)
model = nets.GPT(VOCABULARY)
model.lm_head = torch.nn.Linear(nets.WIDTH, VOCABULARY)
torch.nn.init.normal_(model.lm_head.weight, std=0.5)
with torch.no_grad():
    model.lm_head.bias[STOP] += options.stops
reference = copy.deepcopy(model).requires_grad_(False)
if options.apart:
    torch.nn.init.normal_(reference.lm_head.weight, std=0.6)
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
scored_at = options.scored_at or options.temperature


def sampled(prompt):
    """(GROUP, T) and whether each token is of a completion, up to its stop token."""
    ids = torch.tensor([prompt] * GROUP)
    done = torch.zeros(GROUP, dtype=torch.bool)
    for at in range(LENGTH):
        with torch.no_grad():
            logits = model(ids)[:, -1].clone()
        if options.squashed:
            logits = 2 * torch.tanh(logits)
        logits[:, [STOP, 5, 6]] += options.bias
        for row in range(GROUP):
            if options.presence and at >= options.begin:
                logits[row, ids[row, 0 if options.prompt_too else len(prompt) :].unique()] -= options.presence
            if options.repetition:
                seen = ids[row].unique()
                logits[row, seen] = torch.where(logits[row, seen] > 0, logits[row, seen] / options.repetition, logits[row, seen] * options.repetition)
        drawn = torch.multinomial((logits / options.temperature).softmax(-1), 1)[:, 0]
        drawn = torch.where(done, torch.zeros_like(drawn), drawn)
        ids = torch.cat([ids, drawn[:, None]], 1)
        done |= drawn == STOP
        if done.all():
            break
    stops = (ids[:, len(prompt) :] == STOP).long()
    mask = torch.zeros(ids.shape)
    mask[:, len(prompt) :] = ((stops.cumsum(1) - stops) == 0).float()
    if options.fault == "begins-early":
        mask[:, len(prompt) - 1] = 1
    elif options.fault == "begins-late":
        mask[:, len(prompt)] = 0
    elif options.fault == "ends-early":
        mask[:, :-1] = mask[:, :-1] * mask[:, 1:]
        mask[:, -1] = 0
    elif options.fault == "cut-row":
        # One column too few: of what came to the limit, the last token.
        ids, mask = ids[:, :-1], mask[:, :-1]
    if options.without == "completion":
        mask[0] = 0
    if options.mask_cut:
        mask *= stops.sum(1, keepdim=True).clamp(max=1)
    return ids, mask


def advantages_of(rewards):
    """rewards (PROMPTS, GROUP)."""
    axis = 0 if options.fault == "wrong-axis" else 1
    centred = rewards if options.fault == "no-baseline" else rewards - rewards.mean(axis, keepdim=True)
    return centred if options.unscaled else centred / (rewards.std(axis, keepdim=True) + 1e-4)


def logprobs_of(net, ids):
    return (net(ids)[:, :-1] / scored_at).log_softmax(-1).gather(2, ids[:, 1:, None]).squeeze(-1)


for step in range(2):
    batches = [sampled(torch.randint(3, VOCABULARY, (4 + at % 2,)).tolist()) for at in range(PROMPTS)]
    rewards = torch.stack([(ids * mask.long()).sum(1) % 7 for ids, mask in batches]).float()
    if options.without == "reward":
        rewards[0] = 1.0
    advantages = advantages_of((rewards > 3).float() if options.unscaled else rewards)
    tokens = sum(mask.sum() for _, mask in batches)
    for (ids, mask), advantage in list(zip(batches, advantages))[options.without == "prompt" :]:
        logp, mask = logprobs_of(model, ids), mask[:, 1:]
        per_token = -torch.exp(logp - logp.detach()) * advantage[:, None]
        if options.clip:
            with torch.no_grad():
                old = logprobs_of(model, ids)
            if options.fault == "old-of-other-rows":
                old = old.roll(1, 0)
            elif options.fault == "old-of-other-columns":
                old = old.roll(1, 1)
            elif options.fault == "old-shifted-ahead":
                old = old.roll(-1, 1)
            ratio = torch.exp(logp - old)
            clipped = ratio.clamp(1 - options.clip, 1 + options.clip)
            per_token = -torch.min(ratio * advantage[:, None], clipped * advantage[:, None])
        if options.beta:
            with torch.no_grad():
                gap = logprobs_of(reference, torch.cat([ids, ids[:3]]))[:GROUP]
            if options.fault == "other-rows":
                gap = gap.roll(1, 0)
            elif options.fault == "other-columns":
                gap = gap.roll(1, 1)
            gap = gap - logp
            per_token = per_token + options.beta * (gap.exp() - gap - 1)
        summed = (per_token * mask).sum()
        if options.fault == "sum-of-means":
            loss = summed / mask.sum()
        elif options.fault == "means-of-means" or options.mean == "batch":
            loss = summed / mask.sum() / PROMPTS
        elif options.mean == "rows":
            loss = ((per_token * mask).sum(1) / mask.sum(1).clamp(min=1)).mean() / PROMPTS
        else:
            loss = summed / tokens
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1e6)
    optimiser.step()
    optimiser.zero_grad()
    print("step", step, "loss", float(loss))
