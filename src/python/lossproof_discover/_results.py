"""Where the answer stands in what a function returns, told by shapes; where shapes leave it open, names order the choice."""

import dataclasses
import json
import math
import re

from ._settings import GROUP
from ._sources import WIDTH, lengths_of

# Elements of a tuple that are looked at.
_MOST = 12
# Readings of one value that are tried.
_MOST_READINGS = 6
# field -> shape: track and matrix (B, ·), rows ragged, row (B,), number (). In the order in which they are written; `?` may be
# missing, `!` is read where its name says so, or where there is nothing else; time: (T, B). Of two rows of one field either is it.
FIELDS = {
    "kl": (("kl?", "track"), ("mean_kl!", "number")),
    "logprobs": (("logprobs", "track", "flat"),),
    "entropy": (("entropy", "track", "flat"),),
    "full_kl": (("kl", "track"),),
    "whiten": (("values", "track"),),
    "token_rewards": (("rewards", "track"),),
    "advantages": (("advantages", "row", "tokens", "table"),),
    "clip_advantages": (("advantages", "row"),),
    "loss": (("loss", "number"),),
    "value_loss": (("loss", "number"),),
    "sft_loss": (("loss", "number"),),
    "overlong_penalty": (("penalties", "row"),),
    "filter_rollouts": (("kept", "keep", "kept", "kept groups", "numbers of groups"),),
    "gae": (("advantages", "track", "time"), ("returns?", "track", "time")),
    "preference_loss": (("loss", "mean"), ("losses?", "row"), ("chosen_rewards?", "row"), ("rejected_rewards?", "row")),
    "mask": (("input_ids?", "ids"), ("attention_mask?", "bits"), ("completion_mask", "bits"), ("position_ids!", "matrix")),
    "collate": (("input_ids", "ids"), ("attention_mask", "bits"), ("labels", "matrix"), ("position_ids?", "matrix")),
    "truncate": (("input_ids", "rows"), ("labels", "rows"), ("attention_mask!", "rows"), ("position_ids!", "rows")),
    "penalties": (("logits", "logits"),),
    "sampling": (("logprobs", "scores", "probs"),),
    "pack": (("input_ids", "ids"), ("labels", "matrix"), ("position_ids?", "matrix"), ("segment_ids?", "matrix")),
}
# Of what is called once a token, a group, a row or a pair: of one of them.
UNITS = {
    "token": (("kl", "number"),),
    "group": (("advantages", "row"),),
    "row": (("penalties", "number"),),
    "trajectory": (("advantages", "steps"), ("returns?", "steps")),
    "pair": (("loss", "number"), ("chosen_rewards!", "number"), ("rejected_rewards!", "number")),
}
_OF_A_ROW = {
    "penalties": (("logits", "steps"),),
    "sampling": (("logprobs", "score", "prob"),),
    "truncate": (("input_ids", "steps"), ("labels", "steps"), ("attention_mask!", "steps"), ("position_ids!", "steps")),
}
# Rows that stay, told by a flag for each row or for each group of a table; or by their numbers, or those of the groups.
_TO_ROWS = {
    "keep": "[row for row, keep in enumerate(%s) if keep]",
    "kept groups": "[row for row in range(len(rewards)) if (%%s)[row // %d]]" % GROUP,
    "numbers of groups": "[row for row in range(len(rewards)) if row // %d in list(%%s)]" % GROUP,
}
_ALIKE = {
    "kept": ("kept", "keep", "indices", "kept_indices", "keep_mask", "mask", "idx", "rows"),
    "completion_mask": ("completion_mask", "loss_mask", "mask", "response_mask", "action_mask", "trained", "comp_mask"),
    "attention_mask": ("attention_mask", "attention", "attn", "attn_mask", "att", "att_mask"),
    "input_ids": ("input_ids", "ids", "tokens", "sequences", "batch"),
    "labels": ("labels", "targets", "labs"),
    "position_ids": ("position_ids", "positions", "pos", "pos_ids"),
    "segment_ids": ("segment_ids", "segments", "seq_ids", "seg", "segs", "seg_ids"),
    "advantages": ("advantages", "adv", "advs"),
    "returns": ("returns", "ret", "rets", "targets", "value_targets"),
    "chosen_rewards": ("chosen_rewards", "chosen_reward"),
    "rejected_rewards": ("rejected_rewards", "rejected_reward"),
    "loss": ("loss", "losses", "pg_loss", "policy_loss", "vf_loss", "value_loss", "critic_loss"),
    "losses": ("losses",),
    "mean_kl": ("mean_kl", "kl_mean"),
}


