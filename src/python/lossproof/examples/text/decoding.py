"""Ids back to text, for op decode."""

from .chat import tokenizer


def decode(ids):
    """Special tokens are kept: what was sampled is shown as it was sampled."""
    return {"text": tokenizer.decode(ids)}


OPS = {"decode": (decode, {"skip_special_tokens": False})}
SEMANTICS = {}
