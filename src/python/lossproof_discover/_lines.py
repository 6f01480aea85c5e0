"""The lines of an op function: how often a function is called for one request, and where its answer stands."""

from dataclasses import replace

from ._asks import ONE_ROW
from ._settings import GROUP

# What the gradient of a loss is asked of.
_LEAVES = {"loss": "logprobs", "value_loss": "values"}


def body(plan, reading):
    """The lines of the op function. `reading`: [(field, text with %s for the call)]."""
    call = plan.call()
    if plan.shape == "trajectory":
        return _by_trajectory(plan, reading)
    if plan.shape in ("each", "each drawn"):
        return _by_row(plan, reading)
    if plan.shape == "drawn":
        return ['return {"%s": %s}' % (field, text % unit(plan)) for field, text in reading]
    if plan.shape == "alone":
        each = reading[0][1] % _with(plan, {"input_ids": "row"})
        return ['return {"input_ids": [%s for row in input_ids], "labels": [%s for row in labels]}' % (each, each)]
    if plan.shape != "once":
        return _repeated(plan, reading)
    if plan.op in _LEAVES and plan.arrays == "torch":
        _, text = reading[0]
        inner, leaf = text % call, _LEAVES[plan.op]
        return [
            "value, weights = lossproof.gradient(lambda %s: %s, %s)" % (leaf, inner, leaf),
            'return {"loss": value, "loss_weights": weights}',
        ]
    if len(reading) == 1 or (len(reading) > 1 and len({text for _, text in reading}) == 1):
        return ["return {%s}" % ", ".join('"%s": %s' % (name, text % call) for name, text in reading)]
    lines = ["result = %s" % call]
    lines.append("return {%s}" % ", ".join('"%s": %s' % (name, text % "result") for name, text in reading))
    return lines


def unit(plan):
    """The text of one call: the only one, or the first of those for a token, a group, a row or a pair."""
    if plan.shape == "once":
        return plan.call()
    if plan.shape == "drawn":
        return "drawn_from(lambda: %s, *logits.shape)" % plan.call()
    if plan.shape in ("each", "each drawn"):
        return "next(%s for row in range(1))" % _of_row(plan)
    if plan.shape == "alone":
        return _with(plan, {"input_ids": "input_ids[0]"})
    call, loops = _each(plan)
    return "next(%s %s)" % (call, " ".join(loops))


def _each(plan):
    """(the call for one token, group, row or pair; the loops around it, the outer first)."""
    data = [(text, source) for _, text, source, _ in plan.arguments if source is not None]
    if plan.shape == "token":
        singular = {"logprobs": "logprob", "ref_logprobs": "ref_logprob", "old_logprobs": "old_logprob", "completion_mask": "trained"}
        names = {source: singular.get(source, source) for _, source in data}
        loops = ["for rows in zip(%s)" % ", ".join(text for text, _ in data), "for %s in zip(*rows)" % ", ".join(names.values())]
        return _with(plan, names), loops
    if plan.shape == "group":
        return _with(plan, {"rewards": "rewards[at : at + %d]" % GROUP}), ["for at in range(0, len(rewards), %d)" % GROUP]
    if plan.shape == "trajectory":
        trained = "[at for at, on in enumerate(mask) if on]"
        steps = "%s[row][steps]" if plan.arrays == "torch" else "[%s[row][at] for at in steps]"
        zeros = "torch.zeros(len(steps))" if plan.arrays == "torch" else "[0.0] * len(steps)"
        names = {"rewards": steps % "rewards", "values": steps % "values", "dones": zeros, "next_value": "0.0", "next_done": "1.0"}
        return _with(plan, names), ["for row, steps in enumerate(%s for mask in completion_mask)" % trained, "if steps"]
    if plan.shape == "row":
        return _with(plan, {"lengths": "length"}), ["for length in %s" % ("lengths.tolist()" if plan.arrays == "torch" else "lengths")]
    names = {source: source.replace("_logprobs", "") for _, source in data}
    call = _with(plan, {source: "sum(%s)" % name for source, name in names.items()})
    return call, ["for %s in zip(%s)" % (", ".join(names.values()), ", ".join(names))]


def _repeated(plan, reading):
    """One token, group, row or pair at a time, and of each what is read off."""
    call, loops = _each(plan)
    field, text = reading[0]
    if plan.shape == "token":
        return ['return {"%s": [[%s %s] %s]}' % (field, text % call, loops[1], loops[0])]
    if plan.shape == "group":
        each = ("torch.cat([%s %s])" if plan.arrays == "torch" else "[each %s for each in %s]") % (
            (text % call, loops[0]) if plan.arrays == "torch" else (loops[0], text % call)
        )
        return ['return {"%s": %s}' % (field, each)]
    if plan.shape == "row":
        return ['return {"%s": [float(%s) %s]}' % (field, text % call, loops[0])]
    if len(reading) == 1:
        lines = ["losses = [%s %s]" % (text % call, loops[0])]
    else:
        lines = ["pairs = [%s %s]" % (call, loops[0]), "losses = [%s for pair in pairs]" % (text % "pair")]
    also = "".join(', "%s": [%s for pair in pairs]' % (name, part % "pair") for name, part in reading[1:])
    return [*lines, 'return {"loss": sum(losses) / len(losses), "losses": losses%s}' % also]


def _of_row(plan):
    """The call for one row."""
    given = [(name, ONE_ROW.get(text, text), source, by_name) for name, text, source, by_name in plan.arguments]
    call = replace(plan, arguments=given).call()
    return call if plan.shape == "each" else "drawn_from(lambda: %s, 1, logits.shape[1])[0]" % call


def _by_row(plan, reading):
    rows = "for row in range(len(%s))" % ("logits" if "logits" in plan.uses else "input_ids")
    if len(reading) == 1:
        field, text = reading[0]
        return ['return {"%s": [%s %s]}' % (field, text % _of_row(plan), rows)]
    read = ", ".join('"%s": [%s for result in results]' % (field, text % "result") for field, text in reading)
    return ["results = [%s %s]" % (_of_row(plan), rows), "return {%s}" % read]


def _by_trajectory(plan, reading):
    """The trained tokens of one row at a time; all others stay 0."""
    call, (loop, _) = _each(plan)
    lines = ["%s = [[0.0] * len(row) for row in rewards]" % name for name, _ in reading]
    lines += [loop + ":", "    if not steps:", "        continue", "    result = %s" % call]
    for name, text in reading:
        lines += ["    for at, each in zip(steps, %s):" % (text % "result"), "        %s[row][at] = float(each)" % name]
    return [*lines, "return {%s}" % ", ".join('"%s": %s' % (name, name) for name, _ in reading)]


def _with(plan, instead):
    given = []
    for name, text, source, by_name in plan.arguments:
        text = instead.get(source, text)
        given.append("%s=%s" % (name, text) if by_name else text)
    return "%s(%s)" % (plan.target, ", ".join(given))
