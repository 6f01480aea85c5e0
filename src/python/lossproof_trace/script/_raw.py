"""Tokenizers of the library `tokenizers` that a script uses as they are. Their class is no Python class, so that nothing is told when
one is made, and no weak reference can be kept: they are looked for among all objects, once there is a training."""

import gc
import json
import os
import sys

# A script has one or two; a list of many is a benchmark of tokenizers.
MOST = 4

_found = []


def install(session, module):
    from . import _tokenizers

    _tokenizers.listen(session, _tokenizers.Saver(session, lambda size: [] if _tokenizers.candidates() else fitting(module.Tokenizer, size)))


def fitting(kind, size):
    """Those whose ids a model of `size` has."""
    for own in everywhere(kind):
        if len(_found) < MOST and not any(each.own is own for each in _found):
            _found.append(Raw(own))
    return [each for each in _found if 0 < len(each) and (size is None or len(each) <= size)]


def everywhere(kind):
    frame = sys._getframe(1)
    while frame is not None:
        yield from (value for value in list(frame.f_locals.values()) if type(value) is kind)
        frame = frame.f_back
    for holder in gc.get_objects():
        yield from (value for value in gc.get_referents(holder) if type(value) is kind)


class Raw:
    """As transformers' would be written. Nothing says which token ends a text."""

    kind = "Tokenizer"
    eos_token_id = bos_token_id = None

    def __init__(self, own):
        self.own = own

    def __len__(self):
        return self.own.get_vocab_size()

    @property
    def pad_token_id(self):
        return (self.own.padding or {}).get("pad_id")

    def save_pretrained(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.own.save(os.path.join(folder, "tokenizer.json"))
        pad = (self.own.padding or {}).get("pad_token")
        config = {"tokenizer_class": "PreTrainedTokenizerFast", **({} if pad is None else {"pad_token": pad})}
        with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf-8") as file:
            json.dump(config, file, ensure_ascii=False)
