"""How each op is asked about: those of `_sources`, and the steps of a sampler and of a cut, which have settings that are off at times."""

from ._settings import GROUP
from ._sources import ASKS as _OF_TRACKS
from ._sources import Ask, Source, _hints, _plain

_LOGIT_WORDS = ("logits", "scores", "next", "new")
# What a penalty counts: generated tokens, or whole rows. Rows decode in step, so that both are matrices.
_GENERATED = ("completions", "generated", "output", "outputs", "out", "previous", "prev", "sampled", "history", "past", "ids", "tokens", "token", "input", "seen")
_WHOLE = "[prompt + completion for prompt, completion in zip(prompt_ids, completion_ids)]"
_COUNTS = "torch.stack([torch.bincount(row, minlength=logits.shape[1]) for row in input_ids[:, prompt_width:]])"
_ALONE = "what was generated is handed over, without its prompt"
_SAYS_ALONE = ("completions", "generated", "output", "outputs", "out", "previous", "prev", "sampled")
_SEEN = (
    Source("completion_ids", "input_ids[:, prompt_width:]", "torch", assumes=_ALONE, said=_SAYS_ALONE),
    Source("completion_ids", "completion_ids", assumes=_ALONE, said=_SAYS_ALONE),
    Source("input_ids", "input_ids", assumes="whole rows are handed over, the prompt and its padding among them"),
    Source(
        "input_ids",
        _WHOLE,
        assumes="whole rows are handed over, the prompt among them and no padding",
    ),
    Source("prompt_ids", "prompt_ids"),
    Source("prompt_width", "prompt_width", kind="whole"),
    Source("attention_mask", "attention_mask"),
    Source(
        "counts",
        _COUNTS,
        "torch",
        hints=("counts", "count", "freq", "frequencies", "bin", "bincount", "histogram"),
        only_named=True,
    ),
)


def _penalty(kind, *words):
    """A number, or one per row; the op is then asked about this kind."""
    name = kind + "_penalty"
    capability = ("kinds", (kind,))
    hints = (kind, "penalty", "penalties", "coef", *words)
    return (
        Source(name, name, kind="number", capability=capability, hints=hints),
        Source(name, "torch.full((len(logits),), %s)" % name, "torch", capability=capability, hints=hints),
    )


_PENALTIES = ("presence_penalty", "frequency_penalty", "repetition_penalty")


def _processor(name, text, hints, kind="number", assumes=""):
    return Source(name, text, kind=kind, capability=("processors", (name,)), hints=hints, assumes=assumes)


_TOP_K = ("k", "top")
_TOP_P = ("p", "top", "nucleus", "threshold", "mass")
_SETTINGS = ("temperature", "top_k", "top_p")

_DECODING = {
    "penalties": Ask(
        (*_plain("logits"), *_SEEN, *_penalty("presence", "alpha"), *_penalty("frequency", "freq", "alpha"), *_penalty("repetition", "rep")),
        {
            "logits": _LOGIT_WORDS,
            "completion_ids": _GENERATED,
            "input_ids": ("input", "ids", "sequences", "tokens", "seen", "context"),
            **_hints("prompt_ids", "prompt_width", "attention_mask"),
            "counts": (),
            **{name: (name.split("_")[0], "penalty") for name in _PENALTIES},
        },
        frozenset(("penalty", "penalties", "penalize", "penalise", "penalized", "presence", "frequency", "repetition")),
        ("logits",),
        either=(("completion_ids", "input_ids", "counts"),),
        settings=_PENALTIES,
        against=frozenset(("labels", "rewards", "values", "advantages")),
        never=frozenset(("bias", "ban", "banned", "bad", "ngram", "overlong", "encoder", "suppress", "decay")),
        shapes=("once", "each"),
    ),
    "sampling": Ask(
        (
            *_plain("logits"),
            Source("logits", "logits.softmax(-1)", "torch", hints=("!probs", "probabilities", "distribution"), only_named=True),
            _processor("temperature", "temperature", ("temperature",)),
            _processor("top_k", "top_k", _TOP_K, "whole"),
            _processor("top_k", "top_k or None", _TOP_K, "whole", "top_k is None where it is off"),
            _processor("top_k", "top_k or len(logits[0])", _TOP_K, "whole", "top_k is the whole vocabulary where it is off"),
            _processor("top_p", "top_p", _TOP_P),
            _processor("top_p", "top_p if top_p < 1 else None", _TOP_P, assumes="top_p is None where it is off"),
        ),
        {"logits": _LOGIT_WORDS, "temperature": ("temperature",), "top_k": _TOP_K, "top_p": _TOP_P},
        frozenset(("sample", "sampling", "sampler", "top", "topk", "topp", "nucleus", "filter", "filtering", "warp", "warper", "truncate", "probs")),
        ("logits",),
        settings=_SETTINGS,
        against=frozenset(("labels", "rewards", "values", "advantages", "ref", "ids", "mask", "min")),
        never=frozenset(("min", "typical", "eta", "epsilon", "mirostat", "tail", "beam", "contrastive", "ids", "labels")),
        shapes=("once", "each", "drawn", "each drawn"),
    ),
}

