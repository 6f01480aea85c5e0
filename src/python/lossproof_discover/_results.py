"""Where the answer stands in what a function returns, told by shapes; where shapes leave it open, names order the choice."""

import math

from ._sources import WIDTH, lengths_of

# Elements of a tuple that are looked at.
_MOST = 6
# field -> shape: track and matrix (B, ·), rows ragged, row (B,), number ().
FIELDS = {
    "kl": (("kl", "track"), ("mean_kl", "number")),
    "logprobs": (("logprobs", "track"), ("logprobs", "flat")),
    "entropy": (("entropy", "track"), ("entropy", "flat")),
    "full_kl": (("kl", "track"),),
    "whiten": (("values", "track"),),
    "token_rewards": (("rewards", "track"),),
    "advantages": (("advantages", "row"), ("advantages", "tokens"), ("advantages", "table")),
    "clip_advantages": (("advantages", "row"),),
    "loss": (("loss", "number"),),
    "value_loss": (("loss", "number"),),
    "sft_loss": (("loss", "number"),),
    "overlong_penalty": (("penalties", "row"),),
}
# Several at once, in the order in which they are written; `?` may be missing.
RECORDS = {
    "gae": (("advantages", "track"), ("returns?", "track")),
    "preference_loss": (("loss", "mean"), ("losses?", "row"), ("chosen_rewards?", "row"), ("rejected_rewards?", "row")),
    "mask": (("input_ids?", "ids"), ("attention_mask?", "bits"), ("completion_mask", "bits")),
    "collate": (("input_ids", "ids"), ("attention_mask", "bits"), ("labels", "matrix"), ("position_ids?", "matrix")),
    "truncate": (("input_ids", "rows"), ("labels", "rows")),
    "pack": (("input_ids", "ids"), ("labels", "matrix"), ("position_ids?", "matrix"), ("segment_ids?", "matrix")),
}
_ALIKE = {
    "completion_mask": ("completion_mask", "loss_mask", "mask", "response_mask", "action_mask", "trained", "comp_mask"),
    "attention_mask": ("attention_mask", "attention", "attn", "attn_mask"),
    "input_ids": ("input_ids", "ids", "tokens", "sequences", "batch"),
    "labels": ("labels", "targets"),
    "position_ids": ("position_ids", "positions"),
    "segment_ids": ("segment_ids", "segments", "seq_ids"),
    "advantages": ("advantages", "adv", "advs"),
    "returns": ("returns", "ret", "rets", "targets"),
    "chosen_rewards": ("chosen_rewards",),
    "rejected_rewards": ("rejected_rewards",),
    "loss": ("loss", "losses", "pg_loss", "policy_loss", "vf_loss", "value_loss", "critic_loss"),
    "losses": ("losses",),
}


def shape_of(value):
    """Its dimensions; None where it is no array of numbers. Ragged rows are (B, None)."""
    if hasattr(value, "shape") and not isinstance(value, type):
        try:
            return tuple(int(extent) for extent in value.shape)
        except TypeError:
            return None
    if isinstance(value, bool) or isinstance(value, (int, float)):
        return ()
    if isinstance(value, (list, tuple)):
        inside = [shape_of(each) for each in value]
        if not inside or any(each is None for each in inside):
            return (0,) if not inside else None
        if all(each == inside[0] for each in inside):
            return (len(inside),) + inside[0]
        return (len(inside), None) if all(len(each) == 1 for each in inside) else None
    return None


def parts_of(value, names):
    """[(text behind the call, value, name)]: itself, and elements of a tuple or a dict."""
    found = [("", value, names[0] if len(names) == 1 else "")]
    if isinstance(value, dict):
        found = [("[%r]" % key, each, key) for key, each in value.items() if isinstance(key, str)]
    elif isinstance(value, tuple):
        given = names if len(names) == len(value) else [""] * len(value)
        found = [("[%d]" % at, each, given[at]) for at, each in enumerate(value[:_MOST])]
    return [(text.replace("'", '"'), each, name) for text, each, name in found]


