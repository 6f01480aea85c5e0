"""Loops that sample, in the ways that people write them, over a model with logits at random: what is recorded of them against
what they did. A JSON line a case, read by loops.test.ts. Needs torch alone."""

import torch
from torch import nn

from lossproof_trace.sampling import _decoding, _fits
from watching import SESSION, V, case, run

_decoding.install(SESSION)
T, B, LENGTH = 0.8, 3, 6


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(V, 16), nn.Linear(16, V)

    def forward(self, ids, cache=None):
        return self.out(self.table(ids).cumsum(1))


def draw(logits):
    return torch.multinomial((logits / T).softmax(-1), 1)


def recorded(ids, start):
    """What the records say, against rows `ids` whose completions begin at `start`."""
    SESSION.decoding.finish()
    out = []
    for record in SESSION.of("generate"):
        width = record["prompt_width"]
        out += [
            (row[:width][mask.bool()].tolist(), row[width : width + length].tolist())
            for row, mask, length in zip(record["sequences"], record["attention_mask"], record["lengths"])
        ]
    wanted = [(row[:start], row[start:]) for row in ids.tolist()]
    return {
        "same": sorted(map(str, out)) == sorted(map(str, wanted)),
        "settings": [(record["do_sample"], record["temperature"], record["settings"]) for record in SESSION.of("generate")],
        "scored": len(SESSION.of("forward")),
    }


def prompts():
    return torch.randint(1, V, (B, 4))


@case
def whole_prefix():
    model, ids = Net(), prompts()
    with torch.no_grad():
        for _ in range(LENGTH):
            ids = torch.cat([ids, draw(model(ids)[:, -1])], 1)
    return recorded(ids, 4)


@case
def prefix_cut_to_what_the_model_takes():
    model, ids = Net(), prompts()
    with torch.no_grad():
        for _ in range(LENGTH):
            ids = torch.cat([ids, draw(model(ids[:, -5:])[:, -1])], 1)
    return recorded(ids, 4)


@case
def new_columns_with_a_cache():
    model, ids = Net(), prompts()
    with torch.inference_mode():
        fed = ids
        for _ in range(LENGTH):
            fed = draw(model(fed, cache=object())[:, -1])
            ids = torch.cat([ids, fed], 1)
    return recorded(ids, 4)


@case
def a_buffer_that_is_written_to():
    model = Net()
    ids = torch.cat([prompts(), torch.zeros(B, LENGTH, dtype=torch.long)], 1)
    with torch.no_grad():
        for at in range(4, 4 + LENGTH):
            ids = ids.clone()
            ids[:, at] = draw(model(ids)[:, at - 1])[:, 0]
    return recorded(ids, 4)


@case
def several_of_one_prompt():
    model, prompt = Net(), prompts()[:1]
    with torch.no_grad():
        first = torch.multinomial((model(prompt)[0, -1] / T).softmax(-1), B, replacement=True)
        ids = torch.cat([prompt.expand(B, -1), first[:, None]], 1)
        for _ in range(LENGTH - 1):
            ids = torch.cat([ids, draw(model(ids)[:, -1])], 1)
    return recorded(ids, 4)


@case
def scored_afterwards():
    model, ids = Net(), prompts()
    with torch.no_grad():
        for _ in range(LENGTH):
            ids = torch.cat([ids, draw(model(ids)[:, -1])], 1)
        model(ids)
    return recorded(ids, 4)


@case
def two_one_after_the_other():
    model, all_ids = Net(), []
    with torch.no_grad():
        for _ in range(2):
            ids = prompts()
            for _ in range(LENGTH):
                ids = torch.cat([ids, draw(model(ids)[:, -1])], 1)
            all_ids.append(ids)
    return recorded(torch.cat(all_ids), 4)


@case
def with_gradients_on():
    model, ids = Net().eval(), prompts()
    for _ in range(LENGTH):
        ids = torch.cat([ids, draw(model(ids)[:, -1])], 1)
    return recorded(ids, 4)


