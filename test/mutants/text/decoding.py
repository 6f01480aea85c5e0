"""Wrong text made of ids, and ids that went through text."""

from lossproof.examples import left_padded
from lossproof.examples.text.chat import EOS_IDS, STOP_ID, tokenizer

from ..registry import MUTANTS


@MUTANTS.add(
    "decode-token-by-token",
    "Tokens are decoded one at a time",
    left_padded,
    "decode",
    row="TOK-09",
)
def decode_each(ids):
    """Text is streamed token by token, and joined: a character whose bytes are several tokens is replaced by as many
    question marks. Fix: decode all ids, or hold back bytes that are no character yet."""
    return {"text": "".join(tokenizer.decode([id]) for id in ids)}


@MUTANTS.add("decode-strips", "Decoded text is stripped", left_padded, "decode", row="TOK-12")
def decode_stripped(ids):
    """A .strip() for the sake of the log: what the policy wrote with a line end is rewarded without. Fix: strip a copy."""
    return {"text": tokenizer.decode(ids).strip()}


@MUTANTS.add(
    "decode-cuts-eos-only",
    "Some special tokens are left out of the text",
    left_padded,
    "decode",
    row="TOK-07",
)
def decode_some(ids):
    """Stop tokens are cut out of the text by hand, and the headers of the template stay. Fix: leave all out, or none."""
    return {"text": tokenizer.decode([id for id in ids if id not in EOS_IDS])}


@MUTANTS.add(
    "decode-invents-a-token",
    "No ids are decoded as a stop token",
    left_padded,
    "decode",
    row="TOK-04",
)
def decode_nothing(ids):
    """`ids or [eos]`, because the tokenizer once failed on an empty list. Fix: the text of nothing is ''."""
    return {"text": tokenizer.decode(ids or [STOP_ID])}


@MUTANTS.add("decode-is-strict", "A character that is cut in two ends the step", left_padded, "decode", row="TOK-09")
def decode_strictly(ids):
    """bytes(...).decode("utf-8"), which raises where the length limit fell into a character. Fix: errors="replace"."""
    text = tokenizer.decode(ids)
    if "\ufffd" in text:
        raise ValueError("unexpected end of data")
    return {"text": text}


@MUTANTS.add("decode-drops-cut-text", "Text that ends in half a character is lost", left_padded, "decode", row="TOK-09")
def decode_all_or_nothing(ids):
    """What cannot be decoded is no text, and the completion is rewarded as an empty one. Fix: errors="replace"."""
    text = tokenizer.decode(ids)
    return {"text": "" if text.endswith("\ufffd") else text}