def readings(op, value, names, rows):
    """Ways to read an answer off `value`: lists of (field, text with % for the call), best first; and whether it takes one name
    for what is returned (several fields of it are answered)."""
    parts = parts_of(value, names)
    if op in RECORDS:
        return _records(RECORDS[op], parts, rows)
    found = []
    for field, shape in FIELDS[op]:
        for text, each, name in parts:
            if _fits(each, shape, rows):
                found.append((_named(field, name), [(field, "%s" + text + _BEHIND.get(shape, ""))]))
    found.sort(key=lambda pair: -pair[0])
    return [reading for _, reading in found]


_BEHIND = {"tokens": "[:, 0]", "table": ".flatten()", "flat": ".view(len(logits), -1)"}


def _records(fields, parts, rows):
    choices = []
    for field, shape in fields:
        name = field.rstrip("?")
        fitting = [(text, _named(name, given)) for text, each, given in parts if _fits(each, shape, rows)]
        fitting.sort(key=lambda pair: -pair[1])
        if not fitting and not field.endswith("?"):
            return []
        choices.append((field, shape, fitting))
    found = [([], 0)]
    for field, shape, fitting in choices:
        name, longer = field.rstrip("?"), []
        for taken, score in found:
            used = {text for _, text in taken}
            free = [(text, by_name) for text, by_name in fitting if text not in used or (name == "losses")]
            longer += [(taken + [(name, text)], score + by_name) for text, by_name in free[:3]]
            if field.endswith("?"):
                longer.append((taken, score - 0.5))
        found = longer
    found.sort(key=lambda pair: -pair[1])
    shapes = dict((field.rstrip("?"), shape) for field, shape in fields)
    return [
        [(name, "%s" + text + (".mean()" if shapes[name] == "mean" and _is_row(parts, text, rows) else "")) for name, text in taken]
        for taken, _ in found[:6]
        if taken
    ]


def _is_row(parts, text, rows):
    return any(each_text == text and shape_of(each) == (rows,) for each_text, each, _ in parts)


def _named(field, name):
    if not name:
        return 0
    return 2 if name.lower() in _ALIKE.get(field, (field,)) else -1


def _fits(value, shape, rows):
    at = shape_of(value)
    if at is None:
        return False
    if shape == "number":
        return all(extent == 1 for extent in at) and not isinstance(value, bool)
    if shape == "row":
        return at == (rows,)
    if shape == "mean":
        return at == () or (at == (rows,) and hasattr(value, "mean"))
    if shape == "tokens":
        return at == (rows, WIDTH) and _is_even(value, rows)
    if shape == "table":
        return len(at) == 2 and at[0] * (at[1] or 0) == rows and at[1] > 1 and hasattr(value, "flatten")
    if shape == "flat":
        return len(at) == 1 and at[0] > rows and at[0] % rows == 0 and hasattr(value, "view")
    if shape == "rows":
        return len(at) == 2
    if len(at) != 2 or at[1] is None or (shape != "matrix" and at[0] != rows and shape != "ids"):
        return False
    if shape == "bits":
        return all(x in (0, 1) for row in _lists(value) for x in row)
    if shape == "ids":
        return any(x > 1 for row in _lists(value) for x in row) and not any(x < 0 for row in _lists(value) for x in row)
    return True


def _is_even(value, rows):
    """It is read off the first token of a row, which speaks for the others only where all of them have the same."""
    cut = [row[:length] for row, length in zip(_lists(value), lengths_of(rows))]
    return all(abs(x - row[0]) <= 1e-5 * max(1.0, abs(x)) or x != x for row in cut for x in row)


def told_shape(value, op, rows):
    """What is not an answer, in a few words."""
    for _, each, name in parts_of(value, []):
        if op == "advantages" and shape_of(each) == (rows, WIDTH) and not _is_even(each, rows):
            return "the tokens of a row have different ones"
    at = shape_of(value)
    return "(%s)" % ", ".join("?" if extent is None else str(extent) for extent in at) if at is not None else type(value).__name__


def _lists(value):
    return value.tolist() if hasattr(value, "tolist") else value


def finite(value):
    """Whether it is a number or array of which not all is NaN."""
    flat = _flat(_lists(value))
    return any(isinstance(x, (int, float)) and not math.isnan(x) for x in flat)


def _flat(value):
    if isinstance(value, (list, tuple)):
        return [x for each in value for x in _flat(each)]
    return [value]
