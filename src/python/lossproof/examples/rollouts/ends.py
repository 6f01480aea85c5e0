"""Where completions end: whether a length limit cut them off, and what belongs to the tokens that are kept."""


def cut_off(ids, eos_token_ids):
    """1 where sampling ended by its length and not by a stop token."""
    return int(not any(id in eos_token_ids for id in ids))


def with_logprobs(completions, sampling_logprobs):
    """The answer of op extract: the sampler's log-probabilities are cut where its ids are."""
    answer = {"completion_ids": completions}
    if sampling_logprobs is not None:
        rows = zip(completions, sampling_logprobs)
        answer["logprobs"] = [logprobs[: len(ids)] for ids, logprobs in rows]
    return answer
