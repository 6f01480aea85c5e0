"""Models that are not called themselves, found among all objects: losses that take hidden states and the head's weight call
the body alone, and a script may step without calling anything."""

import sys
import weakref

from torch import nn

from . import _models

_bodies = weakref.WeakKeyDictionary()


def owner_of(session, body):
    """The language model whose body this module is; None: there is none."""
    if body in _bodies:
        owner = _bodies[body]
        return None if owner is None else owner()
    found = next((model.root for model in _models.known() if model.root is not None and model.body() is body), None)
    if found is None and "transformers" in sys.modules:
        found = _parent(body)
        if found is not None and _models.find(found) is None:
            _models.hugging_face(session, found)
    _bodies[body] = None if found is None else weakref.ref(found)
    return found


def layers_of(tensors):
    """id of each of these tensors that is the weight of a layer to its bias, or None without one."""
    out = {}

    def is_layer(thing):
        weight = thing._parameters.get("weight")
        if weight is not None and id(weight) in tensors and isinstance(getattr(thing, "out_features", None), int):
            out[id(weight)] = thing._parameters.get("bias")
        return False

    _first(is_layer)
    return out


def find_sleeping(session, parameters):
    """Makes the language model known that an optimiser holds and nobody has called. One written by hand has all of the
    optimiser's parameters: there, nothing else tells which of the modules around each other is the model."""
    held = {id(parameter) for parameter in parameters}

    def fits(module):
        own = {id(parameter) for parameter in module.parameters()}
        if _models.is_hugging_face(module):
            return bool(own & held) and _models.causal(module) is None
        return bool(own) and own == held and bool(_vocabularies(module))

    found = _first(fits)
    if found is not None and _models.is_hugging_face(found):
        _models.hugging_face(session, found)
    elif found is not None:
        _models.add(session, found, "hand", max(_vocabularies(found)), seated=False)


def trains_language(session, scorer):
    """An optimiser holds tensors of a language model, known or not called yet, that is no part of this module."""
    parts = {id(module) for module in scorer.modules()}
    others = [model.root for model in _models.known() if model.kind != "score" and id(model.root) not in parts]
    if any(session.held(root) for root in others if root is not None):
        return True

    def trained(module):
        language = id(module) not in parts and _models.is_hugging_face(module) and _models.causal(module) is None
        return language and session.held(module)

    return "transformers" in sys.modules and _first(trained) is not None


def _vocabularies(module):
    sizes = {part.num_embeddings for part in _models.embeddings(module)}
    return [size for size in sizes if _models.heads(module, size)]


def _parent(body):
    return _first(
        lambda thing: thing is not body
        and _models.is_hugging_face(thing)
        and any(part is body for part in (getattr(thing, "base_model", None), *thing._modules.values()))
    )


def _first(fits):
    import gc

    # Parents are not known to their children; this looks through all objects, once for each module that asks.
    for thing in gc.get_objects():
        try:
            # Not isinstance: it asks strange objects for their class, which warns, or imports.
            if issubclass(type(thing), nn.Module) and fits(thing):
                return thing
        except Exception:  # noqa: BLE001 - half-made objects of others
            continue
    return None
