"""A language model whose logits are given: what a trainer computes from logits is computed on those of the request."""

from __future__ import annotations

from types import SimpleNamespace

import torch

from ._rows import taken

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Union

    Logits = Union[torch.Tensor, Sequence[torch.Tensor], Callable[..., torch.Tensor]]


class Config(SimpleNamespace):
    """What trainers read of a model's configuration; any further attribute may be set."""

    def to_dict(self):
        return dict(vars(self))

    def get(self, name, default=None):
        return getattr(self, name, default)

    def get_text_config(self, *_, **__):
        return self


class Output(dict):
    """What a model returns: by name, by attribute, and by place, the logits first where there is no loss."""

    def __getattr__(self, name):
        # What a model may return and this one does not have is None, as with transformers.
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name)

    def to_tuple(self):
        return tuple(value for value in self.values() if value is not None)

    def __getitem__(self, key):
        return self.to_tuple()[key] if isinstance(key, (int, slice)) else super().__getitem__(key)


class Table(torch.nn.Module):
    """logits: (B, T, V), of the rows that the trainer will ask for, as many and as long; a list of those, one a call; (V, V),
        of what follows each token, for rows of any shape; or a function of input_ids, attention_mask, position_ids.
    input_ids: (B, T), the rows that the logits belong to. Then the trainer may split them, order them anew and crop them.
    sampled: what generate() appends to the prompts: (B, C), or lists, padded on the right with pad_token_id.
    plain: calls return the tensor alone, as models without transformers do.
    config: of further fields of .config (pad_token_id, eos_token_id, ...).

    Where the logits are a leaf that requires a gradient, parameters() yields that very tensor. `calls` are the keyword
    arguments of each call."""

    def __init__(
        self,
        logits: Logits | None = None,
        input_ids: torch.Tensor | Sequence[Sequence[int]] | None = None,
        sampled: torch.Tensor | Sequence[Sequence[int]] | None = None,
        plain: bool = False,
        **config: Any,
    ) -> None:
        super().__init__()
        several = logits if isinstance(logits, (list, tuple)) else [logits]
        tensors = [each for each in several if torch.is_tensor(each)]
        # Put there by hand: a Parameter made of the leaf would take the gradient in its stead.
        for at, leaf in enumerate(each for each in tensors if each.is_leaf and each.is_floating_point()):
            self._parameters["logits_%d" % at] = leaf
        if not self._parameters:
            self.unused = torch.nn.Parameter(torch.zeros(()))  # optimisers and `next(model.parameters())` want one
        self.given, self.rows, self.sampled, self.plain = logits, input_ids, sampled, plain
        self.used = [0] * (0 if input_ids is None else len(input_ids))  # how often each row was asked for
        self.calls: list[dict[str, Any]] = []
        self.asked = 0
        width = tensors[0].size(-1) if tensors else None
        self.config = Config(
            **{
                "model_type": "table",
                "_name_or_path": "lossproof.testing.Table",
                "vocab_size": width,
                "hidden_size": width,
                "is_encoder_decoder": False,
                "tie_word_embeddings": False,
                "use_cache": False,
                "pad_token_id": None,
                "bos_token_id": None,
                "eos_token_id": None,
                **config,
            }
        )
        self.generation_config = self.config

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @property
    def dtype(self) -> torch.dtype:
        return next(self.parameters()).dtype

    def logits_of(self, input_ids, attention_mask=None, position_ids=None):
        """(b, t, V) of these rows."""
        given = self.given
        if given is None:
            raise ValueError("this Table has no logits: Table(logits)")
        if callable(given):
            return given(input_ids, attention_mask, position_ids)
        if isinstance(given, (list, tuple)):
            if self.asked >= len(given):
                raise ValueError("the Table has logits for %d calls, and is asked once more" % len(given))
            given = given[self.asked]
            self.asked += 1
        if given.dim() == 2:
            return given[input_ids]
        return taken(given, self.rows, self.used, input_ids)

    def forward(
        self,
        input_ids=None,
        attention_mask=None,
        position_ids=None,
        labels=None,
        logits_to_keep=0,
        num_logits_to_keep=0,
        output_hidden_states=False,
        return_dict=True,
        **options,
    ):
        if input_ids is None:
            raise ValueError("a Table is asked by input_ids; it has no embeddings")
        given = {"input_ids": input_ids, "attention_mask": attention_mask, "position_ids": position_ids, "labels": labels}
        self.calls.append({**given, **options})
        logits = self.logits_of(input_ids, attention_mask, position_ids)
        keep = logits_to_keep if torch.is_tensor(logits_to_keep) else logits_to_keep or num_logits_to_keep
        kept = logits[:, slice(-keep, None) if isinstance(keep, int) else keep]
        if self.plain:
            return kept
        found = Output() if labels is None else Output(loss=_loss(kept, labels, options.get("num_items_in_batch")))
        found["logits"] = kept
        if output_hidden_states:
            found["hidden_states"] = (logits,)  # the head is the identity
        return found if return_dict is not False else found.to_tuple()

    def base_model(self, *args, **kwargs):
        """The model without its head: the hidden states are the logits, for losses that apply the head themselves."""
        self.calls.append(kwargs)
        names = ("input_ids", "attention_mask", "position_ids")
        given = {**dict(zip(names, args)), **{name: kwargs[name] for name in names if name in kwargs}}
        logits = self.logits_of(**given)
        return Output(last_hidden_state=logits, hidden_states=(logits,))

    def get_output_embeddings(self):
        """The identity: which float32 multiplies by exactly."""
        head = torch.nn.Linear(self.config.vocab_size, self.config.vocab_size, bias=False)
        head.weight = torch.nn.Parameter(torch.eye(self.config.vocab_size, dtype=self.dtype), requires_grad=False)
        return head

    lm_head = property(get_output_embeddings)

    def generate(
        self, input_ids=None, attention_mask=None, return_dict_in_generate=False, num_return_sequences=1, **options
    ):
        """The prompts, and what is given as sampled behind them, whatever was asked for."""
        input_ids = options.pop("inputs", input_ids)
        if self.sampled is None:
            raise ValueError("this Table does not say what it samples: Table(logits, sampled=ids)")
        prompts = input_ids.repeat_interleave(num_return_sequences or 1, dim=0)
        self.calls.append({"input_ids": input_ids, "attention_mask": attention_mask, **options})
        sizes = (len(self.sampled), len(prompts))
        if sizes[0] != sizes[1]:
            raise ValueError("the Table samples %d rows, and generate() was asked for %d" % sizes)
        sequences = torch.cat([prompts, self._columns(prompts)], dim=1)
        return Output(sequences=sequences) if return_dict_in_generate else sequences

    def _columns(self, prompts):
        if torch.is_tensor(self.sampled):
            return self.sampled.to(prompts)
        width = max(map(len, self.sampled), default=0)
        pad = self.config.pad_token_id
        if pad is None and any(len(row) < width for row in self.sampled):
            raise ValueError("rows of several lengths are sampled: Table(..., pad_token_id=...)")
        rows = [list(row) + [pad] * (width - len(row)) for row in self.sampled]
        return torch.tensor(rows).reshape(len(prompts), width).to(prompts)

    # What trainers switch on a model before they use it, and what has no meaning here.
    def gradient_checkpointing_enable(self, *_, **__):
        pass

    gradient_checkpointing_disable = enable_input_require_grads = tie_weights = gradient_checkpointing_enable


def _loss(logits, labels, items):
    """The loss that a model of transformers adds where it is given labels."""
    targets = torch.nn.functional.pad(labels, (0, 1), value=-100)[:, 1:].reshape(-1)
    flat = logits.float().reshape(-1, logits.size(-1))
    how = "mean" if items is None else "sum"
    loss = torch.nn.functional.cross_entropy(flat, targets, ignore_index=-100, reduction=how)
    return loss if items is None else loss / items