# What is handed a whole example, or a batch of them, is called so.
_EXAMPLE = ("example", "examples", "sample", "samples", "batch", "features", "feature", "row", "rows", "item", "record", "data", "inputs", "tokenized", "encoded")
_COLUMNS = '{"input_ids": input_ids, "labels": labels}'
_TRUNCATE = Ask(
    (
        *_plain("input_ids", "labels"),
        Source("input_ids", _COLUMNS, way="columns", hints=_EXAMPLE, only_named=True),
        Source("max_length", "max_length", kind="whole"),
    ),
    {
        "labels": ("labels",),
        "max_length": ("max", "lengths", "cutoff", "limit", "n", "seq", "size"),
        "input_ids": ("ids", "rows", "input", "examples", "tokens", "sequence", "sequences", "seq", "token"),
    },
    frozenset(("truncate", "truncation", "truncated", "cut", "crop", "trim", "clip")),
    ("input_ids", "max_length"),
    never=frozenset(("eos", "bos", "prompts", "ratio", "text", "tokenizer", "completions")),
    shapes=("each", "once", "alone"),
)  # fmt: skip

_INTERLEAVED = ("interleaved_groups", True)
_SIZE = ("group_size", GROUP)
# Which rows stay: as groups with rewards that differ, or rows that were not cut off.
_FILTER = Ask(
    (
        Source("rewards", "rewards"),
        Source("rewards", "rewards.view(-1, %d)" % GROUP, "torch", "table", capability=_SIZE),
        Source("group_ids", "group_ids", capability=_INTERLEAVED),
        Source("group_ids", "group_ids.tolist()", "torch", capability=_INTERLEAVED),
        Source("lengths", "lengths"),
        Source("truncated", "truncated"),
        Source("max_length", "max_length", kind="whole"),
    ),
    {
        "rewards": ("rewards", "scores", "returns"),
        "group_ids": ("groups", "ids", "prompts", "uids", "uid", "index"),
        "lengths": ("lengths", "len"),
        "truncated": ("truncated", "clipped", "overlong"),
        "max_length": ("max", "limit"),
    },
    frozenset(("filter", "filtering", "filtered", "dynamic", "keep", "kept", "drop", "informative", "zero", "variance", "std", "groups")),
    ("rewards",),
    against=frozenset(("logits", "logprobs", "values", "labels", "mask")),
    never=frozenset(("advantages", "normalize", "normalise", "whiten", "loss", "penalty", "best", "sort", "top")),
)  # fmt: skip

ASKS = {**_OF_TRACKS, **_DECODING, "truncate": _TRUNCATE, "filter_rollouts": _FILTER}
# What stands for a row alone, in the lines that go through the rows.
ONE_ROW = {
    "logits": "logits[row]",
    "logits.softmax(-1)": "logits[row].softmax(-1)",
    "completion_ids": "completion_ids[row]",
    "input_ids[:, prompt_width:]": "input_ids[row, prompt_width:]",
    "input_ids": "input_ids[row]",
    "prompt_ids": "prompt_ids[row]",
    "attention_mask": "attention_mask[row]",
    "labels": "labels[row]",
    _WHOLE: "prompt_ids[row] + completion_ids[row]",
    _COUNTS: "torch.bincount(input_ids[row, prompt_width:], minlength=logits.shape[1])",
    _COLUMNS: '{"input_ids": input_ids[row], "labels": labels[row]}',
}
