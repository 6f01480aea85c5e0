"""Conversations as one batch to train on, padded on either side, with whatever id."""

from ..lists import pad_left, pad_right, positions
from .chat import IGNORED, PAD_ID, chat_ids, chat_labels


def sft_batch(conversations, padding_side="right", pad_token_id=PAD_ID):
    """Labels are made before anything is padded, so that neither the side nor the id of the padding can matter."""
    pad = pad_left if padding_side == "left" else pad_right
    ids, attention_mask = pad([chat_ids(messages, False) for messages in conversations], pad_token_id)
    labels, _ = pad([chat_labels(messages, False) for messages in conversations], IGNORED)
    return {
        "input_ids": ids,
        "attention_mask": attention_mask,
        "labels": labels,
        "position_ids": [positions(row) for row in attention_mask],
    }


OPS = {"sft_batch": (sft_batch, {"padding_side": ["left", "right"], "pad_token_id": True, "tools": True, "message_flag": "train"})}
SEMANTICS = {}
