"""Tokenizers that are none of transformers': tiktoken's encodings and sentencepiece's processors, written as the tokenizer.json
that they amount to, so that rows can be shown as text. Neither knows of chat templates: roles are for the user to declare.
"""

import functools
import json
import os
import weakref

from . import _pieces

known = []


def install(session, module):
    """Of tiktoken.core, or of sentencepiece."""
    for name, kind in (("Encoding", Encoding), ("SentencePieceProcessor", Processor)):
        owner = getattr(module, name, None)
        if isinstance(owner, type):
            _watch(session, owner, kind)


def _watch(session, owner, kind):
    original = owner.__init__

    @functools.wraps(original)
    def init(self, *args, **kwargs):
        original(self, *args, **kwargs)
        with session.guard("tokenizer"):
            known[:] = [each for each in known if each.reference() is not None]
            if not any(each.reference() is self for each in known):
                known.append(kind(self))

    owner.__init__ = init


class Foreign:
    """Holds no tokenizer alive."""

    pad_token_id = eos_token_id = bos_token_id = None

    def __init__(self, tokenizer):
        self.reference = weakref.ref(tokenizer)

    @property
    def kind(self):
        return type(self.reference()).__name__

    def save_pretrained(self, folder):
        whole, config = self.files()
        os.makedirs(folder, exist_ok=True)
        for name, value in (("tokenizer.json", whole), ("tokenizer_config.json", config)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                json.dump(value, file, ensure_ascii=False)


class Encoding(Foreign):
    """Of tiktoken."""

    def __len__(self):
        return self.reference().n_vocab

    @property
    def eos_token_id(self):
        return self.reference()._special_tokens.get("<|endoftext|>")

    def files(self):
        own = self.reference()
        specials = own._special_tokens
        return _pieces.of_ranks(own._mergeable_ranks, own._pat_str, specials), {
            "tokenizer_class": "PreTrainedTokenizerFast",
            **({"eos_token": "<|endoftext|>"} if "<|endoftext|>" in specials else {}),
        }


class Processor(Foreign):
    """Of sentencepiece."""

    def __len__(self):
        return self.reference().get_piece_size()

    def _id(self, name):
        value = getattr(self.reference(), name)()
        return value if value >= 0 else None

    @property
    def pad_token_id(self):
        return self._id("pad_id")

    @property
    def eos_token_id(self):
        return self._id("eos_id")

    @property
    def bos_token_id(self):
        return self._id("bos_id")

    def files(self):
        own = self.reference()
        config = {"tokenizer_class": "PreTrainedTokenizerFast"}
        for name in ("pad", "eos", "bos"):
            value = self._id(name + "_id")
            if value is not None:
                config[name + "_token"] = own.id_to_piece(value)
        return _pieces.of_model(own.serialized_model_proto()), config


def fitting(size):
    """Those that are still there and whose ids a model of `size` has, the last made first."""
    out = []
    for each in reversed(known):
        if each.reference() is not None and 0 < len(each) and (size is None or len(each) <= size):
            out.append(each)
    return out
