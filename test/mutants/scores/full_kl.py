"""Wrong exact KLs: of the other model, of other positions, at another temperature, over another count."""

import math

from conformance import right_padded
from lossproof.examples import left_padded
from lossproof.examples.scores.full_kls import (
    answer,
    by_predictor,
    full_kl,
    log_softmax,
    over_completions,
    over_predictors,
)

from ..registry import MUTANTS


@MUTANTS.add(
    "full-kl-swapped",
    "The exact KL is that of the reference to the policy",
    left_padded,
    "full_kl",
    row="KL-03",
)
def swapped(logits, ref_logits, completion_mask, prompt_width, temperature):
    """F.kl_div(policy, reference) is KL(reference || policy): its first argument is the one that is not averaged over.
    Fix: swap, or write the sum down."""
    return over_completions(ref_logits, logits, completion_mask, prompt_width, temperature)


@MUTANTS.add(
    "full-kl-of-the-next-token",
    "The exact KL is that of the logits behind each token",
    left_padded,
    "full_kl",
)
def not_shifted(logits, ref_logits, completion_mask, prompt_width, temperature):
    """logits[:, P:] beside a mask that begins at token P: the first decision is held to nothing. Fix:
    logits[:, P - 1 : -1]."""
    behind = [[*rows[1:], rows[-1]] for rows in logits], [[*rows[1:], rows[-1]] for rows in ref_logits]
    return over_completions(*behind, completion_mask, prompt_width, temperature)


@MUTANTS.add(
    "full-kl-over-the-whole-row", "Prompt and padding count in the mean KL", right_padded, "full_kl", row="KL-08"
)
def everywhere(logits, ref_logits, completion_mask, temperature):
    """kl.mean(): prompts are most of a batch. Fix: mean under the mask."""
    values = [kl for row in by_predictor(logits, ref_logits, temperature) for kl in row]
    right = over_predictors(logits, ref_logits, completion_mask, temperature)
    return dict(right, mean_kl=sum(values) / max(len(values), 1))


@MUTANTS.add(
    "full-kl-divided-by-rows",
    "The exact KL is summed over tokens and divided by rows",
    left_padded,
    "full_kl",
    row="LOSS-14",
)
def by_rows(logits, ref_logits, completion_mask, prompt_width, temperature):
    """reduction="batchmean" divides by the first dimension, which is the row: the longer the answers, the more they are
    held. Fix: divide by the trained tokens."""
    right = over_completions(logits, ref_logits, completion_mask, prompt_width, temperature)
    return dict(right, mean_kl=sum(map(sum, right["kl"])) / len(completion_mask))


@MUTANTS.add(
    "full-kl-at-two-temperatures", "Only the policy's logits are divided by the temperature", left_padded, "full_kl"
)
def two_temperatures(logits, ref_logits, completion_mask, prompt_width, temperature):
    """The policy's logits were scaled in place for sampling, the reference's pass has no sampler. Fix: divide both."""
    warmed = [[[z * temperature for z in row] for row in rows] for rows in ref_logits]
    return over_completions(logits, warmed, completion_mask, prompt_width, temperature)


@MUTANTS.add(
    "full-kl-of-impossible-tokens",
    "A token that is impossible makes the exact KL NaN",
    right_padded,
    "full_kl",
    row="NUM-06",
)
def impossible(logits, ref_logits, completion_mask, temperature):
    """(p * (logp - logq)).sum(): with a padded vocabulary that is 0 * (-inf + inf). Fix: leave out p = 0."""

    def naive(row, ref):
        return math.nan if -math.inf in log_softmax(row, temperature) else full_kl(row, ref, temperature)

    rows = [[naive(*pair) for pair in zip(*rows)][:-1] for rows in zip(logits, ref_logits)]
    return answer(rows, completion_mask)


@MUTANTS.add(
    "full-kl-rows-sorted", "Rows of the exact KL come back sorted by length", left_padded, "full_kl", row="PAD-08"
)
def rows_sorted(logits, ref_logits, completion_mask, prompt_width, temperature, attention_mask):
    """The reference's pass was batched by length and its logits put back, what was computed of both was not. Fix: put
    everything back that was moved."""
    whole = [[1] * len(row) for row in completion_mask]
    right = over_completions(logits, ref_logits, whole, prompt_width, temperature)["kl"]
    order = sorted(range(len(right)), key=lambda row: sum(attention_mask[row]))
    return answer([right[row] for row in order], completion_mask)


@MUTANTS.add(
    "full-kl-last-chunk-lost",
    "The exact KL works through the rows in chunks of four, and leaves out the last where it is not full",
    left_padded,
    "full_kl",
    row="KL-08",
)
def last_chunk_lost(logits, ref_logits, completion_mask, prompt_width, temperature):
    """for i in range(B // 4), to bound the memory of two log-softmaxes; batches of fewer than four went another way, and no
    test had more. Fix: range(0, B, 4)."""
    right = over_completions(logits, ref_logits, completion_mask, prompt_width, temperature)["kl"]
    done = len(right) // 4 * 4 or len(right)
    kept = [row if b < done else [0.0] * len(row) for b, row in enumerate(right)]
    return answer(kept, completion_mask)


def one_token_more(logits, ref_logits, completion_mask, prompt_width, temperature):
    """sum / (mask.sum() + 1), to keep an empty batch from dividing by zero. Fix: clamp(min=1)."""
    right = over_completions(logits, ref_logits, completion_mask, prompt_width, temperature)
    tokens = sum(map(sum, completion_mask))
    return {"mean_kl": right["mean_kl"] * tokens / (tokens + 1)}


MUTANTS.add(
    "full-kl-mean-over-one-token-more",
    "The mean of the exact KL divides by the trained tokens plus one, and only the mean is answered",
    left_padded,
    "full_kl",
    rows=("KL-08",),
)(one_token_more)