def fields_of(op, shape):
    """What is read off one call."""
    if shape in ("once", "drawn"):
        return FIELDS[op]
    if shape == "alone":
        return (("input_ids", "steps"),)
    return _OF_A_ROW[op] if shape in ("each", "each drawn") else UNITS[shape]


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
    """[(text behind the call, value, name)]: itself, or elements of a tuple, a dict, a data class."""
    if isinstance(value, dict):
        return [("[%s]" % json.dumps(key), each, key) for key, each in value.items() if isinstance(key, str)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [("." + each.name, getattr(value, each.name), each.name) for each in dataclasses.fields(value)]
    if isinstance(value, tuple):
        given = getattr(value, "_fields", names)
        given = given if len(given) == len(value) else [""] * len(value)
        return [("[%d]" % at, each, given[at]) for at, each in enumerate(value[:_MOST])]
    return [("", value, names[0] if len(names) == 1 else "")]


def readings(fields, value, names, rows):
    """Ways to read an answer off `value`, `fields` of FIELDS or UNITS: lists of (field, text with %s for the call), best first.

    What is named as a field and has its shape is in every one of them: a wrong second output is not to be left out of sight."""
    parts = parts_of(value, names)
    found = [([], 0)]
    for field, *shapes in fields:
        name, longer = field.rstrip("?!"), []
        fitting = _fitting(name, shapes, parts, rows)
        if not fitting and name == field:
            return []
        named = [each for each in fitting if each[2] > 0]
        for taken, score in found:
            used = {part for _, part, _ in taken} if name != "losses" else set()
            best = named if name != field and (named or (field.endswith("!") and taken)) else fitting
            free = [each for each in best if each[0] not in used]
            longer += [(taken + [(name, part, behind)], score + by_name) for part, behind, by_name in free[:3]]
            if name != field and not (named and free):
                longer.append((taken, score - 0.5))
        found = longer
    found.sort(key=lambda pair: -pair[1])
    return [[(name, behind % ("%s" + part) if "%s" in behind else "%s" + part + behind) for name, part, behind in taken] for taken, _ in found[:_MOST_READINGS] if taken]


def unread(fields, value, names, reading):
    """Parts that might be one of the op's fields, and that no name says it of: nobody looks at them."""
    if len(fields) == 1:
        return []
    read = {re.sub(r"^%s|\.(mean\(\)|T)$", "", text) for _, text in reading}
    return [part for part, each, _ in parts_of(value, names) if part and part not in read and shape_of(each) is not None]


def _fitting(field, shapes, parts, rows):
    """[(part, what makes the field of it, how much its name speaks for that)], best first."""
    found = []
    for shape in shapes:
        for part, each, name in parts:
            by_name = _named(field, name)
            # What is called so is judged as that, whatever stands in it.
            loosely = by_name > 0 and shape in ("bits", "ids")
            if _fits(each, "matrix" if loosely else shape, rows):
                found.append((part, _behind(shape, each, rows), by_name))
    return sorted(found, key=lambda each: -each[2])


# Numbers that lie between 0 and 1 are probabilities, and others logits: what could not be drawn is minus infinity in them.
_TO_LOGPROBS = dict(scores=".log_softmax(-1)", score=".log_softmax(-1)", probs=".log()", prob=".log()")


def _behind(shape, value, rows):
    if shape == "mean":
        return ".mean()" if shape_of(value) == (rows,) else ""
    if shape in _TO_ROWS:
        return _TO_ROWS[shape]
    return {"tokens": "[:, 0]", "table": ".flatten()", "flat": ".view(len(logits), -1)", "time": ".T", **_TO_LOGPROBS}.get(shape, "")


# Whole numbers are none of these.
_OF_FRACTIONS = {"track", "time", "table", "tokens", "flat"}


def _named(field, name):
    if not name:
        return 0
    return 2 if name.lower() in _ALIKE.get(field, (field,)) else -1


def _fits(value, shape, rows):
    at = shape_of(value)
    if at is None:
        return False
    if shape in _OF_FRACTIONS and hasattr(value, "is_floating_point") and not value.is_floating_point():
        return False
    if shape == "number":
        return all(extent == 1 for extent in at) and not isinstance(value, bool)
    if shape == "row":
        return at == (rows,) and not any(isinstance(x, bool) for x in _lists(value))
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
    if shape == "steps":
        return len(at) == 1
    if shape in ("kept", *_TO_ROWS):
        return _tells_rows(_lists(value), shape, rows) if len(at) == 1 else False
    if shape in _TO_LOGPROBS:
        likely = hasattr(value, "log_softmax") and value.is_floating_point() and bool(((value >= 0) & (value <= 1)).all())
        wide = at[-1:] > (1,) and (len(at) == 1 if shape in ("score", "prob") else len(at) == 2 and at[0] == rows)
        return hasattr(value, "log_softmax") and wide and likely == shape.startswith("prob")
    if shape == "logits":
        return len(at) == 2 and at[0] == rows and (at[1] or 0) > 1
    if shape == "time":
        return len(at) == 2 and at[1] == rows and hasattr(value, "T")
    if len(at) != 2 or at[1] is None or (shape != "matrix" and at[0] != rows and shape != "ids"):
        return False
    if shape == "bits":
        return all(x in (0, 1) for row in _lists(value) for x in row)
    if shape == "ids":
        return any(x > 1 for row in _lists(value) for x in row) and not any(x < 0 for row in _lists(value) for x in row)
    return True


def _tells_rows(flat, shape, rows):
    """Flags are true and false, or 0 and 1; numbers of rows are neither twice there nor all of them flags."""
    flags = all(x in (0, 1) for x in flat)
    if shape == "keep":
        return flags and len(flat) == rows
    if shape == "kept groups":
        return flags and len(flat) * GROUP == rows
    most = rows if shape == "kept" else rows // GROUP
    return not any(isinstance(x, (bool, float)) for x in flat) and len(set(flat)) == len(flat) and all(0 <= x < most for x in flat)


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
