"""Tokens that the script adds to a tokenizer."""

import functools
import sys

from ..recording import _frames

# Tokens that are remembered.
MOST = 4096
# Where tokenizers add the tokens of their files.
MAKING = ("__init__", "from_pretrained", "_from_pretrained")

# id of a token to where the script added it.
known = {}


def install(session, base):
    """`base`: the class of transformers that all tokenizers derive from."""
    original = base.add_tokens

    @functools.wraps(original)
    def add_tokens(self, new_tokens, *args, **kwargs):
        texts, before = [], []
        with session.guard("added tokens"):
            if new_tokens and not _is_made():
                given = new_tokens if isinstance(new_tokens, (list, tuple)) else [new_tokens]
                texts = [str(token) for token in given[:MOST]]
                before = [self.convert_tokens_to_ids(text) for text in texts]
        result = original(self, new_tokens, *args, **kwargs)
        with session.guard("added tokens"):
            place = _frames.place()
            for text, old in zip(texts, before):
                new = self.convert_tokens_to_ids(text)
                if isinstance(new, int) and new != old and len(known) < MOST:
                    known[new] = place
        return result

    base.add_tokens = add_tokens


def _is_made():
    """A tokenizer is being made: what is added is its own."""
    at = sys._getframe(2)
    for _ in range(12):
        if at is None:
            return False
        if at.f_code.co_name in MAKING and "tokenization" in at.f_code.co_filename:
            return True
        at = at.f_back
    return False
