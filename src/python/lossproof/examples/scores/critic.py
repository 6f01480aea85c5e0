"""What a critic and a reward model say, for ops values and reward_model."""

from ..lists import pad_right
from ..text.chat import STOP_ID
from .toy_model import reward_rows, value_rows


def values(prompt_ids, completion_ids):
    """V(s_t) of each completion token: what the critic expects when that token has not been sampled yet. The sampling
    temperature has no part in it."""
    rows = value_rows(*pad_right(whole(prompt_ids, completion_ids), STOP_ID))
    return {"values": [row[len(p) : len(p) + len(c)] for row, p, c in zip(rows, prompt_ids, completion_ids)]}


def reward_model(prompt_ids, completion_ids):
    """One score per row, read at its last real token."""
    return {"scores": reward_rows(*pad_right(whole(prompt_ids, completion_ids), STOP_ID))}


def whole(prompt_ids, completion_ids):
    return [prompt + completion for prompt, completion in zip(prompt_ids, completion_ids)]


OPS = {"values": (values, {"temperature": True}), "reward_model": reward_model}
SEMANTICS = {}
