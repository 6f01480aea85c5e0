"""Samplers as people write them: each takes a model and a left-padded batch, and returns prompt and completion, padded."""

import torch

TEMPERATURE, TOP_P, TOP_K = 0.7, 0.8, 8


def nucleus(logits):
    """The ids of a sorted distribution, cut at a share of it."""
    probs, ids = torch.sort(torch.softmax(logits / TEMPERATURE, -1), dim=-1, descending=True)
    probs[probs.cumsum(-1) - probs > TOP_P] = 0.0
    return ids.gather(-1, torch.multinomial(probs / probs.sum(-1, keepdim=True), 1))[:, 0]


def likeliest(logits):
    values, ids = torch.topk(logits, TOP_K, dim=-1)
    return ids.gather(-1, torch.multinomial(torch.softmax(values / TEMPERATURE, -1), 1))[:, 0]


def categorical(logits):
    return torch.distributions.Categorical(logits=logits / TEMPERATURE).sample()


def greedy(logits):
    return logits.argmax(-1)


def gumbel(logits):
    noise = -torch.log(-torch.log(torch.rand_like(logits)))
    return (logits / TEMPERATURE + noise).argmax(-1)


def exponential(logits):
    probs = torch.softmax(logits / TEMPERATURE, -1)
    return torch.argmax(probs / torch.empty_like(probs).exponential_(1), dim=-1)


def elsewhere(logits):
    """By another library."""
    import numpy

    draw = numpy.random.default_rng(int(logits.abs().sum() * 1000))
    probs = torch.softmax(logits.double() / TEMPERATURE, -1).cpu().numpy()
    return torch.tensor([draw.choice(len(row), p=row) for row in probs], device=logits.device)


def grown(predict, ids, draw, length, stop, pad):
    """The whole prefix each time; rows that have stopped are filled up."""
    done = torch.zeros(len(ids), dtype=torch.bool)
    for _ in range(length):
        tokens = torch.where(done, pad, draw(predict(ids)[:, -1]))
        ids, done = torch.cat([ids, tokens[:, None]], dim=1), done | (tokens == stop)
        if done.all():
            break
    return ids


def ragged(model, prompts, draw, length, stop, pad):
    """From the shortest prompt on, one column at a time; where a longer prompt has a token, that is taken."""
    most = max(map(len, prompts)) + length
    ids = torch.full((len(prompts), most), pad)
    for row, prompt in zip(ids, prompts):
        row[: len(prompt)] = torch.tensor(prompt)
    given = torch.arange(most) < torch.tensor([len(prompt) for prompt in prompts])[:, None]
    done, before = torch.zeros(len(ids), dtype=torch.bool), 0
    for at in range(min(map(len, prompts)), most):
        tokens = draw(model.inference(ids[:, before:at], before)[:, -1])
        tokens = torch.where(given[:, at], ids[:, at], torch.where(done, pad, tokens))
        ids[:, at], before = tokens, at
        done = done | (~given[:, at] & (tokens == stop))
        if done.all():
            break
    return ids[:, : at + 1]


def leaving(model, prompt, copies, draw, length, stop, pad):
    """One prompt, remembered once and gone on with several times; what has stopped leaves the batch."""
    rows, active, logits = [list(prompt) for _ in range(copies)], list(range(copies)), model.inference(torch.tensor([prompt]), 0)
    logits, at = logits[:, -1].expand(copies, -1), len(prompt)
    while active and len(rows[active[0]]) < len(prompt) + length:
        tokens = draw(logits)
        for row, token in zip(active, tokens.tolist()):
            rows[row].append(token)
        stays = tokens != stop
        active = [row for row, stay in zip(active, stays.tolist()) if stay]
        if not active or len(rows[active[0]]) == len(prompt) + length:
            break
        for block in model.blocks:
            block.past = tuple(each.expand(len(stays), -1, -1, -1)[stays] for each in block.past)
        logits, at = model.inference(tokens[stays][:, None], at)[:, -1], at + 1
    return torch.tensor([row + [pad] * (len(prompt) + length - len(row)) for row in rows])
