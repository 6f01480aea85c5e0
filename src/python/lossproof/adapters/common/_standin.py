"""What stands in a model's or tokenizer's place while the trainer's own code runs. No training logic here."""

import contextlib
from types import SimpleNamespace

import jinja2
import torch

from ... import Reject


@contextlib.contextmanager
def replaced(owner, **attributes):
    """The owner with these attributes for the length of a `with` block."""
    absent = object()
    before = {name: vars(owner).get(name, absent) for name in attributes}
    for name, value in attributes.items():
        setattr(owner, name, value)
    try:
        yield owner
    finally:
        for name, value in before.items():
            if value is absent:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


def sampler(columns):
    """A generate() that samples exactly `columns` (B, C) behind whatever padded prompt (B, P) it is given."""

    def generate(input_ids, **_):
        return torch.cat([input_ids, columns.to(input_ids.dtype)], dim=1)

    return generate


def model_of(logits):
    """A model whose forward returns `logits` (B, T, V); keeps the last `logits_to_keep` columns as real ones do."""

    def forward(logits_to_keep=0, **_):
        return SimpleNamespace(logits=logits[:, -logits_to_keep:] if logits_to_keep else logits)

    return forward


@contextlib.contextmanager
def rendering(tokenizer, chat_template):
    """Collects (text, ids, options) of each apply_chat_template inside the block, under another template if given.

    A template that will not render these messages is a refusal, not an error."""
    rendered = []
    real = tokenizer.apply_chat_template

    def spy(conversation, **options):
        answer = real(conversation, **options)
        plain = {k: v for k, v in options.items() if k not in ("tokenize", "return_dict", "return_assistant_tokens_mask")}
        rendered.append((real(conversation, tokenize=False, **plain), answer["input_ids"], options))
        return answer

    with contextlib.ExitStack() as stack:
        stack.enter_context(replaced(tokenizer, apply_chat_template=spy))
        if chat_template is not None:
            stack.enter_context(replaced(tokenizer, chat_template=chat_template))
        try:
            yield rendered
        except jinja2.TemplateError as refusal:
            raise Reject("the chat template refuses these messages: %s" % refusal)


def same_ids(declared, pad_token_id, eos_token_ids):
    """Rejects special ids that the trainer is not built with."""
    if pad_token_id != declared["pad_token_id"] or list(eos_token_ids) != declared["eos_token_ids"]:
        raise Reject(
            "this trainer's tokenizer fixes pad to %d and stops to %s" % (declared["pad_token_id"], declared["eos_token_ids"])
        )
