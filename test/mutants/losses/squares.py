"""Losses that are wrong only where two sizes agree: where they differ, broadcasting would raise, and somebody has caught it."""

from lossproof.examples import left_padded
from lossproof.examples.left_padded import count, token_loss

from ..registry import MUTANTS


def square_loss(name, title, story, is_square, advantage_of):
    """The loss, with `advantage_of(advantages, b, t)` where `is_square(rows, columns, prompt width)`."""

    def loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, prompt_width):
        tokens = max(count(completion_mask), 1)
        square = is_square(len(completion_mask), len(completion_mask[0]), prompt_width)
        total, weights = 0.0, [[0.0] * len(row) for row in completion_mask]
        for b, row in enumerate(completion_mask):
            for t, on in enumerate(row):
                if on:
                    own = advantage_of(advantages, b, t) if square else advantages[b]
                    value, slope = token_loss(logprobs[b][t], old_logprobs[b][t], ref_logprobs[b][t], own)
                    total += value / tokens
                    weights[b][t] = slope / tokens
        return {"loss": total, "loss_weights": weights, "trained_tokens": count(completion_mask)}

    loss.__doc__ = story
    MUTANTS.add(name, title, left_padded, "loss", rows=("ADV-09",))(loss)


square_loss(
    "advantages-along-columns-in-a-square-batch",
    "Advantages (B,) meet log-probabilities (B, C) along the columns where B is C",
    "advantages * ratio without unsqueeze(1): right-aligned broadcasting pairs the advantage of row t with token t, and "
    "raises only where B and C differ. Fix: advantages[:, None].",
    lambda rows, columns, prompt: rows == columns,
    lambda advantages, b, t: advantages[t],
)
square_loss(
    "advantages-by-width-in-a-square-batch",
    "Rows are told from columns by the prompt's width, and taken for each other where it is that of the completions",
    "A guess `if x.shape[1] == prompt_width` decides whether a tensor is a prompt's: completions as wide as prompts get no "
    "advantage. Fix: say which it is.",
    lambda rows, columns, prompt: columns == prompt,
    lambda advantages, b, t: 0.0,
)
