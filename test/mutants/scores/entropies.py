"""Wrong entropies: over other positions, with another sign, spoilt by what is masked."""

import math

from conformance import right_padded
from lossproof.examples import left_padded
from lossproof.examples.scores.entropies import answer, by_token, entropy, over_completions, over_predictors

from ..registry import MUTANTS


@MUTANTS.add(
    "entropy-of-the-next-token",
    "Entropies are those of the logits behind each token",
    left_padded,
    "entropy",
    row="PPO-08",
)
def entropy_not_shifted(logits, completion_mask, prompt_width):
    """logits[:, P:] beside a mask that begins at token P: the first decision is left out, and what comes behind the
    stop token is counted. Fix: logits[:, P - 1 : -1]."""
    return answer([[entropy(row) for row in rows[prompt_width:]] for rows in logits], completion_mask)


@MUTANTS.add(
    "entropy-over-the-whole-row",
    "The mean entropy is over prompt and padding, too",
    left_padded,
    "entropy",
    row="PPO-08",
)
def entropy_everywhere(logits, completion_mask, prompt_width):
    """entropy.mean(): prompts are most of a batch, and the coefficient is tuned to how predictable the questions are.
    Fix: mean under the mask."""
    right = over_completions(logits, completion_mask, prompt_width)
    values = [value for rows in logits for value in by_token(rows)[1:]]
    return dict(right, mean_entropy=sum(values) / len(values))


@MUTANTS.add(
    "entropy-divided-by-columns",
    "Entropies are summed under the mask and divided by all columns",
    right_padded,
    "entropy",
    row="PPO-08",
)
def entropy_by_columns(logits, completion_mask):
    """(entropy * mask).mean(): the longer the longest answer, the less entropy. Fix: divide by the mask's sum."""
    right = over_predictors(logits, completion_mask)
    cells = [value for row in right["entropy"] for value in row]
    return dict(right, mean_entropy=sum(cells) / max(len(cells), 1))


@MUTANTS.add("entropy-without-its-minus", "Entropy is sum p log p", left_padded, "entropy")
def entropy_negative(logits, completion_mask, prompt_width):
    """(p * log p).sum(-1), negated by the caller in one of two places: a bonus on it makes the policy certain. Fix: the
    minus belongs to the definition."""
    right = over_completions(logits, completion_mask, prompt_width)
    rows = [[-value for value in row] for row in right["entropy"]]
    return {"entropy": rows, "mean_entropy": -right["mean_entropy"]}


@MUTANTS.add(
    "entropy-times-the-mask",
    "NaN at padding survives the mask",
    right_padded,
    "entropy",
    row="NUM-02",
)
def entropy_times_mask(logits, completion_mask):
    """entropy * mask, and 0 * NaN is NaN: logits that were never computed end the run. Fix: where(mask, entropy, 0)."""
    rows = [[h * on for h, on in zip(by_token(each)[1:], row)] for each, row in zip(logits, completion_mask)]
    return {"entropy": rows, "mean_entropy": sum(map(sum, rows)) / max(sum(map(sum, completion_mask)), 1)}


@MUTANTS.add(
    "entropy-of-impossible-tokens",
    "A token that is impossible makes the entropy NaN",
    right_padded,
    "entropy",
    row="NUM-06",
)
def entropy_impossible(logits, completion_mask):
    """-(p * logp).sum(): 0 * -inf is NaN, with the first banned token or padded vocabulary. Fix: leave out p = 0, or
    take log-sum-exp minus the mean logit over finite logits."""

    def naive(row):
        return math.nan if -math.inf in row else entropy(row)

    return answer([[naive(row) for row in rows[:-1]] for rows in logits], completion_mask)


@MUTANTS.add(
    "entropy-rows-sorted",
    "Rows are sorted by length for the entropy, and come back so",
    left_padded,
    "entropy",
    row="PAD-08",
)
def entropy_sorted(logits, completion_mask, prompt_width, attention_mask):
    """Micro-batches of like length were put back in order for the log-probabilities and not for the entropies. Fix:
    put everything back that was moved."""
    right = over_completions(logits, [[1] * len(row) for row in completion_mask], prompt_width)["entropy"]
    order = sorted(range(len(right)), key=lambda row: sum(attention_mask[row]))
    return answer([right[row] for row in order], completion_mask)


@MUTANTS.add(
    "logits-capped-for-exp",
    "Logits are capped at 88 before exp",
    left_padded,
    "entropy",
    row="NUM-05",
)
def entropy_capped(input_ids, logits, completion_mask, prompt_width):
    """exp overflows from 88 on in float32, so logits are clamped instead of shifted: two tokens beyond it look alike.
    Fix: subtract the maximum."""
    capped = [[[min(z, 88.0) for z in row] for row in rows] for rows in logits]
    return left_padded.OPS["entropy"](capped, completion_mask, prompt_width)


def one_token_more(logits, completion_mask, prompt_width):
    """sum / (mask.sum() + 1), to keep an empty batch from dividing by zero. Fix: clamp(min=1)."""
    right = over_completions(logits, completion_mask, prompt_width)
    tokens = sum(map(sum, completion_mask))
    return {"mean_entropy": right["mean_entropy"] * tokens / (tokens + 1)}


MUTANTS.add(
    "entropy-mean-over-one-token-more",
    "The mean entropy divides by the trained tokens plus one, and only the mean is answered",
    left_padded,
    "entropy",
    rows=("PPO-08",),
)(one_token_more)


@MUTANTS.add(
    "entropy-of-the-likeliest",
    "The entropy is that of the hundred likeliest tokens",
    left_padded,
    "entropy",
    rows=("PPO-08",),
)
def likeliest(logits, completion_mask, prompt_width):
    """The engine's top log-probabilities were at hand, and were normalised again: a policy that has not made up its mind
    looks as if it had. Fix: all logits."""
    kept = [[sorted(row, reverse=True)[:100] for row in rows] for rows in logits]
    return over_completions(kept, completion_mask, prompt_width)
