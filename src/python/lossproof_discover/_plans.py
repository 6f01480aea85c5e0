"""A function, an op, and one way to call the one for the other: the text of an op function, as it will stand in the adapter."""

import ast
import itertools
from dataclasses import dataclass, field, replace

from lossproof._ops import ARGS

from ._asks import ASKS
from ._made import CLIPS, defaults, fields_of, is_config, takes_numbers, targets
from ._settings import GROUP, number_of, switched_on, values_of
from ._sources import DIVISORS, UNMASKED, Source
from ._words import agreement, words_of

# Ways that are tried of one function for one op, those that names speak for first.
MOST = 40
# Of a parameter; with seven parameters that is what a product can be made of.
_MOST_OF_ONE = 5
# Variables of the lines that are written here and in `_sources`: a module of such a name would be lost.
LOCALS = frozenset(
    "at chosen completion each ids labels length logprob losses mask old_logprob on pair pairs prompt ref_chosen ref_logprob ref_rejected rejected result results row rows steps trained value weights".split()
)
# Much is called so: to unit length, to a range, of a text. Beside a mask or advantages it is whitening.
_VAGUE = {"normalize", "normalise", "standardize", "norm"}
_SCALARS = {"int", "float", "str", "bool", "other"}
_ONE_STOP = "eos_token_ids[0]"
# A number of any name may be a count; such a way is judged before those that leave data to a name that says nothing.
_UNNAMED_DIVISOR = 0.0
# Beside clips, what a function bounds that cannot do without a bound, though its default is None.
_OTHER_BOUND = "3.0"
# A name that says so much is that of the op's own number.
_SURELY = 4


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
    arrays: object = None
    is_switched: bool = False  # a term is on that is off by default
    is_known: bool = False  # of its object: nothing of it is assumed
    ways: frozenset = frozenset()  # of what it hands over
    tempered: frozenset = frozenset()  # fields that are handed over at a temperature that the op has not

    def call(self):
        given = []
        for at, (name, text, _, by_name) in enumerate(self.arguments):
            given.append("%s=%s" % (name, text) if by_name else text)
        return "%s(%s)" % (self.target, ", ".join(given))

    def fields(self, lines):
        """Those that its lines read, in the op's order: `gamma=0.9` reads no gamma."""
        read = {node.id for node in ast.walk(ast.parse("\n".join(lines))) if isinstance(node, ast.Name)}
        return [name for name in ARGS[self.op] if name in read]

    def take(self, sources):
        """What its object or a configuration is sent of the op. Whether that goes together with the rest."""
        for source in sources:
            self.ways |= {source.way} if source.way else set()
            self.tempered |= {source.field} if source.tempered else set()
            self.uses += (source.field,) if source.field in ARGS[self.op] and source.field not in self.uses else ()
            self.capability.update([_together(self.capability, *source.capability)] if source.capability else [])
            self.assumes += [source.assumes] if source.assumes and source.assumes not in self.assumes else []
        if "group_size" in self.capability:
            self.capability.pop("interleaved_groups", None)
        # Logits that are handed over times a temperature are for who divides by it.
        return len(self.ways) <= 1 and self.tempered in (set(), {"logits", "temperature"})


def _together(known, name, value):
    """Kinds of what an op is sent add up."""
    return (name, tuple(dict.fromkeys([*known.get(name, ()), *value]))) if isinstance(value, tuple) else (name, value)


@dataclass
class _Choice:
    text: object  # None: left out
    source: object = None
    score: float = 0
    invented: tuple = ()
    own: tuple = ()
    sources: tuple = ()  # of a configuration
    is_switched: bool = False


def plans(candidate, prefix, op, arrays, configs, own_logprobs=None):
    """Best first. `configs`: the configurations that the module knows."""
    ask = ASKS[op]
    names = ask.named if _is_of_tokens(candidate) else ask.named - _VAGUE
    named = len(words_of(candidate.name.split(".")[-1]) & names) + len(words_of(candidate.name) & names)
    # A step of a sampler that no name says is one is never bound, so that nothing needs to be called.
    if _is_never(ask, candidate) or (ask.settings and named == 0):
        return []
    of_op = _of_op(ask, arrays)
    # transformers calls its processors of logits with whole rows.
    is_processor = {"input_ids", "scores"} <= {each.name for each in candidate.parameters}
    columns = [_choices(parameter, ask, arrays, own_logprobs, configs, of_op, is_processor) for parameter in candidate.parameters]
    if any(not column for column in columns):
        return []
    made = []
    for picked in itertools.islice(itertools.product(*columns), 20_000):
        one = _plan(op, ask, candidate, picked)
        if one is not None:
            made.append(one)
    made.sort(key=lambda plan: -plan.score)
    found = []
    for target, header, text, is_switched in targets(candidate, prefix, configs, of_op):
        for plan in made[:MOST]:
            for shape in _shapes(ask, arrays, plan, candidate):
                copy = Plan(**{**plan.__dict__, "target": target, "header": header, "shape": shape})
                copy.capability, copy.assumes = dict(plan.capability), list(plan.assumes)
                copy.invented, copy.own = [*plan.invented, *text.invented], [*plan.own, *text.own]
                if not copy.take(text.sources) or (ask.settings and not set(ask.settings) & set(copy.uses)):
                    continue
                copy.is_switched = plan.is_switched or is_switched
                copy.is_known = bool(text.sources) and _is_known(text.text, text.invented)
                if shape == "trajectory":
                    copy.assumes.append("one row at a time, its padding cut off")
                if shape == "group":
                    copy.capability["group_size"] = GROUP
                if shape == "alone":
                    copy.assumes.append("labels are cut as ids are")
                copy.agrees = plan.agrees and named > 0
                found.append(copy)
        if len(found) >= 2 * MOST:
            break
    return found


