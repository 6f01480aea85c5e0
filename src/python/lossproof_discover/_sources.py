"""What an op is sent, as the expressions that a person would write into a call; and what names speak for each.

An expression is Python over the op's fields. `torch` ones are for trainers on tensors, `list` ones for those on lists; the rest
for both. Expressions of one call must be of one `way`: who hands shifted logits over hands shifted ids over."""

from dataclasses import dataclass, field, replace

from ._settings import GROUP

ROW = {"alignment": "token", "span": "row"}
PREDICTOR = {"alignment": "predictor", "span": "row"}
COMPLETION = {"alignment": "token", "span": "completion"}

# Tokens a row, where an op knows rows alone and the trainer wants tokens: 1, 2, ... 7, 1, ... With as many in every row, a mean over tokens
# and one weighted by lengths would pass for one over rows. A prime, so that every n-th row has another length too.
WIDTH = 7
_LAST = "torch.arange(len(rewards))[:, None] %% %d" % WIDTH


def lengths_of(rows):
    """Of the rows of such a table."""
    return [row % WIDTH + 1 for row in range(rows)]


@dataclass(frozen=True)
class Source:
    field: str
    text: str
    arrays: str = ""  # "torch", "list", or both
    way: str = ""
    kind: str = "data"  # or "number", "whole", "text": what a parameter of a declared type takes
    capability: tuple = ()  # (name, value) that comes with it
    assumes: str = ""
    said: tuple = ()  # words of a parameter that say what is assumed
    hints: tuple = ()  # words that name this expression rather than its field
    only_named: bool = False  # stands for nothing whose name does not ask for it
    tempered: bool = False  # logits times the temperature of an op that has none, and that temperature


@dataclass(frozen=True)
class Ask:
    """How an op is asked about: `must` fields are in every plan of it."""

    sources: tuple
    hints: dict  # field -> words
    named: frozenset  # words of functions that do this
    must: tuple
    layouts: tuple = (None,)
    either: tuple = ()  # of each of these groups one as well
    settings: tuple = ()  # one of these too, of a parameter, an object or a configuration
    against: frozenset = frozenset()  # words of what is none of its data
    never: frozenset = frozenset()  # words of functions and parameters that do something else
    shapes: tuple = field(default=("once",))  # how often a function is called for one request


def _plain(*names):
    return tuple(Source(name, name) for name in names)


_HINTS = {
    "logprobs": ("logprobs", "new"),
    "old_logprobs": ("logprobs", "!old"),
    "ref_logprobs": ("logprobs", "!ref"),
    "completion_mask": ("mask", "completions", "action", "loss"),
    "advantages": ("advantages",),
    "rewards": ("rewards", "scores"),
    "values": ("values", "tensor", "x", "xs", "advantages"),
    "dones": ("dones", "done", "terminated", "terminals"),
    "next_value": ("next", "last", "bootstrap", "final", "values"),
    "next_done": ("next", "last", "final", "dones", "done"),
    "gamma": ("gamma",),
    "lam": ("lam", "gae"),
    "scores": ("scores", "rewards", "r"),
    "kl": ("kl",),
    "kl_coef": ("kl", "coef", "beta", "ratio"),
    "logits": ("logits",),
    "ref_logits": ("logits", "!ref"),
    "input_ids": ("ids", "labels", "input"),
    "labels": ("labels",),
    "attention_mask": ("attention", "mask"),
    "temperature": ("temperature",),
    "prompt_width": ("prompts", "width", "lengths", "start"),
    "group_ids": ("groups", "ids", "prompts"),
    "pad_token_id": ("!pad", "token", "ids"),
    "eos_token_ids": ("!eos", "token", "ids"),
    "prompt_ids": ("prompts", "ids"),
    "completion_ids": ("completions", "ids"),
    "sequences": ("sequences", "sequence", "seq", "ids", "output", "generated"),
    "max_length": ("max", "lengths", "cutoff"),
    "buffer": ("buffer", "cache"),
    "lengths": ("lengths", "completions", "n"),
    "limit": ("limit", "max", "clip", "bound"),
    "chosen_logprobs": ("!chosen", "new", "logprobs"),
    "rejected_logprobs": ("!rejected", "new", "logprobs"),
    "ref_chosen_logprobs": ("!ref", "!chosen", "logprobs"),
    "ref_rejected_logprobs": ("!ref", "!rejected", "logprobs"),
}


