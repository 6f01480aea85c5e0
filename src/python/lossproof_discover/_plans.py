"""A function, an op, and one way to call the one for the other: the text of an op function, as it will stand in the adapter."""

import itertools
import re
from dataclasses import dataclass, field

from lossproof._ops import ARGS

from ._settings import number_of, values_of
from ._sources import ASKS, GROUP
from ._words import agreement, snake, words_of

# Ways that are tried of one function for one op, those that names speak for first.
MOST = 40
# Of a parameter; with seven parameters that is what a product can be made of.
_MOST_OF_ONE = 5
_OF_TENSORS = {"shape", "device", "dtype", "ndim", "T", "is_cuda", "requires_grad", "grad", "data", "size", "mask"}
# Where a function cannot do without, though its default is None.
_CLIPS = ("0.2", "0.28", "0.5")
_BOUNDS = (*_CLIPS, "3.0")
# What the gradient of a loss is asked of.
_LEAVES = {"loss": "logprobs", "value_loss": "values"}
_NUMBER = re.compile(r"-?[0-9.]+(e-?[0-9]+)?")
_SCALARS = {"int", "float", "str", "bool", "other"}


@dataclass
class Plan:
    op: str
    target: str  # what is called: text
    arguments: list  # [(parameter, text, field or None)]
    uses: tuple  # fields of the op
    shape: str = "once"
    header: str = ""  # a line of the module that the target needs
    capability: dict = field(default_factory=dict)
    # {"logits": parameter, "ids": parameter}, where it is right only for who hands over one token later beside one row earlier.
    shifted: object = None
    assumes: list = field(default_factory=list)
    invented: list = field(default_factory=list)  # (name, text) of numbers that nobody but practice gave
    own: list = field(default_factory=list)  # of those that are the project's: defaults
    score: float = 0
    # Every argument that is data has a name that speaks for it, and the function's own name does.
    agrees: bool = False
    one_stop: bool = False
    arrays: object = None

    def call(self):
        given = []
        for at, (name, text, _, by_name) in enumerate(self.arguments):
            given.append("%s=%s" % (name, text) if by_name else text)
        return "%s(%s)" % (self.target, ", ".join(given))

    def fields(self):
        """Those that stand in its text, in the op's order."""
        text = " ".join(text for _, text, _, _ in self.arguments)
        return [name for name in ARGS[self.op] if re.search(r"\b%s\b" % name, text)]


@dataclass
class _Choice:
    text: object  # None: left out
    source: object = None
    score: float = 0
    invented: tuple = ()
    own: tuple = ()


def plans(candidate, prefix, op, arrays, configs, own_logprobs=None):
    """Best first. `configs`: the configurations that the module knows."""
    ask = ASKS[op]
    named = len(words_of(candidate.name.split(".")[-1]) & ask.named) + len(words_of(candidate.name) & ask.named)
    columns = [_choices(parameter, ask, arrays, own_logprobs, configs) for parameter in candidate.parameters]
    if any(not column for column in columns):
        return []
    made = []
    for picked in itertools.islice(itertools.product(*columns), 20_000):
        one = _plan(op, ask, candidate, picked)
        if one is not None:
            made.append(one)
    made.sort(key=lambda plan: -plan.score)
    found = []
    for target, header, invented, own in targets(candidate, prefix, configs):
        for plan in made[:MOST]:
            for shape in _shapes(ask, arrays, plan, candidate):
                copy = Plan(**{**plan.__dict__, "target": target, "header": header, "shape": shape})
                copy.capability, copy.assumes = dict(plan.capability), list(plan.assumes)
                copy.invented, copy.own = [*plan.invented, *invented], [*plan.own, *own]
                if shape == "group":
                    copy.capability["group_size"] = GROUP
                copy.agrees = plan.agrees and named > 0
                found.append(copy)
        if len(found) >= 2 * MOST:
            break
    return found


def nameable(candidate, op):
    """How much the names of a function speak for an op, its parameters included; 0: nothing does."""
    ask = ASKS[op]
    own = 3 * len(words_of(candidate.name) & ask.named)
    spoken = 0
    for name in ask.must or ask.either:
        best = max((agreement(p.name, ask.hints[name], _others(ask, name)) for p in candidate.parameters), default=0)
        spoken += max(0, best)
    return own + spoken


def _shapes(ask, arrays, plan, candidate):
    """How often it is called for a request. One token at a time is for numbers alone: of tensors it would excuse every mistake
    between tokens, and a mask is none of one token."""
    shapes = [each for each in ask.shapes if each != "token" or (arrays != "torch" and "completion_mask" not in plan.uses)]
    shapes = [each for each in shapes if each != "pair" or arrays != "torch"]
    if "group" in shapes and ("group_ids" in plan.uses or "group_size" in plan.capability):
        shapes.remove("group")
    of_group = "groups" in words_of(candidate.name) or "grpo" in words_of(candidate.name)
    # Plain Python is written for one token, one group, one row.
    return list(reversed(shapes)) if arrays != "torch" or of_group else shapes