def _is_of_tokens(candidate):
    names = [candidate.name, *(each.name for each in candidate.parameters)]
    return bool({"mask", "advantages"} & set().union(*map(words_of, names)))


def _is_never(ask, candidate):
    names = [candidate.name, *(each.name for each in candidate.parameters)]
    return bool(ask.never & set().union(*map(words_of, names)))


def _is_known(text, invented):
    return not invented and "None" not in text


def _of_op(ask, arrays):
    """What the op is sent for a number of a configuration, by its name: a source, or None."""
    in_arrays = ("", "torch" if arrays == "torch" else "list")
    numbers = [each for each in ask.sources if each.kind != "data" and not each.only_named and each.arrays in in_arrays]

    def source_of(name):
        if number_of(name) == "GROUP" and "group_ids" in ask.hints:
            return Source("group_size", str(GROUP), capability=("group_size", GROUP), assumes="%s=%d" % (name, GROUP))
        best = max(numbers, key=lambda each: _speaks(name, each, ask), default=None)
        if best is None or _speaks(name, best, ask) < _SURELY:
            return None
        return best if best.text != "ONE_STOP" else replace(best, text=_ONE_STOP)

    return source_of


def _speaks(name, source, ask):
    """`discount` is all of gamma; of `max_grad_norm` a limit of lengths is not all."""
    if words_of(source.field) <= words_of(name):
        return _SURELY
    return agreement(name, ask.hints[source.field], _others(ask, source.field))


def nameable(candidate, op):
    """How much the names of a function speak for an op, its parameters included; 0: nothing does."""
    ask = ASKS[op]
    if _is_never(ask, candidate):
        return 0
    own = 3 * len(words_of(candidate.name) & ask.named)
    spoken = 0
    for name in ask.must or ask.either[0]:
        best = max((agreement(p.name, ask.hints[name], _others(ask, name)) for p in candidate.parameters), default=0)
        spoken += max(0, best)
    return own + spoken


def _shapes(ask, arrays, plan, candidate):
    """How often it is called for a request. One token at a time is for numbers alone: of tensors it would excuse every mistake
    between tokens, and a mask is none of one token."""
    shapes = [each for each in ask.shapes if each != "token" or (arrays != "torch" and "completion_mask" not in plan.uses)]
    shapes = [each for each in shapes if each != "pair" or arrays != "torch"]
    shapes = [each for each in shapes if "drawn" not in each or arrays == "torch"]
    of_rows = all("torch.full(" not in text for _, text, source, _ in plan.arguments if source is not None)
    shapes = [each for each in shapes if of_rows or not each.startswith("each")]
    # Labels that are handed over are not cut as if they were ids.
    shapes = [each for each in shapes if each != "alone" or not ("labels" in plan.uses or plan.ways)]
    shapes = [each for each in shapes if each != "trajectory" or not (plan.ways or "completion_mask" in plan.uses)]
    if "group" in shapes and ("group_ids" in plan.uses or "group_size" in plan.capability):
        shapes.remove("group")
    of_group = "groups" in words_of(candidate.name) or "grpo" in words_of(candidate.name)
    if "drawn" in shapes:
        return shapes
    # Plain Python is written for one token, one group, one row.
    return list(reversed(shapes)) if arrays != "torch" or of_group else shapes


def _others(ask, name):
    return {hint.lstrip("!") for other, hints in ask.hints.items() if other != name for hint in hints} | ask.against