def _hints(*names):
    return {name: _HINTS[name] for name in names}


def _tracks(must, also, named, layouts=(ROW, COMPLETION), either=(), extra=(), against=(), shapes=("once",)):
    names = tuple(must) + tuple(also)
    return Ask(
        _plain(*names) + extra,
        _hints(*names, *(s.field for s in extra)),
        frozenset(named),
        tuple(must),
        layouts,
        either,
        against=frozenset(against),
        shapes=shapes,
    )


_SHIFTED = (
    Source("logits", "logits[:, :-1]", "torch", "shifted", assumes="handed over shifted: row t of the logits beside token t + 1"),
    Source("input_ids", "input_ids[:, 1:]", "torch", "shifted"),
    Source("logits", "[row[:-1] for row in logits]", "list", "shifted", assumes="handed over shifted: row t of the logits beside token t + 1"),
    Source("input_ids", "[row[1:] for row in input_ids]", "list", "shifted"),
)
_WHOLE = (Source("logits", "logits", way="whole"), Source("input_ids", "input_ids", way="whole"))
_FLAT = (
    Source("logits", "logits[:, :-1].flatten(0, 1)", "torch", "flat", assumes="handed over shifted: row t of the logits beside token t + 1"),
    Source("input_ids", "input_ids[:, 1:].flatten()", "torch", "flat"),
)
_TEMPERATURE = Source("temperature", "temperature", kind="number", capability=("temperature", True))
# The op has none: what divides by it gives back what was handed over times as much, and what multiplies does not.
_TEMPERED = Source("temperature", "2.0", kind="number", assumes="logits are handed over times the temperature, which it divides by", tempered=True)
_LISTS_TEMPERED = "[[[2.0 * each for each in row] for row in rows] for rows in logits]"


def _tempered(sources):
    """Those of logits, times a temperature, and it."""
    logits = [each for each in sources if each.field == "logits"]
    tensors = [replace(each, text="(%s) * 2.0" % each.text, arrays="torch", tempered=True) for each in logits if each.arrays != "list"]
    lists = [replace(each, text=_LISTS_TEMPERED, arrays="list", tempered=True) for each in logits if each.arrays == ""]
    return (*tensors, *lists, _TEMPERED)


_PREDICTED = (Source("logits", "logits", way="plain"), Source("logits", "logits.flatten(0, 1)", "torch", "flat"))
_LABELLED = (
    Source("logits", "logits", way="whole"),
    Source("labels", "labels", way="whole"),
    Source("logits", "logits[:, :-1]", "torch", "shifted", assumes="handed over shifted: row t of the logits beside label t + 1"),
    Source("labels", "labels[:, 1:]", "torch", "shifted"),
    Source("logits", "logits[:, :-1].flatten(0, 1)", "torch", "flat", assumes="handed over shifted: row t of the logits beside label t + 1"),
    Source("labels", "labels[:, 1:].flatten()", "torch", "flat"),
)
_RESPONSE = Source("prompt_width", "input_ids.size(1) - prompt_width", "torch", "whole", kind="whole")


def _sums(name):
    return (
        Source(name, "torch.tensor([sum(row) for row in %s])" % name, "torch", "sums"),
        Source(name, "torch.tensor([sum(row) / len(row) for row in %s])" % name, "torch", "means", assumes="means over tokens are handed over"),
        Source(name, "[sum(row) for row in %s]" % name, "list", "sums"),
        Source(name, "[sum(row) / len(row) for row in %s]" % name, "list", "means", assumes="means over tokens are handed over"),
    )


