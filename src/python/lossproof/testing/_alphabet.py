"""The tokens of a codec: which text has which id, both ways, and as a tokenizer.json that others read."""

from __future__ import annotations

import json
import os
import re

from .. import Reject

FURTHER = 0x4E00  # characters that nobody writes by accident, one behind the other


class UnknownCharacter(Reject, ValueError):
    """A text that the codec has no ids for: the case is refused, the trainer is not blamed."""


class Alphabet:
    def __init__(self, size, marks, characters):
        marks = list(dict.fromkeys(marks))
        several = sorted({character for character in characters if characters.count(character) > 1})
        if several:
            raise ValueError("Codec: the character %r stands twice in the alphabet" % several[0])
        if size is not None and size <= len(marks):
            raise ValueError("Codec: %d ids leave none for characters besides the %d marks" % (size, len(marks)))
        size = len(marks) + len(characters) if size is None else size
        texts = list(characters[: size - len(marks)])
        texts += [chr(FURTHER + at) for at in range(size - len(marks) - len(texts))]
        self.marks = marks
        self.texts = marks + texts
        self.ids = {text: id for id, text in enumerate(self.texts)}
        # The longest mark first: one may begin another.
        longest = sorted(marks, key=len, reverse=True)
        self._split = re.compile("(%s)" % "|".join(map(re.escape, longest)))

    @property
    def all_special_tokens(self):
        """In the order of transformers: those that have a name first."""
        return list(dict.fromkeys([*self.special_tokens_map.values(), *self.marks]))

    all_special_ids = property(lambda self: [self.ids[mark] for mark in self.all_special_tokens])
    vocab_size = property(lambda self: len(self.texts))

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def special_tokens_map(self):
        named = {"bos_token": self.bos_token, "eos_token": self.eos_token, "pad_token": self.pad_token}
        return {name: mark for name, mark in named.items() if mark is not None}

    def get_vocab(self) -> dict[str, int]:
        return dict(self.ids)

    def split(self, text):
        """(ids, where each stands in the text)."""
        ids, spans, at = [], [], 0
        for part in self._split.split(text):
            for piece in [part] if part in self.ids else part:
                if piece not in self.ids:
                    raise UnknownCharacter("the codec has no %r: give it among characters, or a greater size" % piece)
                ids.append(self.ids[piece])
                spans.append((at, at + len(piece)))
                at += len(piece)
        return ids, spans

    def tokenize(self, text: str, **_) -> list[str]:
        return [self.texts[id] for id in self.split(text)[0]]

    def convert_tokens_to_ids(self, tokens):
        return self.ids.get(tokens) if isinstance(tokens, str) else [self.ids.get(token) for token in tokens]

    def convert_ids_to_tokens(self, ids, skip_special_tokens=False):
        if isinstance(ids, int):
            return self.texts[ids]
        special = set(self.all_special_ids) if skip_special_tokens else ()
        return [self.texts[id] for id in _ints(ids) if id not in special]

    def convert_tokens_to_string(self, tokens):
        return "".join(tokens)

    def decode(self, token_ids, skip_special_tokens=False, **_):
        ids = _ints(token_ids)
        if ids and isinstance(ids[0], list):
            return [self.decode(row, skip_special_tokens) for row in ids]  # as transformers has it from version 5 on
        return "".join(self.convert_ids_to_tokens(ids, skip_special_tokens))

    def batch_decode(self, sequences, skip_special_tokens=False, **_):
        return [self.decode(row, skip_special_tokens) for row in sequences]

    def save_pretrained(self, folder: str | os.PathLike[str], **_) -> str:
        """For lossproof.serve(tokenizer=folder), and for transformers: tokenizer.json and its configuration."""
        os.makedirs(folder, exist_ok=True)
        added = [
            {"id": self.ids[mark], "content": mark, "special": True}
            | {name: False for name in ("single_word", "lstrip", "rstrip", "normalized")}
            for mark in self.marks
        ]
        # The marks too: an added token that the model lacks gets the next free id, whatever is written.
        model = {"type": "BPE", "vocab": self.ids, "merges": []}
        empty = dict.fromkeys(("truncation", "padding", "normalizer", "pre_tokenizer"))
        before = [self.bos_token] if self.add_bos else []
        after = [self.eos_token] if self.add_eos else []
        pieces = [{"SpecialToken": {"id": mark, "type_id": 0}} for mark in before]
        pieces += [{"Sequence": {"id": "A", "type_id": 0}}]
        pieces += [{"SpecialToken": {"id": mark, "type_id": 0}} for mark in after]
        used = {mark: {"id": mark, "ids": [self.ids[mark]], "tokens": [mark]} for mark in before + after}
        processor = {"type": "TemplateProcessing", "single": pieces, "pair": pieces, "special_tokens": used}
        whole = {
            "version": "1.0",
            **empty,
            "added_tokens": added,
            "post_processor": processor if used else None,
            "decoder": {"type": "Fuse"},
            "model": model,
        }
        settings = {
            **self.special_tokens_map,
            "tokenizer_class": "PreTrainedTokenizerFast",
            "additional_special_tokens": [mark for mark in self.marks if mark not in self.special_tokens_map.values()],
            "chat_template": self.chat_template,
            "clean_up_tokenization_spaces": False,
        }
        for name, value in (("tokenizer.json", whole), ("tokenizer_config.json", settings)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                json.dump(value, file, ensure_ascii=False, indent=1)
        return str(folder)


def _ints(ids):
    found = ids.tolist() if hasattr(ids, "tolist") else list(ids) if not isinstance(ids, int) else [ids]
    return found if isinstance(found, list) else [found]
