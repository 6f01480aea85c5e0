"""The tokenizer as the trainer's own loading leaves it, and one of single characters with the same special ids."""

from types import SimpleNamespace

from lossproof.adapters.common._tiny import declared_tokens, load_tokenizer, tokenizer_folder, transformers
from lossproof.adapters.grpo_dual._parts import trainer
from lossproof.testing import Codec, Table, replaced

FOLDER = tokenizer_folder()


def as_loaded():
    """By load_model_and_tokenizer: it chooses the pad token and the side of the padding."""
    loaders = {
        "AutoConfig": SimpleNamespace(from_pretrained=lambda *_, **__: None),
        "AutoTokenizer": SimpleNamespace(from_pretrained=lambda *_, **__: load_tokenizer(FOLDER)),
        "AutoModelForCausalLM": SimpleNamespace(from_pretrained=lambda *_, **__: Table()),
    }
    with replaced(transformers, **loaders), replaced(trainer.config, USE_LORA=False):
        return trainer.load_model_and_tokenizer()[2]


def codec_of(tokenizer, tokens):
    """A character per token, and nothing is lost: special ids have the names of the tokenizer, by which the trainer looks for them."""
    pad, eos = tokens["pad_token_id"], tokenizer.eos_token_id
    names = {id: tokenizer.convert_ids_to_tokens(id) for id in {pad, eos, *tokens["eos_token_ids"]}}
    made = Codec(size=tokens["vocab_size"], pad=names[pad], eos=names[eos], marks=tuple(names.values()))
    for id, text in names.items():
        at = made.texts.index(text)
        made.texts[at], made.texts[id] = made.texts[id], text
    made.ids = {text: id for id, text in enumerate(made.texts)}
    made.padding_side = tokenizer.padding_side
    return made


tokenizer = as_loaded()
tokens = declared_tokens(tokenizer, trainer.get_eos_token_ids(tokenizer))
codec = codec_of(tokenizer, tokens)