_TOKENS = ("tokens", "num", "n", "items", "denominator", "denom", "norm", "normalizer", "total", "count")
_ROWS = ("rows", "sequences", "seqs", "samples", "batch", "size", "num", "n", "denominator", "denom", "norm", "normalizer", "count")


def _divisor(text, what, hints):
    """What a loss is divided by where its caller counts: the usual counts, each an assumption."""
    return Source("divisor", text, "torch", kind="number", hints=hints, only_named=True, assumes="divided by the number of " + what)


DIVISORS = (
    _divisor("completion_mask.sum()", "trained tokens", _TOKENS),
    _divisor("len(logprobs)", "rows", _ROWS),
    _divisor("logprobs.numel()", "rows times columns", _TOKENS),
    Source("divisor", "1", "torch", kind="number", only_named=True, assumes="a number of the caller is 1"),
)


# A function of rewards and values that takes no mask leaves padding to its caller, who zeroes it or cuts it off.
UNMASKED = frozenset(("zeroed", "zeroed, then 0", "time first", "time first, then 0"))
_ZEROED = "rewards and values are 0 on padding"
_NO_END = "no episode ends inside a row"


def _zeroed(way, text, assumes, values):
    texts = {name: text % ("(%s * completion_mask)" % name) for name in ("rewards", "values")}
    return (
        Source("rewards", texts["rewards"], "torch", way, assumes=assumes),
        Source("values", values % texts["values"], "torch", way),
        Source("dones", text % "torch.zeros_like(rewards)", "torch", way, assumes=_NO_END, only_named=True),
    )


_STEPS = (
    *_zeroed("zeroed", "%s", _ZEROED, "%s"),
    *_zeroed("time first", "%s.T", _ZEROED + ", and the first axis is time", "%s"),
    *_zeroed("zeroed, then 0", "%s", _ZEROED + ", and a last value of 0 follows", "torch.nn.functional.pad(%s, (0, 1))"),
    *_zeroed("time first, then 0", "%s.T", _ZEROED + ", the first axis is time, and a last value of 0 follows", "torch.nn.functional.pad(%s, (0, 0, 0, 1))"),
)
_AFTER = (
    Source("dones", "[[0.0] * len(row) for row in rewards]", "list", assumes=_NO_END, only_named=True),
    Source("next_value", "torch.zeros(len(rewards))", "torch", assumes="the value after the last step is 0", only_named=True),
    Source("next_value", "0.0", assumes="the value after the last step is 0", only_named=True),
    Source("next_done", "torch.ones(len(rewards))", "torch", assumes="a row ends its episode", only_named=True),
    Source("next_done", "1.0", assumes="a row ends its episode", only_named=True),
)
_PAIRS = ("chosen_logprobs", "rejected_logprobs", "ref_chosen_logprobs", "ref_rejected_logprobs")
_SIZE = ("group_size", GROUP)
_ROWS_OF = '[{"input_ids": ids, "labels": each} for ids, each in zip(input_ids, labels)]'

