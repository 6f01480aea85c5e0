"""A tokenizer that loses nothing: a token a character, and marks. Whatever ids a trainer turns to text and back are the
same ids, so that what changes on the way is the trainer's doing. Called as transformers' tokenizers are."""

from __future__ import annotations

import string
import sys

from ._alphabet import Alphabet
from ._encoding import Encoding, padded, tensors
from ._template import CHATML, render

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

CHARACTERS = string.ascii_lowercase + " \n" + string.ascii_uppercase + string.digits + string.punctuation
MARKS = ("<|im_start|>", "<|im_end|>")
UNLIMITED = int(1e30)  # what transformers says where nothing is said


class Codec(Alphabet):
    """Ids 0 on are pad, eos (and bos), then marks, then characters.

    size: how many ids there are; else there are all of `characters`. Where they do not suffice, further ones follow.
    pad, eos, bos: the text of these marks; pad may be the same as eos, as some trainers have it.
    add_bos, add_eos: whether encoding adds them, as tokenizers of some families do."""

    padding_side = "right"
    truncation_side = "right"
    is_fast = True
    model_max_length = UNLIMITED
    model_input_names = ["input_ids", "attention_mask"]
    name_or_path = "lossproof.testing.Codec"

    def __init__(
        self,
        size: int | None = None,
        pad: str = "<pad>",
        eos: str = "<|im_end|>",
        bos: str | None = None,
        marks: Sequence[str] = MARKS,
        characters: str = CHARACTERS,
        chat_template: str = CHATML,
        add_bos: bool = False,
        add_eos: bool = False,
    ) -> None:
        super().__init__(size, [pad, eos, *([bos] if bos else []), *marks], characters)
        self.pad_token, self.eos_token, self.bos_token, self.unk_token = pad, eos, bos, None
        self.chat_template = chat_template
        self.add_bos, self.add_eos = add_bos, add_eos

    @property
    def tokens(self) -> dict[str, Any]:
        """For lossproof.serve(tokens=...): a trainer that has this codec is fixed to its ids."""
        found = {"vocab_size": len(self), "pad_token_id": self.pad_token_id, "eos_token_ids": [self.eos_token_id]}
        return found if self.bos_token is None else {**found, "bos_token_id": self.bos_token_id}

    def _id(self, mark):
        return None if mark is None else self.ids[mark]

    pad_token_id = property(lambda self: self._id(self.pad_token))
    eos_token_id = property(lambda self: self._id(self.eos_token))
    bos_token_id = property(lambda self: self._id(self.bos_token))
    unk_token_id = None

    def build_inputs_with_special_tokens(self, ids: Sequence[int]) -> list[int]:
        before = [self.bos_token_id] if self.add_bos else []
        return before + list(ids) + ([self.eos_token_id] if self.add_eos else [])

    def encode(self, text, add_special_tokens=True, truncation=False, max_length=None, return_tensors=None, **_):
        found = self(text, None, add_special_tokens, False, truncation, max_length)["input_ids"]
        return found if return_tensors is None else tensors({"ids": [found]}, return_tensors)["ids"]

    def __call__(
        self,
        text=None,
        text_pair=None,
        add_special_tokens=True,
        padding=False,
        truncation=False,
        max_length=None,
        return_tensors=None,
        return_attention_mask=True,
        return_offsets_mapping=False,
        return_special_tokens_mask=False,
        return_length=False,
        padding_side=None,
        pad_to_multiple_of=None,
        **_,
    ) -> Encoding:
        if text_pair is not None:
            raise ValueError("the codec encodes no pairs of texts")
        alone = isinstance(text, str)
        rows = [self._row(each, add_special_tokens, truncation, max_length) for each in ([text] if alone else text)]
        fields = {"input_ids": [ids for ids, _ in rows]}
        fields["attention_mask"] = [[1] * len(ids) for ids, _ in rows]
        if return_special_tokens_mask:
            fields["special_tokens_mask"] = [self._added(len(ids), add_special_tokens) for ids, _ in rows]
        if return_offsets_mapping:
            fields["offset_mapping"] = [spans for _, spans in rows]
        side = padding_side or self.padding_side
        fields = padded(fields, self.pad_token_id, padding, side, max_length, pad_to_multiple_of)
        if return_length:
            fields["length"] = [len(ids) for ids in fields["input_ids"]]
        if return_attention_mask is False:
            del fields["attention_mask"]
        if alone and return_tensors is None:
            fields = {name: rows if name == "length" else rows[0] for name, rows in fields.items()}
        return Encoding(tensors(fields, return_tensors))

    def _added(self, length, add_special_tokens):
        """1 where encoding added the token: a mark in the text itself is text."""
        before, after = int(add_special_tokens and self.add_bos), int(add_special_tokens and self.add_eos)
        return [1] * before + [0] * (length - before - after) + [1] * after

    def _row(self, text, add_special_tokens, truncation, max_length):
        """(ids, spans) of one text, cut to max_length where that is asked for."""
        ids, spans = self.split(text)
        if add_special_tokens:
            added = self.build_inputs_with_special_tokens(ids)
            extra = len(added) - len(ids)
        else:
            added, extra = ids, 0
        if truncation and max_length is not None and len(added) > max_length:
            room = max(max_length - extra, 0)
            keep = slice(len(ids) - room, None) if self.truncation_side == "left" else slice(room)
            ids, spans = ids[keep], spans[keep]
            added = self.build_inputs_with_special_tokens(ids) if add_special_tokens else ids
        if add_special_tokens and extra:
            spans = ([(0, 0)] if self.add_bos else []) + spans + ([(0, 0)] if self.add_eos else [])
        return added, spans

    def pad(
        self, encoded_inputs, padding=True, max_length=None, pad_to_multiple_of=None, return_tensors=None, **options
    ):
        rows = encoded_inputs
        if isinstance(rows, (list, tuple)):
            rows = {name: [row[name] for row in rows] for name in (rows[0] if rows else {})}
        rows = {name: [_listed(row) for row in _listed(field)] for name, field in rows.items()}
        if rows and "attention_mask" not in rows and options.get("return_attention_mask", True):
            rows["attention_mask"] = [[1] * len(ids) for ids in rows["input_ids"]]
        side = options.get("padding_side") or self.padding_side
        found = padded(rows, self.pad_token_id, padding, side, max_length, pad_to_multiple_of)
        return Encoding(tensors(found, return_tensors))

    def apply_chat_template(
        self,
        conversation,
        tools=None,
        documents=None,
        chat_template=None,
        add_generation_prompt=False,
        continue_final_message=False,
        tokenize=True,
        padding=False,
        truncation=False,
        max_length=None,
        return_tensors=None,
        return_dict=None,
        return_assistant_tokens_mask=False,
        tokenizer_kwargs=None,
        **values,
    ):
        """return_dict: where it is not said, as the transformers that is imported has it: True from version 5 on."""
        if return_assistant_tokens_mask or continue_final_message:
            raise ValueError("the codec knows neither return_assistant_tokens_mask nor continue_final_message")
        many = bool(conversation) and not isinstance(conversation[0], dict)
        values = {**self.special_tokens_map, **values, "tools": tools, "documents": documents}
        texts = [
            render(chat_template or self.chat_template, each, add_generation_prompt=add_generation_prompt, **values)
            for each in (conversation if many else [conversation])
        ]
        if not tokenize:
            return texts if many else texts[0]
        options = {"padding": padding, "truncation": truncation, "max_length": max_length, **(tokenizer_kwargs or {})}
        found = self(texts if many else texts[0], add_special_tokens=False, return_tensors=return_tensors, **options)
        if return_dict is None:
            version = getattr(sys.modules.get("transformers"), "__version__", "4")
            return_dict = int(version.split(".")[0]) >= 5
        return found if return_dict else found["input_ids"]


def _listed(value):
    return value.tolist() if hasattr(value, "tolist") else value
