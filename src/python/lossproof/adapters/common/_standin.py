"""What a tokenizer renders while the trainer's own code runs, and the ids that it is fixed to."""

import contextlib

import jinja2

from ... import Reject
from ...testing import Codec, replaced, spy


@contextlib.contextmanager
def rendering(tokenizer, chat_template):
    """Collects (text, ids, options) of each apply_chat_template inside the block, under another template if given; ids
    are None where the trainer asks for the text alone.

    A template that will not render these messages is a refusal, not an error."""
    rendered = []
    real = tokenizer.apply_chat_template

    def both(conversation, **options):
        answer = real(conversation, **options)
        if isinstance(answer, str):
            rendered.append((answer, None, options))
            return answer
        plain = {k: v for k, v in options.items() if k not in ("tokenize", "return_dict", "return_assistant_tokens_mask")}
        ids = answer if isinstance(answer, list) else answer["input_ids"]
        rendered.append((real(conversation, tokenize=False, **plain), ids, options))
        return answer

    with contextlib.ExitStack() as stack:
        stack.enter_context(spy(tokenizer, "apply_chat_template", instead=both))
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


def codec_of(tokens):
    """A tokenizer that loses nothing, a character per token, with these special ids: the characters that have them change places."""
    pad, eos = tokens["pad_token_id"], tokens["eos_token_ids"][0]
    names = {pad: "\ue000", eos: "\ue001"}
    made = Codec(size=tokens["vocab_size"], pad=names[pad], eos=names[eos], marks=())
    for id, text in names.items():
        at = made.ids[text]
        made.texts[at], made.texts[id] = made.texts[id], text
        made.ids = {text: id for id, text in enumerate(made.texts)}
    return made
