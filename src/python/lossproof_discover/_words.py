"""Names as words, and what words say of an argument. Hints only: they order what is tried, and settle what behaviour leaves open."""

import re

_SPLIT = re.compile(r"[^a-z0-9]+")
# Spellings of one word.
_SAME = {
    "logps": "logprobs", "logp": "logprobs", "logprob": "logprobs", "lp": "logprobs", "lps": "logprobs",
    "reference": "ref", "base": "ref", "references": "ref", "teacher": "ref",
    "behavior": "old", "behaviour": "old", "rollout": "old", "prev": "old", "previous": "old", "sampled": "old",
    "current": "new", "policy": "new", "actor": "new", "pi": "new",
    "adv": "advantages", "advs": "advantages", "advantage": "advantages", "advan": "advantages",
    "reward": "rewards", "score": "scores", "value": "values", "vals": "values", "vs": "values",
    "masks": "mask", "logit": "logits", "label": "labels", "targets": "labels", "target": "labels",
    "id": "ids", "index": "ids", "indices": "ids",
    "group": "groups", "uid": "groups", "uids": "groups", "temp": "temperature", "tau": "temperature",
    "completion": "completions", "response": "completions", "responses": "completions", "answer": "completions",
    "prompt": "prompts", "chosen": "chosen", "accepted": "chosen", "preferred": "chosen", "winner": "chosen",
    "rejected": "rejected", "reject": "rejected", "loser": "rejected", "dispreferred": "rejected",
    "padding": "pad", "stop": "eos", "eot": "eos", "lambda": "lam", "lambd": "lam", "lamda": "lam", "lmbda": "lam",
    "discount": "gamma", "length": "lengths", "lens": "lengths", "len": "lengths", "seqlen": "lengths", "maximum": "max", "coeff": "coef", "coefficient": "coef",
}  # fmt: skip
_TOGETHER = (("log_probs", "logprobs"), ("log_prob", "logprobs"), ("logprob", "logprobs"), ("log_p", "logprobs"))


def snake(name):
    """`DPOLoss` is `dpo_loss`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def words_of(name):
    """`old_log_prob` is {old, logprobs}."""
    low = snake(name)
    for spelt, meant in _TOGETHER:
        if spelt in low:
            low = re.sub(re.escape(spelt) + r"s?", "_%s_" % meant, low)
            break
    return {_SAME.get(word, word) for word in _SPLIT.split(low) if word}


def agreement(name, hints, others):
    """How much `name` speaks for what has these hints, against what has others: above 0 for, below against, 0 silent.

    hints: words that name it, with `!` those that it cannot be without. others: words that name something else of the op."""
    said = words_of(name)
    bare = {hint.lstrip("!") for hint in hints}
    lacking = sum(1 for hint in hints if hint.startswith("!") and hint[1:] not in said)
    if name.lower() in bare and not lacking:
        return 4
    return 2 * len(said & bare) - 3 * len(said & (set(others) - bare)) - 2 * lacking * bool(said & bare)
