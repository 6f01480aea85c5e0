"""Wrong sampling steps: settings that are not applied or not where they should be, and records of something else."""

import math

from lossproof.examples import left_padded, stop_excluded
from lossproof.examples.rollouts.sampler import (
    NEVER,
    banned_next,
    chosen,
    held_back,
    keep_top_k,
    keep_top_p,
    log_probs,
    over,
    processed_rows,
    sampling,
    without,
)

from ..registry import MUTANTS

# What a generation_config.json says where the request says nothing.
DEFAULT_TOP_K = 4


def answered(args, processed, recorded=None):
    """An answer with this distribution, and the right record unless another is given."""
    right = recorded or [log_probs(over(row, args["temperature"])) for row in args["logits"]]
    return {"logprobs": processed, "sampled_logprobs": chosen(right, args["sampled_ids"])}


def settings(args):
    """Banned sequences are banned already."""
    bans = args.get("banned_sequences") or []
    logits = [without(row, banned_next(ids, bans)) for row, ids in zip(args["logits"], args["completion_ids"])]
    names = ("completion_ids", "eos_token_ids", "temperature", "top_k", "top_p", "min_new_tokens")
    return [logits, *[args[name] for name in names]]


@MUTANTS.add(
    "sampler-warps-a-copy", "The nucleus is cut out of a copy", left_padded, "sampling", row="PEN-04"
)
def sampling_copy(**args):
    """logits = warper(ids, logits.clone()) in a helper that does not return it: top_p is in the configuration and in no
    token. Fix: assign what a processor returns."""
    return sampling(**dict(args, top_p=1.0))


@MUTANTS.add(
    "sampler-defaults-stay-on",
    "A truncation that is switched off is taken for one that is not set",
    left_padded,
    "sampling",
    row="PEN-04",
)
def sampling_defaults(**args):
    """top_k = request.top_k or generation_config.top_k: 0 means off, and is false. Every run samples from the model
    card's few tokens. Fix: compare with None."""
    return sampling(**dict(args, top_k=args["top_k"] or DEFAULT_TOP_K))


@MUTANTS.add(
    "sampler-nucleus-without-its-last",
    "The token that fills the nucleus is left out of it",
    left_padded,
    "sampling",
)
def sampling_exclusive(**args):
    """cumsum <= p is what stays, where it should be cumsum - p(token) < p: less than p is kept, and in a certain row
    only what a special case saves. Fix: shift the comparison by one token."""

    def nucleus(row, p):
        if p >= 1:
            return row
        probabilities = [math.exp(value) for value in log_probs(row)]
        order = sorted(range(len(row)), key=lambda id: -probabilities[id])
        kept, mass = {order[0]}, 0.0
        for id in order:
            mass += probabilities[id]
            if mass <= p:
                kept.add(id)
        return [z if id in kept else NEVER for id, z in enumerate(row)]

    logits, generated, stops, temperature, top_k, top_p, least = settings(args)
    rows = [held_back(row, ids, stops, least) for row, ids in zip(logits, generated)]
    rows = [nucleus(keep_top_k(over(row, temperature), top_k), top_p) for row in rows]
    return answered(args, [log_probs(row) for row in rows])


@MUTANTS.add(
    "sampler-not-normalised-again",
    "What is left of a truncated row is not normalised",
    left_padded,
    "sampling",
    row="LP-07",
)
def sampling_open(**args):
    """log_softmax first and the truncation behind it: what is said of the tokens that are left are not the
    probabilities that they were drawn with. Fix: normalise last."""
    processed = processed_rows(*settings(args))
    full = [log_probs(over(row, args["temperature"])) for row in args["logits"]]
    rows = [[f if p > NEVER else NEVER for f, p in zip(*row)] for row in zip(full, processed)]
    return answered(args, rows)