def _choices(parameter, ask, arrays, own_logprobs, configs, of_op, is_processor):
    """What may stand for a parameter, best first; [] where nothing can."""
    found = []
    of_config = is_config(parameter)
    if parameter.kind in ("any", "int") and number_of(parameter.name) == "GROUP" and "group_ids" in ask.hints:
        return [_Choice("GROUP", None, 1.0)]
    if not of_config:
        for source in ask.sources:
            if source.arrays and source.arrays != ("torch" if arrays == "torch" else "list"):
                continue
            if not _takes(parameter, source) or (is_processor and source.field == "completion_ids"):
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
            if score < -1 or (source.only_named and score <= 0):
                continue
            if arrays == "torch" and parameter.is_boolean and source.field in _BITS:
                found.append(_Choice("%s.bool()" % text, source, score + _RATHER))
            found.append(_Choice(text, source, score))
    found.sort(key=lambda choice: -choice.score)
    found = found[:_MOST_OF_ONE]
    real = fields_of(parameter)
    if of_config and real and not any(how == "call" for how in real.values()):
        made = configs.texts(real, parameter.annotation, of_op)
        found += [_Choice(each.text, None, score, each.invented, each.own, each.sources) for each, score in made]
    # A number of the op that a function takes is handed over, whatever its default is.
    if found and found[0].source is not None and found[0].source.kind != "data" and found[0].score >= _SURELY and not found[0].source.only_named:
        return [each for each in found if each.score >= _SURELY]
    if parameter.default is not None:
        found.append(_Choice(None, own=defaults([parameter])))
        found += [_Choice(repr(each), None, -0.1) for each in parameter.choices[:6] if repr(each) != parameter.default]
        number = number_of(parameter.name) if parameter.default == "None" and not found[:-1] else None
        switched = switched_on(parameter)
        if number in (*CLIPS, _OTHER_BOUND) or switched:
            text = switched or number
            found.append(_Choice(text, None, -0.05, ((parameter.name, text),), is_switched=bool(switched)))
    elif not any(choice.score > 0 for choice in found) or parameter.kind in _SCALARS:
        number = () if parameter.choices else number_of(parameter.name)
        found += [_Choice(text, None, -0.1 * at, ((parameter.name, text),) if text == number else ()) for at, text in enumerate(values_of(parameter)[:6])]
    if parameter.default is None and "divisor" in ask.hints and arrays == "torch" and takes_numbers(parameter):
        if not any(_is_divisor(choice) or choice.score >= _SURELY for choice in found):
            found += [_Choice(source.text, source, _UNNAMED_DIVISOR) for source in DIVISORS]
    return found


# Fields of zeros and ones, that come as whole numbers.
_BITS = {"completion_mask", "attention_mask", "dones", "next_done"}
# Of two expressions that are named alike.
_RATHER = 0.01


def _is_divisor(choice):
    return choice.source is not None and choice.source.field == "divisor"


def _takes(parameter, source):
    if source.kind == "data":
        return parameter.kind not in _SCALARS
    if source.kind == "whole":
        return parameter.kind in ("any", "int")
    return takes_numbers(parameter)


def _plan(op, ask, candidate, picked):
    one = Plan(op, "", [], (), agrees=True)
    sources, left_out = {}, False
    for parameter, choice in zip(candidate.parameters, picked):
        one.own += choice.own
        if choice.text is None:
            left_out = True
            continue
        source, text = choice.source, choice.text
        one.score += choice.score
        one.invented += choice.invented
        one.is_switched = one.is_switched or choice.is_switched
        if source is not None:
            if source.field in sources:
                return None
            sources[source.field] = source
            one.agrees = one.agrees and choice.score > 0
            if set(source.said) & words_of(parameter.name):
                source = replace(source, assumes="")
            text = _ONE_STOP if text == "ONE_STOP" else text
            one.take([replace(source, text=text)])
        elif text == "GROUP":
            text = str(GROUP)
            one.take([Source("group_size", text, capability=("group_size", GROUP), assumes="%s=%s" % (parameter.name, text))])
        else:
            one.take(choice.sources)
            if not text.startswith("None") and not (choice.sources and _is_known(text, choice.invented)):
                one.assumes.append("%s=%s" % (parameter.name, text))
        one.arguments.append((parameter.name, text, None if source is None else source.field, left_out))
    if any(name not in sources for name in ask.must) or any(not set(group) & set(sources) for group in ask.either):
        return None
    if len(one.ways) > 1:
        return None
    apart = any(_has(ask, name, one.ways) for name, source in sources.items() if not source.way)
    if one.ways & UNMASKED and apart:
        return None  # of rewards and values, who zeroes one zeroes both
    if one.ways & UNMASKED and "completion_mask" in sources:
        if not _may_be_left_out(candidate, picked, "completion_mask"):
            return None  # who needs a mask is to use it
        one.score -= 1.0  # some take one for whitening alone
    if one.ways - UNMASKED and apart:
        one.score -= 0.5  # a mask of tokens beside a number per row: rather both of tokens
    one.shifted = _shifted(candidate, picked)
    return one


def _may_be_left_out(candidate, picked, field):
    return any(p.default is not None for p, choice in zip(candidate.parameters, picked) if choice.source is not None and choice.source.field == field)


def _shifted(candidate, picked):
    given = [(p.name, choice.source) for p, choice in zip(candidate.parameters, picked) if choice.source is not None]
    late = {source.field: name for name, source in given if source.way in ("shifted", "flat")}
    ids = late.get("labels", late.get("input_ids"))
    return {"logits": late["logits"], "ids": ids} if "logits" in late and ids is not None else None


def _has(ask, name, ways):
    """Whether the field has an expression of one of these ways as well."""
    return any(source.field == name and source.way in ways for source in ask.sources)