def _others(ask, name):
    return {hint.lstrip("!") for other, hints in ask.hints.items() if other != name for hint in hints} | ask.against


def _choices(parameter, ask, arrays, own_logprobs, configs):
    """What may stand for a parameter, best first; [] where nothing can."""
    found = []
    is_config = bool(words_of(parameter.name) & {"config", "cfg", "args", "conf", "hparams"}) or "onfig" in parameter.annotation
    if parameter.kind in ("any", "int") and number_of(parameter.name) == "GROUP" and "group_ids" in ask.hints:
        return [_Choice("GROUP", None, 1.0)]
    if not is_config:
        for source in ask.sources:
            if source.arrays and source.arrays != ("torch" if arrays == "torch" else "list"):
                continue
            if not _takes(parameter, source):
                continue
            text = source.text
            if "OWN_LOGPROBS" in text:
                if not own_logprobs:
                    continue
                text = own_logprobs
            own_name = 4 if parameter.name == source.field else 0
            score = own_name or agreement(parameter.name, source.hints or ask.hints[source.field], _others(ask, source.field) - set(source.hints))
            if parameter.default is not None and score <= 0:
                continue  # what may be left out is not given what its name does not ask for
            if score < -1:
                continue
            found.append(_Choice(text, source, score))
    found.sort(key=lambda choice: -choice.score)
    found = found[:_MOST_OF_ONE]
    real = {name: how for name, how in parameter.attributes.items() if name.split(".")[0] not in _OF_TENSORS}
    if is_config and real and not any(how == "call" for how in real.values()):
        found += [_Choice(made.text, None, score, made.invented, made.own) for made, score in configs.texts(real, parameter.annotation)]
    if parameter.default is not None:
        found.append(_Choice(None, own=_defaults([parameter])))
        found += [_Choice(repr(each), None, -0.1) for each in parameter.choices[:6] if repr(each) != parameter.default]
        number = number_of(parameter.name) if parameter.default == "None" and not found[:-1] else None
        if number in _BOUNDS:
            found.append(_Choice(number, None, -0.05, ((parameter.name, number),)))
    elif not any(choice.score > 0 for choice in found) or parameter.kind in _SCALARS:
        number = () if parameter.choices else number_of(parameter.name)
        found += [_Choice(text, None, -0.1 * at, ((parameter.name, text),) if text == number else ()) for at, text in enumerate(values_of(parameter)[:6])]
    return found


def _takes(parameter, source):
    if source.kind == "data":
        return parameter.kind not in _SCALARS
    if source.kind == "whole":
        return parameter.kind in ("any", "int")
    return parameter.kind in ("any", "int", "float")


def _plan(op, ask, candidate, picked):
    uses, sources, ways, score, agrees = [], {}, set(), 0.0, True
    arguments, capability, assumes, invented, own, left_out, one_stop = [], {}, [], [], [], False, False
    for parameter, choice in zip(candidate.parameters, picked):
        own += choice.own
        if choice.text is None:
            left_out = True
            continue
        source = choice.source
        score += choice.score
        invented += choice.invented
        text = choice.text
        if source is not None:
            if source.field in uses:
                return None
            uses.append(source.field)
            sources[source.field] = source
            ways |= {source.way} if source.way else set()
            if len(ways) > 1:
                return None
            agrees = agrees and choice.score > 0
            capability.update([source.capability] if source.capability else [])
            if source.assumes:
                assumes.append(source.assumes)
            if text == "ONE_STOP":
                one_stop, text = True, "eos_token_ids[0]"
        elif text == "GROUP":
            text = str(GROUP)
            capability["group_size"] = GROUP
            assumes.append("%s=%d" % (parameter.name, GROUP))
        elif not text.startswith("None"):
            assumes.append("%s=%s" % (parameter.name, text))
        arguments.append((parameter.name, text, None if source is None else source.field, left_out))
    if any(name not in uses for name in ask.must) or (ask.either and not set(ask.either) & set(uses)):
        return None
    if ways and any(_has(ask, name, ways) for name, source in sources.items() if not source.way):
        score -= 0.5  # a mask of tokens beside a number a row: rather both of tokens
    if "group_size" in capability:
        capability.pop("interleaved_groups", None)
    shifted = _shifted(candidate, picked)
    return Plan(op, "", arguments, tuple(uses), capability=capability, shifted=shifted, assumes=assumes, invented=invented, own=own, score=score, agrees=agrees, one_stop=one_stop)


def _shifted(candidate, picked):
    given = [(p.name, choice.source) for p, choice in zip(candidate.parameters, picked) if choice.source is not None]
    late = {source.field: name for name, source in given if source.way in ("shifted", "flat")}
    ids = late.get("labels", late.get("input_ids"))
    return {"logits": late["logits"], "ids": ids} if "logits" in late and ids is not None else None


