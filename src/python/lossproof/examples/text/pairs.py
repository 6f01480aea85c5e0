"""Preference pairs of conversations, as the rows that a loss on pairs is computed of."""

from ..rows.preference import preference
from .chat import PAD_ID, chat_ids


def answer_ids(prompt, text):
    """What stands behind the prompt in the whole conversation."""
    return chat_ids([*prompt, {"role": "assistant", "content": text}], False)[len(chat_ids(prompt, True)) :]


def preference_batch(prompts, chosen, rejected):
    """The prompt is known by its own length, never by how far the answers agree."""
    halves = [[answer_ids(*row) for row in zip(prompts, texts)] for texts in (chosen, rejected)]
    return preference([chat_ids(prompt, True) for prompt in prompts], *halves, PAD_ID)


OPS = {"preference_batch": (preference_batch, {"tools": True})}
SEMANTICS = {}