@case
def a_token_that_is_never_drawn():
    model, ids = Net(), prompts()
    with torch.no_grad():
        for _ in range(LENGTH):
            logits = model(ids)[:, -1]
            logits[:, 7] = -float("inf")
            ids = torch.cat([ids, draw(logits)], 1)
    return recorded(ids, 4)


@case
def rows_that_have_stopped_and_go_on():
    """Stops are known by what rows are filled with."""
    model, ids, stop = Net(), prompts(), 5
    with torch.no_grad():
        model.out.bias[stop] += 4
        done = torch.zeros(B, dtype=torch.bool)
        for _ in range(12):
            tokens = torch.where(done, stop, draw(model(ids)[:, -1])[:, 0])
            ids, done = torch.cat([ids, tokens[:, None]], 1), done | (tokens == stop)
    SESSION.decoding.finish()
    (record,) = SESSION.of("generate")
    wanted = [row[4:].tolist().index(stop) + 1 if stop in row[4:] else 12 for row in ids]
    return {"lengths": record["lengths"] == wanted or [record["lengths"], wanted], "stops": record["eos_token_ids"]}


@case
def shares_and_numbers_of_likely_tokens():
    """What the draws of one loop leave open is not told."""

    def told(cut, *logits):
        settings = _fits.Settings()
        for z in logits:
            values, order = z.softmax(-1).sort(descending=True)
            kept = torch.zeros_like(z).scatter(-1, order, (cut(values) * values))
            settings.add(_fits.fitted(z, kept / kept.sum(-1, keepdim=True), order[:, 0]), z.shape[-1])
        return settings.others()

    def share(p):
        return lambda values: values.cumsum(-1) - values < p

    def number(k):
        return lambda values: torch.arange(values.shape[-1]) < k

    even, steep = torch.randn(4, 400), torch.tensor([[0.5, 0.3, 0.15, 0.05, *[1e-4] * 20], [0.4, 0.3, 0.2, 0.1, *[1e-4] * 20]]).log()
    alike = torch.randn(1, 400).expand(4, 400)
    return {
        "share": told(share(0.8), even),
        "too few to tell which": told(share(0.75), steep),
        "number": told(number(8), even, torch.randn(4, 400)),
        "of one distribution": told(number(8), alike),
    }


def processed(move):
    """Drawn from logits that `move`(logits, ids) has changed: what is told of the temperature, and of what moved."""
    model, ids = Net(), prompts()
    with torch.no_grad():
        for _ in range(LENGTH):
            logits = model(ids)[:, -1]
            ids = torch.cat([ids, draw(move(logits, ids[:, 4:]))], 1)
    SESSION.decoding.finish()
    record = SESSION.of("generate")[-1]
    return [record["temperature"], sorted(record["settings"])]


def seen_so_far(ids):
    return torch.zeros(B, V).scatter(1, ids, 1.0)


@case
def logits_processors():
    many = torch.randn(V)
    return {
        "presence": processed(lambda z, ids: z - 0.3 * seen_so_far(ids)),
        "repetition": processed(lambda z, ids: torch.where(seen_so_far(ids) > 0, torch.where(z > 0, z / 1.3, z * 1.3), z)),
        "bias": processed(lambda z, ids: z + 2.0 * (torch.arange(V) < 5)),
        "none": processed(lambda z, ids: z),
        "all of them": processed(lambda z, ids: z + many),
    }


@case
def no_loop_at_all():
    model = Net()
    with torch.no_grad():
        for _ in range(4):
            logits = model(torch.randint(1, V, (B, 8)))
            (logits.argmax(-1) == 3).float().mean()
    SESSION.decoding.finish()
    return {"generated": len(SESSION.of("generate")), "scored": len(SESSION.of("forward"))}


if __name__ == "__main__":
    run()