def _has(ask, name, ways):
    """Whether the field has an expression of one of these ways as well."""
    return any(source.field == name and source.way in ways for source in ask.sources)


def targets(candidate, prefix, configs):
    """[(text of what is called, a line that it needs, numbers in it that nobody gave, those that are the project's own)]."""
    name = "%s.%s" % (prefix, candidate.name)
    if candidate.kind in ("function", "static"):
        return [(name, "", (), ())]
    made = _constructors(candidate, configs)
    owner = name if candidate.kind == "class" else name.rpartition(".")[0]
    instance = snake(owner.rpartition(".")[2])
    instance += "_object" if instance in ARGS or instance == prefix else ""
    method = "" if candidate.kind == "class" else "." + candidate.name.rpartition(".")[2]
    found = []
    if candidate.kind == "method" and not any(how == "call" for how in candidate.of_self.values()):
        owner_text = name.rpartition(".")[0]
        self_made = configs.of_self(candidate.of_self, owner_text)
        found.append((name, "SELF=%s" % (self_made.text if candidate.of_self else "None"), self_made.invented, self_made.own))
    for each in made:
        own = _defaults(p for p in candidate.made_with if p.name not in dict(each))
        found.append((instance + method, "%s = %s(%s)" % (instance, owner, _joined(each)), _numbers(each), own))
    return found


def _joined(given):
    return ", ".join("%s=%s" % pair for pair in given)


def _defaults(parameters):
    """(name, text) of those that are numbers."""
    return tuple((each.name, each.default) for each in parameters if each.kind in ("int", "float") and _NUMBER.fullmatch(each.default or ""))


def _numbers(given):
    return tuple((name, text) for name, text in given if text == number_of(name))


def _constructors(candidate, configs):
    """Lists of the arguments of a constructor, from what they are called; none where one cannot be guessed. A clip that is off
    unless it is given is given first: without it little is left of a loss."""
    given, clips = [], []
    for parameter in candidate.made_with:
        if parameter.default is None:
            values = [configs.made(parameter.annotation)] if configs.made(parameter.annotation) else values_of(parameter)
            if not values or values[0] == "GROUP":
                return []
            given.append((parameter.name, values[0]))
        elif parameter.default == "None" and number_of(parameter.name) in _CLIPS:
            clips.append((parameter.name, number_of(parameter.name)))
    return ([given + clips] if clips else []) + [given]


# How often a function is called for one request: the line, with % for its name and arguments in the op's own terms.
def body(plan, reading):
    """The lines of the op function. `reading`: [(field, text with %s for the call)]."""
    call = plan.call()
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


def _repeated(plan, reading):
    """One token, group, row or pair at a time."""
    data = [(name, text, source) for name, text, source, _ in plan.arguments if source is not None]
    singular = {"logprobs": "logprob", "ref_logprobs": "ref_logprob", "old_logprobs": "old_logprob", "completion_mask": "trained"}
    if plan.shape == "token":
        names = [singular.get(source, source) for _, _, source in data]
        call = _with(plan, dict(zip([source for _, _, source in data], names)))
        inner = "[%s for %s in zip(*rows)]" % (call, ", ".join(names))
        return ["rows_of = zip(%s)" % ", ".join(text for _, text, _ in data), 'return {"%s": [%s for rows in rows_of]}' % (reading[0][0], inner)]
    if plan.shape == "group":
        call = _with(plan, {"rewards": "rewards[at : at + %d]" % GROUP})
        if plan.arrays == "torch":
            return ['return {"advantages": torch.cat([%s for at in range(0, len(rewards), %d)])}' % (call, GROUP)]
        return ['return {"advantages": [each for at in range(0, len(rewards), %d) for each in %s]}' % (GROUP, call)]
    if plan.shape == "row":
        call = _with(plan, {"lengths": "length"})
        over = "lengths.tolist()" if plan.arrays == "torch" else "lengths"
        return ['return {"penalties": [float(%s) for length in %s]}' % (call, over)]
    names = {"chosen_logprobs": "chosen", "rejected_logprobs": "rejected", "ref_chosen_logprobs": "ref_chosen", "ref_rejected_logprobs": "ref_rejected"}
    call = _with(plan, {source: "sum(%s)" % names[source] for _, _, source in data})
    losses = "[%s for %s in zip(%s)]" % (call, ", ".join(names[s] for _, _, s in data), ", ".join(s for _, _, s in data))
    return ["losses = %s" % losses, 'return {"loss": sum(losses) / len(losses), "losses": losses}']


def _with(plan, instead):
    given = []
    for name, text, source, by_name in plan.arguments:
        text = instead.get(source, text)
        given.append("%s=%s" % (name, text) if by_name else text)
    return "%s(%s)" % (plan.target, ", ".join(given))
