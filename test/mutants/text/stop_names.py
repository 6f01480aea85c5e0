"""Stop tokens that are looked up by a name which the vocabulary does not have."""

from types import SimpleNamespace

from conformance.conventions.bytefallback import FallbackTokenizer
from conformance.conventions.text import IGNORED, MAKERS

from ..registry import MUTANTS

GEMMA = MAKERS["gemma"]()
VOCAB = FallbackTokenizer(GEMMA.folder / "tokenizer.json")


def id_of(name):
    """As convert_tokens_to_ids answers."""
    return VOCAB.added.get(name, VOCAB.vocab.get(name, VOCAB.added.get("<unk>", VOCAB.vocab.get("<unk>"))))


def tokenize(route, messages, add_generation_prompt):
    ids = GEMMA.ids(messages, add_generation_prompt)
    if route == "rl":
        return {"input_ids": ids}
    trained = GEMMA.labels(messages, False, "assistant") if not add_generation_prompt else [IGNORED] * len(ids)
    return {"input_ids": ids, "labels": trained}


def stopping_at(*names):
    """A trainer of Gemma that is right but for the stop ids it is fixed to."""
    tokens = dict(GEMMA.tokens("own"), eos_token_ids=[id_of(name) for name in names])
    declared = {"version": "0.1", "dtype": "float64", "tokens": tokens, "tokenizer": str(GEMMA.folder)}
    return SimpleNamespace(
        __name__="gemma",
        OPS={"tokenize": tokenize},
        DECLARED=dict(declared, semantics={"sft_target": "assistant"}),
    )


def add(name, title, story, *names):
    def wrong(route, messages, add_generation_prompt):
        return tokenize(route, messages, add_generation_prompt)

    wrong.__doc__ = story
    MUTANTS.add(name, title, stopping_at(*names), "tokenize", row="EOS-14")(wrong)


add(
    "stop-name-of-another-family",
    "The stop token is looked up by the name of another family",
    """convert_tokens_to_ids("<|im_end|>") is the unknown token where no ChatML is spoken. Fix: take the token that the chat
    template writes behind an answer.""",
    "<|im_end|>",
)

add(
    "stop-name-misspelt",
    "One of two stop tokens is misspelt",
    """The list of stop tokens has the one that ends a turn, and <end_of_text>, which this vocabulary spells otherwise. Fix:
    look the name up in the vocabulary.""",
    "<end_of_turn>",
    "<end_of_text>",
)