@MUTANTS.add(
    "sampler-holds-back-one-stop",
    "min_new_tokens holds back the first stop token only",
    left_padded,
    "sampling",
    row="EOS-05",
    rows=("LP-17",),
)
def sampling_one_stop(**args):
    """eos_token_id where generation_config has a list: the model ends its turns with the other one. Fix: all of
    them."""
    return sampling(**dict(args, eos_token_ids=args["eos_token_ids"][:1]))


@MUTANTS.add(
    "sampler-one-token-early",
    "Stop tokens are held back one token too few",
    left_padded,
    "sampling",
    row="LP-17",
)
def sampling_early(**args):
    """len(generated) + 1 > min_new_tokens - 1, with the token that is about to be drawn counted twice. What can be
    drawn is not what scoring believes. Fix: count what has been generated."""
    return sampling(**dict(args, min_new_tokens=args["min_new_tokens"] - 1))


@MUTANTS.add(
    "sampler-records-what-is-left",
    "What is recorded is normalised over the truncated vocabulary",
    left_padded,
    "sampling",
    row="LP-07",
    rows=("LP-17",),
)
def sampling_renormalised(**args):
    """The engine answers processed log-probabilities and the scorer takes all tokens into account: every ratio is too
    small by the mass that was kept. Fix: ask for them before truncation, or score over the same tokens."""
    processed = processed_rows(*settings(args))
    return answered(args, processed, processed)


@MUTANTS.add(
    "sampler-records-bare-logits",
    "What is recorded is at temperature 1, whatever was sampled at",
    left_padded,
    "sampling",
    row="LP-08",
)
def sampling_bare(**args):
    """logprobs_mode was left at raw, the default: before the temperature. Scoring divides, and the ratio is off from
    the first step on. Fix: ask for processed ones."""
    return answered(args, processed_rows(*settings(args)), list(map(log_probs, args["logits"])))


@MUTANTS.add(
    "sampler-records-the-likeliest",
    "What is recorded is of the first token of the list, not of the drawn one",
    left_padded,
    "sampling",
    row="LP-09",
)
def sampling_first(**args):
    """next(iter(logprobs.values())): engines list the likeliest tokens first, and the drawn one is somewhere among
    them. The policy looks surer than it was. Fix: look the drawn id up."""
    right = sampling(**args)
    full = [log_probs(over(row, args["temperature"])) for row in args["logits"]]
    return dict(right, sampled_logprobs=[max(row) for row in full])


@MUTANTS.add(
    "sampler-divides-in-place",
    "The temperature is divided out of the very logits that are recorded",
    stop_excluded,
    "sampling",
    row="LP-06",
)
def sampling_in_place(logits, sampled_ids, temperature, top_k):
    """logits.div_(temperature), and the raw log-probabilities are taken behind it: what was to be kept as the model
    said it has been overwritten. Fix: divide into a new tensor, or record first."""
    for row in logits:
        row[:] = over(row, temperature)
    processed = [log_probs(keep_top_k(row, top_k)) for row in logits]
    return {"logprobs": processed, "sampled_logprobs": chosen(map(log_probs, logits), sampled_ids)}


@MUTANTS.add(
    "sampler-threshold-of-the-first-row",
    "All rows of a step are cut at the first row's k-th logit",
    left_padded,
    "sampling",
)
def sampling_one_threshold(**args):
    """torch.topk(logits, k)[0][0, -1] without a dimension for the row: right for a batch of one, which is how it was
    tried out. Fix: one threshold a row."""
    logits, generated, stops, temperature, top_k, top_p, least = settings(args)
    rows = [over(held_back(row, ids, stops, least), temperature) for row, ids in zip(logits, generated)]
    if 0 < top_k < len(rows[0]):
        threshold = sorted(rows[0], reverse=True)[top_k - 1]
        # A row that is left with nothing keeps its best token.
        rows = [[z if z >= min(threshold, max(row)) else NEVER for z in row] for row in rows]
    return answered(args, [log_probs(keep_top_p(row, top_p)) for row in rows])