ASKS = {
    "kl": _tracks(
        ("logprobs", "ref_logprobs"),
        ("completion_mask", "old_logprobs"),
        ("kl", "divergence", "k1", "k2", "k3", "penalty", "approx"),
        against=("values", "rewards", "advantages"),
        shapes=("once", "token"),
    ),
    "logprobs": Ask(
        _SHIFTED + _WHOLE + _FLAT + (_TEMPERATURE, _RESPONSE, Source("attention_mask", "attention_mask", way="whole")),
        _hints("logits", "input_ids", "temperature", "prompt_width", "attention_mask"),
        frozenset(("logprobs", "log", "softmax", "gather", "selective")),
        ("logits", "input_ids"),
    ),
    "entropy": Ask(
        _PREDICTED + _tempered(_PREDICTED),
        _hints("logits", "temperature"),
        frozenset(("entropy", "entropies")),
        ("logits",),
    ),
    "full_kl": Ask(
        _plain("logits", "ref_logits") + (_TEMPERATURE,),
        _hints("logits", "ref_logits", "temperature"),
        frozenset(("kl", "full", "divergence", "distillation")),
        ("logits", "ref_logits"),
    ),
    "gae": Ask(
        (
            *_STEPS,
            *_plain("rewards", "values", "completion_mask"),
            *_AFTER,
            Source("gamma", "gamma", kind="number"),
            Source("lam", "lam", kind="number"),
        ),
        _hints("rewards", "values", "completion_mask", "dones", "next_value", "next_done", "gamma", "lam"),
        frozenset(("gae", "advantages", "returns", "generalized")),
        ("rewards", "values"),
        (ROW, COMPLETION),
        shapes=("once", "trajectory"),
    ),
    "whiten": _tracks(("values",), ("completion_mask",), ("whiten", "normalize", "normalise", "standardize", "norm")),
    "token_rewards": _tracks(
        ("scores", "kl"),
        ("completion_mask",),
        ("rewards", "reward", "token", "shaped"),
        extra=(Source("kl_coef", "kl_coef", kind="number"),),
    ),
    "advantages": Ask(
        (
            Source("rewards", "rewards"),
            Source("rewards", "rewards[:, None] * (torch.arange(%d) == %s)" % (WIDTH, _LAST), "torch", "tokens", assumes="rows have one to seven tokens in turn, each its reward at the last of them"),
            Source("rewards", "rewards.view(-1, 4)", "torch", "table", capability=_SIZE),
            Source("group_ids", "group_ids", capability=("interleaved_groups", True)),
            Source("group_ids", "group_ids.numpy()", "torch", capability=("interleaved_groups", True)),
            Source("group_ids", "group_ids.tolist()", "torch", capability=("interleaved_groups", True)),
            Source("completion_mask", "(torch.arange(%d) <= %s).float()" % (WIDTH, _LAST), "torch", "tokens"),
        ),
        {**_hints("rewards", "group_ids", "completion_mask")},
        frozenset(("advantages", "groups", "grpo", "rloo", "outcome", "group", "reinforce")),
        ("rewards",),
        shapes=("once", "group"),
    ),
    "clip_advantages": Ask(
        _plain("advantages") + (Source("limit", "limit", kind="number"),),
        _hints("advantages", "limit"),
        frozenset(("clip", "advantages")),
        ("advantages", "limit"),
    ),
    "loss": Ask(
        _plain("logprobs", "old_logprobs", "ref_logprobs", "completion_mask")
        + (
            Source("advantages", "advantages[:, None].expand_as(logprobs)", "torch", assumes="one advantage per row, the same at each token"),
            Source("advantages", "advantages"),
            Source("advantages", "advantages[:, None]", "torch", assumes="one advantage per row, as a column"),
            *DIVISORS,
        ),
        {**_hints("logprobs", "old_logprobs", "ref_logprobs", "completion_mask", "advantages"), "divisor": ()},
        frozenset(("loss", "policy", "ppo", "grpo", "objective", "new", "surrogate", "pg", "actor")),
        ("logprobs", "advantages"),
        (ROW, COMPLETION),
        against=frozenset(("values", "returns", "rewards")),
    ),
    "value_loss": Ask(
        _plain("values", "old_values", "returns", "completion_mask"),
        {
            # Some call what the critic says now `vpreds`, and what it said at sampling `values`.
            "values": ("values", "vpreds", "vpred", "preds", "pred", "new"),
            "old_values": ("values", "!old"),
            "returns": ("returns", "ret", "rets", "labels"),
            "completion_mask": _HINTS["completion_mask"],
        },
        frozenset(("values", "critic", "vf", "loss", "clipped")),
        ("values", "returns"),
        (ROW, COMPLETION),
        against=frozenset(("rewards", "advantages", "logprobs", "logits")),
    ),
    "sft_loss": Ask(
        (
            *_LABELLED,
            *_tempered(_LABELLED),
            Source("input_ids", "input_ids", way="whole"),
            Source("attention_mask", "attention_mask", way="whole"),
            Source("input_ids", "input_ids[:, 1:]", "torch", "shifted"),
            Source("loss_mask", "(labels != -100).long()", "torch", "whole"),
            Source("loss_mask", "(labels[:, 1:] != -100).long()", "torch", "shifted"),
            Source("logprobs", "OWN_LOGPROBS", "torch", "shifted", assumes="on log-probabilities of the trainer's own function"),
        ),
        {**_hints("logits", "labels", "input_ids", "attention_mask", "temperature"), "loss_mask": ("mask", "loss"), "logprobs": ("logprobs", "token")},
        frozenset(("sft", "supervised", "ce", "cross", "nll", "lm", "causal", "gptlmloss", "sftloss", "token")),
        (),
        either=(("labels", "loss_mask"),),
    ),
    "preference_loss": Ask(
        tuple(source for name in _PAIRS for source in _sums(name)),
        _hints(*_PAIRS),
        frozenset(("dpo", "ipo", "simpo", "preference", "loss", "pair")),
        _PAIRS[:2],
        against=frozenset(("rewards", "scores", "values")),
        shapes=("once", "pair"),
    ),
    "mask": Ask(
        _plain("prompt_ids", "completion_ids", "sequences", "attention_mask")
        + (
            Source("sequences", "sequences[:, prompt_width:]", "torch", "response", hints=("completions", "ids")),
            Source("sequences", "[row[prompt_width:] for row in sequences]", "list", "response", hints=("completions", "ids")),
            Source("prompt_width", "prompt_width", kind="whole"),
            Source("pad_token_id", "pad_token_id", kind="whole"),
            Source("eos_token_ids", "eos_token_ids.tolist()", "torch"),
            Source("eos_token_ids", "eos_token_ids", "list"),
            Source("eos_token_ids", "ONE_STOP", kind="whole", capability=("eos_token_ids", 1)),
        ),
        _hints("prompt_ids", "completion_ids", "sequences", "attention_mask", "prompt_width", "pad_token_id", "eos_token_ids"),
        frozenset(("mask", "batch", "build", "collate", "completions", "make")),
        (),
        either=(("completion_ids", "sequences"),),
    ),
    "collate": Ask(
        _plain("input_ids", "labels")
        + (
            Source("input_ids", _ROWS_OF, way="rows"),
            Source("input_ids", '[{"input_ids": torch.tensor(ids), "labels": torch.tensor(each)} for ids, each in zip(input_ids, labels)]', "torch", "rows"),
            Source("pad_token_id", "pad_token_id", kind="whole"),
        ),
        {"input_ids": ("ids", "rows", "batch", "examples", "features", "samples", "input"), "labels": ("labels",), "pad_token_id": ("!pad", "token", "ids")},
        frozenset(("collate", "collator", "batch", "pad", "build")),
        ("input_ids",),
    ),
    "pack": Ask(
        _plain("input_ids", "labels")
        + (Source("max_length", "max_length", kind="whole"), Source("pad_token_id", "pad_token_id", kind="whole")),
        {**_hints("labels", "max_length", "pad_token_id"), "input_ids": ("ids", "rows", "input", "examples")},
        frozenset(("pack", "packing", "packed", "bin")),
        ("input_ids", "labels", "max_length"),
    ),
    "overlong_penalty": Ask(
        (
            Source("lengths", "lengths"),
            Source("max_length", "max_length", kind="number"),
            Source("buffer", "buffer", kind="number"),
        ),
        _hints("lengths", "max_length", "buffer"),
        frozenset(("overlong", "lengths", "penalty", "soft", "punishment")),
        ("lengths", "max_length", "buffer"),
        shapes=("once", "row"),
    ),
}  # fmt: skip
