"""Conversations with images as one batch: a processor in plain Python. An image is cut into patches, and each patch is one
placeholder in the text."""

from ..lists import pad_left, pad_right
from ..text.chat import BOS_ID, HEADER, HEADER_END, IGNORED, PAD_ID, STOP, tokenizer

# As in Llama 3.2, an id behind those of the tokenizer: no text has it.
IMAGE_ID = tokenizer.vocab_size
PATCH = 28


def patches(image):
    """How many patches an image has: those of its size rounded up."""
    return -(-image["width"] // PATCH) * -(-image["height"] // PATCH)


def pixel_values(image):
    """One row of normalised red, green and blue for each patch."""
    return [[value / 127.5 - 1 for value in image["color"]] for _ in range(patches(image))]


def row_of(messages):
    """(ids, labels, images) of one conversation, in the order in which it is read. Answers are trained."""
    ids, labels, images = [BOS_ID], [IGNORED], []

    def say(text, trained=False):
        more = tokenizer.encode(text)
        ids.extend(more)
        labels.extend(more if trained else [IGNORED] * len(more))

    for message in messages:
        say(HEADER + message["role"] + HEADER_END)
        for part in message["content"]:
            if part["type"] == "image":
                images.append(pixel_values(part))
                ids.extend([IMAGE_ID] * patches(part))
                labels.extend([IGNORED] * patches(part))
            else:
                say(part["text"], message["role"] == "assistant")
        say(STOP, message["role"] == "assistant")
    return ids, labels, images


def cut(row, max_length):
    """The row up to a limit. An image that does not fit is left out with all that follows it, placeholders and pixels."""
    ids, labels, images = row
    if max_length is None or len(ids) <= max_length:
        return row
    kept, end = [], max_length
    at = 0
    for image in images:
        at = ids.index(IMAGE_ID, at)
        if at < end < at + len(image):
            end = at
        if at + len(image) <= end:
            kept.append(image)
        at += len(image)
    return ids[:end], labels[:end], kept


def batch_of(rows, padding_side="right"):
    pad = pad_left if padding_side == "left" else pad_right
    ids, attention_mask = pad([ids for ids, _, _ in rows], PAD_ID)
    labels, _ = pad([labels for _, labels, _ in rows], IGNORED)
    images = [image for _, _, images in rows for image in images]
    return {
        "input_ids": ids,
        "attention_mask": attention_mask,
        "labels": labels,
        "image_token_id": IMAGE_ID,
        "image_tokens": [len(image) for image in images],
        "image_means": [[sum(channel) / len(image) for channel in zip(*image)] for image in images],
    }


def multimodal_batch(conversations, padding_side="right", max_length=None):
    return batch_of([cut(row_of(messages), max_length) for messages in conversations], padding_side)


OPS = {"multimodal_batch": (multimodal_batch, {"padding_side": ["left", "right"], "max_length": True})}
SEMANTICS = {}
