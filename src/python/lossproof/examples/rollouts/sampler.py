"""One step of sampling, for op sampling: the distribution that the next token is drawn from, and what is recorded of
the token that was drawn. Stop tokens are held back first, and what completes a banned sequence, then temperature, top-k and top-p (Holtzman et al. 2020), in
the order of transformers and vLLM."""

import math

NEVER = -math.inf


def sampling(
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
    """Recorded is the log-probability at the temperature, over the whole vocabulary: what scoring computes, too."""
    logits_left = [without(row, banned_next(ids, banned_sequences)) for row, ids in zip(logits, completion_ids)]
    processed = processed_rows(
        logits_left, completion_ids, eos_token_ids, temperature, top_k, top_p, min_new_tokens
    )
    recorded = [log_probs(over(row, temperature))[id] for row, id in zip(logits, sampled_ids)]
    return {"logprobs": processed, "sampled_logprobs": recorded}


def sampling_processed(logits, completion_ids, sampled_ids, temperature):
    """Temperature only; recorded is the distribution that was sampled from."""
    processed = [log_probs(over(row, temperature)) for row in logits]
    return {"logprobs": processed, "sampled_logprobs": chosen(processed, sampled_ids)}


def sampling_raw(logits, sampled_ids, temperature, top_k):
    """Recorded is what the model itself says, before temperature and top-k."""
    processed = [log_probs(keep_top_k(over(row, temperature), top_k)) for row in logits]
    return {"logprobs": processed, "sampled_logprobs": chosen(map(log_probs, logits), sampled_ids)}


def processed_rows(logits, completion_ids, eos_token_ids, temperature, top_k, top_p, min_new_tokens):
    out = []
    for row, generated in zip(logits, completion_ids):
        row = held_back(row, generated, eos_token_ids, min_new_tokens)
        row = keep_top_k(over(row, temperature), top_k)
        out.append(log_probs(keep_top_p(row, top_p)))
    return out


def chosen(rows, ids):
    return [row[id] for row, id in zip(rows, ids)]


def over(logits, temperature):
    return [z / temperature for z in logits]


def held_back(logits, generated, eos_token_ids, min_new_tokens):
    """No stop token, whichever, before so many tokens have been generated."""
    if len(generated) >= min_new_tokens:
        return list(logits)
    return without(logits, eos_token_ids)


def banned_next(generated, banned_sequences):
    """The last ids of those sequences of which all others were just generated."""
    return [
        last for *before, last in banned_sequences if not before or list(generated[-len(before) :]) == before
    ]


def without(logits, ids):
    return [NEVER if id in ids else z for id, z in enumerate(logits)]


def keep_top_k(logits, k):
    if not 0 < k < len(logits):
        return list(logits)
    least = sorted(logits, reverse=True)[k - 1]
    return [z if z >= least else NEVER for z in logits]


def keep_top_p(logits, p):
    """The fewest most likely tokens that together have probability p; the one that reaches it is kept."""
    if p >= 1:
        return list(logits)
    probabilities = [math.exp(value) for value in log_probs(logits)]
    kept, mass = set(), 0.0
    for id in sorted(range(len(logits)), key=lambda id: -probabilities[id]):
        kept.add(id)
        mass += probabilities[id]
        if mass >= p:
            break
    return [z if id in kept else NEVER for id, z in enumerate(logits)]


def log_probs(logits):
    top = max(logits)
    log_sum = math.log(sum(math.exp(z - top) for z in logits))
    return [z - top - log_sum for z in logits]


OPS = {"sampling": (sampling, {"processors": ["temperature", "top_k", "top_p", "min_new_tokens", "banned_sequences"]})}
SEMANTICS = {"sampling_logprobs": "temperature"}
