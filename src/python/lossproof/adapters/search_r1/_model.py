"""The tokenizer as Search-R1 loads it, and one of single characters with the same ids."""

from types import SimpleNamespace

from lossproof.adapters.common._library import quietly
from lossproof.adapters.common._standin import codec_of
from lossproof.adapters.common._tiny import declared_tokens, load_tokenizer, tokenizer_folder, transformers
from lossproof.adapters.search_r1._parts import tokenizers
from lossproof.testing import replaced

FOLDER = tokenizer_folder()


def as_loaded():
    """By hf_tokenizer: it chooses the pad token."""
    loader = SimpleNamespace(from_pretrained=lambda *_, **__: load_tokenizer(FOLDER))
    with replaced(transformers, AutoTokenizer=loader), quietly():
        return tokenizers.hf_tokenizer(str(FOLDER))


def lasting(codec):
    """A stop that is no special token to it: that Search-R1 drops special tokens from what was sampled is seen by rollout, and would
    hide all the rest from what is asked by ids."""
    codec.marks, codec.eos_token = [codec.pad_token], None
    return codec


tokenizer = as_loaded()
tokens = declared_tokens(tokenizer)
codec = lasting(codec_of(tokens))
codec.padding_side = tokenizer.padding_side
