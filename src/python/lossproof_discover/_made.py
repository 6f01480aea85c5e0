"""What a function is called on: a name of the module, or an object that is made with arguments guessed by what they are called."""

import re

from lossproof._ops import ARGS

from ._settings import Text, joined, number_of, switched_on, values_of
from ._words import snake, words_of

_OF_TENSORS = {"shape", "device", "dtype", "ndim", "T", "is_cuda", "requires_grad", "grad", "data", "size", "mask"}
# Where a function cannot do without, though its default is None.
CLIPS = ("0.2", "0.28", "0.5")
_NUMBER = re.compile(r"-?[0-9.]+(e-?[0-9]+)?")


def targets(candidate, prefix, configs, of_op):
    """[(text of what is called, a line that it needs, the Text of what it was made with, whether a term of it is switched on)]. What the
    op is sent goes into an object that is made for each request."""
    name = "%s.%s" % (prefix, candidate.name)
    if candidate.kind in ("function", "static"):
        return [(name, "", Text(""), False)]
    owner = name if candidate.kind == "class" else name.rpartition(".")[0]
    instance = snake(owner.rpartition(".")[2])
    instance += "_object" if instance in ARGS or instance == prefix else ""
    method = "" if candidate.kind == "class" else "." + candidate.name.rpartition(".")[2]
    found = []
    if candidate.kind == "method" and not any(how == "call" for how in candidate.of_self.values()):
        self_made = configs.of_self(candidate.of_self, owner, of_op)
        found.append((name, "SELF=%s" % (self_made.text if candidate.of_self else "None"), self_made, False))
    for made, is_switched in _constructors(candidate, owner, configs, of_op):
        if made.sources or is_switched:
            found.append((made.text + method, "", made, is_switched))
        else:
            found.append((instance + method, "%s = %s" % (instance, made.text), made, False))
    return found


def defaults(parameters):
    """(name, text) of those that are numbers."""
    return tuple((each.name, each.default) for each in parameters if each.kind in ("int", "float") and _NUMBER.fullmatch(each.default or ""))


def _constructors(candidate, owner, configs, of_op):
    """[(Text of an object, whether a term of it is switched on)], its arguments guessed by what they are called; none where one
    cannot be. A clip that is off unless it is given is given first: without it little is left of a loss."""
    given, clips, terms = {}, {}, {}
    for parameter in candidate.made_with:
        source = of_op(parameter.name) if takes_numbers(parameter) else None
        if source is not None:
            given[parameter.name] = Text(source.text, sources=(source,))
        elif parameter.default is None:
            values = _values_for(parameter, configs, of_op)
            if not values:
                return []
            given[parameter.name] = values[0]
        elif parameter.default == "None" and number_of(parameter.name) in CLIPS:
            number = number_of(parameter.name)
            clips[parameter.name] = Text(number, ((parameter.name, number),))
        elif switched_on(parameter):
            number = switched_on(parameter)
            terms[parameter.name] = Text(number, ((parameter.name, number),))
    own = defaults(p for p in candidate.made_with if p.name not in given)
    made = [({**given, **clips}, False)] * bool(clips) + [(given, False)] + [({**given, **clips, **terms}, True)] * bool(terms)
    texts = [(joined(owner, each), is_switched) for each, is_switched in made]
    return [(Text(each.text, each.invented, each.own + own, each.sources), is_switched) for each, is_switched in texts]


def _values_for(parameter, configs, of_op):
    """Texts for a parameter of a constructor that has no default."""
    real = fields_of(parameter)
    if is_config(parameter) and real and "call" not in real.values():
        return [each for each, _ in configs.texts(real, parameter.annotation, of_op)]
    made = configs.made(parameter.annotation)
    if made:
        return [Text(made)]
    number = number_of(parameter.name)
    texts = [text for text in values_of(parameter) if text != "GROUP"]
    return [Text(text, ((parameter.name, text),) if text == number else ()) for text in texts]


def is_config(parameter):
    return bool(words_of(parameter.name) & {"config", "cfg", "args", "conf", "hparams", "settings"}) or "onfig" in parameter.annotation


def takes_numbers(parameter):
    return parameter.kind in ("any", "int", "float")


def fields_of(parameter):
    """{name: how it is used} of what a function reads off a parameter that is no tensor."""
    return {name: how for name, how in parameter.attributes.items() if name.split(".")[0] not in _OF_TENSORS}