def sampling_banning(rule):
    """The example's sampler, where `rule` says of what was generated and a sequence whether its last token is banned."""

    def wrong(banned_sequences=(), **args):
        ruled = [
            [[last] for *before, last in banned_sequences if rule(ids, before)] for ids in args["completion_ids"]
        ]
        rows = [
            sampling(
                **dict(
                    args,
                    logits=[args["logits"][b]],
                    completion_ids=[args["completion_ids"][b]],
                    sampled_ids=[args["sampled_ids"][b]],
                ),
                banned_sequences=banned,
            )
            for b, banned in enumerate(ruled)
        ]
        return {name: [row[name][0] for row in rows] for name in rows[0]}

    return wrong


def add_ban(name, title, story, rule):
    wrong = sampling_banning(rule)
    wrong.__doc__ = story
    MUTANTS.add(name, title, left_padded, "sampling", row="PEN-05")(wrong)


add_ban(
    "ban-of-the-last-token-alone",
    "The last token of a banned sequence is banned everywhere",
    "bad_words_ids became a set of ids: 'New York' takes York out of every answer.",
    lambda ids, before: True,
)
add_ban(
    "ban-of-single-tokens-alone",
    "Banned sequences of more than one token are left out",
    "Only what the vocabulary has as one token was handed on.",
    lambda ids, before: not before,
)
add_ban(
    "ban-held-against-what-there-is",
    "A sequence that is longer than what was generated is held against its own end",
    "The comparison goes backwards until either side ends: transformers.js#1278.",
    lambda ids, before: all(a == b for a, b in zip(reversed(ids), reversed(before))),
)
add_ban(
    "ban-held-against-the-start",
    "A banned sequence is held against how the answer begins",
    "ids[: len(before)] for ids[-len(before) :].",
    lambda ids, before: list(ids[: len(before)]) == before,
)
add_ban(
    "ban-in-any-order",
    "A banned sequence is banned as soon as its tokens have been generated, in whatever order",
    "set(before) <= set(ids).",
    lambda ids, before: set(before) <= set(ids),
)


@MUTANTS.add(
    "top-k-of-all-loses-the-last",
    "A top_k as large as the vocabulary drops its least likely token",
    left_padded,
    "sampling",
)
def all_but_one(
    logits,
    completion_ids,
    sampled_ids,
    eos_token_ids,
    temperature,
    top_k=0,
    top_p=1.0,
    min_new_tokens=0,
    banned_sequences=(),
):
    """min(top_k, V - 1), to be an index that is there: what was to switch the filter off bans a token. Fix: min(top_k, V)."""
    most = min(top_k, len(logits[0]) - 1)
    return sampling(
        logits,
        completion_ids,
        sampled_ids,
        eos_token_ids,
        temperature,
        most,
        top_p,
        min_new_tokens,
        banned_sequences,
    )


@MUTANTS.add(
    "sampler-records-bare-logits-when-hot",
    "What is recorded is divided by the temperature only where that is below 1",
    left_padded,
    "sampling",
    row="LP-08",
)
def recorded_when_cold(**args):
    """A guard against a division by 0, max(temperature, 1) / temperature, stands on the wrong side. Fix: divide always."""
    answer = sampling(**args)
    if args["temperature"] <= 1:
        return answer
    return dict(answer, sampled_logprobs=chosen([log_probs(row) for row in args["logits"]], args["sampled_ids"]))


@MUTANTS.add("sampling-temperature-of-a-fifth-at-least", "Temperatures below 0.2 are 0.2", left_padded, "sampling", row="PEN-04")
def temperature_floor(**args):
    """max(temperature, 0.2) keeps a division by 0 away, and an evaluation at 0.1 as well. Fix: 0 is the likeliest token."""
    return sampling(**dict(args, temperature=max(args["temperature"], 0.2)))
