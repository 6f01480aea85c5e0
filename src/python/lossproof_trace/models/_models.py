"""Which modules are language models, where their heads and their hidden states are, and what is told of each.

Hugging Face models say it themselves (get_output_embeddings). Of a model written by hand it is seen in a call: ids (B, T)
go in, an nn.Embedding of V rows is inside, and a head with V outputs is called or V logits a token come out.
"""

import collections
import threading
import weakref

import torch
from torch import nn

from ._traits import ABSOLUTE, declared_post, placeholders, plain_head, positions, versions

# Modules that only carry another: what they are called with and what they return is the model's own.
CARRIERS = ("DistributedDataParallel", "FullyShardedDataParallel", "DataParallel", "OptimizedModule", "DeepSpeedEngine")

# Those of PEFT, and where they carry it. They call its `forward`, not the module.
ADAPTED = {"PeftModel": "base_model", "PeftMixedModel": "base_model", "BaseTuner": "model"}

# Calls before one backward pass that are remembered: micro-batches, or chunks of a row.
RECENT = 64

# A form of the loss is looked for in so many passes in which there is none that is known: it takes a second or more.
LOOKS = 2

_lock = threading.RLock()
_models = weakref.WeakKeyDictionary()
_watched = weakref.WeakKeyDictionary()
_count = 0
# Called with each module that the script names.
on_watch = []
# Called with each Model when it is first known: of a Hugging Face model, before its first call.
on_made = []


class Model:
    """A language model of the script; holds no module alive."""

    def __init__(self, index, root, kind):
        self.index = index
        self.kind = kind
        self._root = weakref.ref(root)
        self._head = None
        """Weak references to the weight and the bias of a head that is no module of its own, or no part of this one."""
        self._table = None
        self.post = declared_post(root)
        """(ids, whether with gradients) of its latest calls."""
        self.recent = collections.deque(maxlen=RECENT)
        """Modules that carry it in its calls: PEFT's have tensors of their own, before the model."""
        self.outer = weakref.WeakSet()
        """At which the hidden states of it were trained last."""
        self.temperature = 1.0
        """The form of its latest loss that more than one target explains, and how often none was found."""
        self.shape = None
        self.misses = 0
        """Backward passes in which it was asked whether anything but its logits has a gradient."""
        self.asked_beside = 0

    def remember(self, found):
        if found.looked:
            self.shape = found.shape or self.shape
            self.misses = 0 if found.shape is not None else self.misses + 1

    @property
    def worth_a_look(self):
        return self.misses < LOOKS

    @property
    def root(self):
        return self._root()

    @property
    def head(self):
        """The head's module, or None where it is none of its own."""
        if self.kind == "hf":
            return self.root.get_output_embeddings()
        return None if self._head is None else self._head()

    def set_head(self, module):
        self._head = weakref.ref(module)

    def set_table(self, weight, bias):
        self._table = (weakref.ref(weight), None if bias is None else weakref.ref(bias))

    @property
    def table(self):
        """The weight (V, d) of such a head; None where it is a module."""
        return None if self._table is None else self._table[0]()

    def weight(self):
        """(V, d) and (V,) or None, as they are now; None where the head is not of this form."""
        if self.table is not None:
            bias = None if self._table[1] is None else self._table[1]()
            return self.table.detach(), None if bias is None else bias.detach()
        base = plain_head(self.head)
        w = getattr(base, "weight", None)
        if not isinstance(w, torch.Tensor) or w.ndim != 2:
            return None, None
        if type(w).__name__ == "DTensor" or w.numel() == 0:
            return None, None
        b = getattr(base, "bias", None)
        return w.detach(), b.detach() if isinstance(b, torch.Tensor) else None

    def body(self):
        """What gives the hidden states that the head reads, or None."""
        if self.kind != "hf":
            return None
        root = self.root
        base = getattr(root, "base_model", root)
        if base is not root and isinstance(base, nn.Module):
            return base
        for name in ("model", "transformer", "gpt_neox", "language_model", "decoder"):
            child = getattr(root, name, None)
            if isinstance(child, nn.Module):
                return child
        return None


def shown(module):
    """Its Model, where a gradient has shown which tensor its head is; or None."""
    model = _models.get(module)
    return model if model is not None and model.table is not None else None


def find(module):
    """The Model of this very module, or None; Hugging Face models become one when they are first asked for."""
    return _models.get(module)


def known():
    return [model for _, model in sorted(((model.index, model) for model in list(_models.values())), key=lambda p: p[0])]


def carried(module):
    """The module that one of CARRIERS or ADAPTED carries, through any number of them."""
    for _ in range(8):
        names = {kind.__name__ for kind in type(module).__mro__}
        inner = getattr(module, "_orig_mod", None) if "OptimizedModule" in names else None
        if inner is None and names & set(CARRIERS):
            inner = getattr(module, "module", None)
        if inner is None:
            inner = next((getattr(module, place, None) for name, place in ADAPTED.items() if name in names), None)
        if not isinstance(inner, nn.Module):
            return module
        module = inner
    return module


def virtual_tokens(module):
    """So many positions that PEFT's prompt tuning puts before each row; 0: none that the model inside sees as positions."""
    config = getattr(module, "active_peft_config", None) if adapted(module) else None
    if config is None or not getattr(config, "is_prompt_learning", False):
        return 0
    if "PREFIX" in str(getattr(config, "peft_type", "")) or getattr(module, "_disable_adapters", False):
        return 0
    return int(getattr(config, "num_virtual_tokens", 0) or 0)


def adapted(module):
    return any(kind.__name__ in ADAPTED for kind in type(module).__mro__)


def is_hugging_face(module):
    get = getattr(module, "get_output_embeddings", None)
    if get is None or getattr(module, "config", None) is None:
        return False
    # PEFT's wrappers answer for the model inside, by way of __getattr__.
    if not callable(getattr(type(module), "get_output_embeddings", None)):
        return False
    try:
        head = get()
    except Exception:  # noqa: BLE001 - some kinds of model raise NotImplementedError
        return False
    return isinstance(head, nn.Module)


def causal(module):
    """None, or why what it trains is not the next token."""
    config = module.config
    if getattr(config, "is_encoder_decoder", False):
        return "encoder-decoder"
    # A script's own class keeps the name of what it derives from further up.
    names = [owner.__name__ for owner in type(module).__mro__]
    masked = any(name.endswith(("ForMaskedLM", "ForPreTraining")) for name in names)
    if masked and not getattr(config, "is_decoder", False):
        return "masked"
    return None


def add(session, module, kind, vocab, head=None, device=None, seated=True, table=None):
    """The Model of a module that is seen to be one, with its record. `seated`: it is seen, or known of its kind, which
    positions it looks up."""
    global _count
    with _lock:
        if module in _models:
            return _models[module]
        model = Model(_count, module, kind)
        _count += 1
        if head is not None:
            model.set_head(head)
        if table is not None:
            model.set_table(*table)
        _models[module] = model
    head = model.head
    parameters = list(module.parameters())
    first = parameters[0] if parameters else None
    if model.index == 0:
        session.write("versions", versions=versions(), device=str((device or first.device).type))
    weight, _ = model.weight()
    session.write(
        "model",
        model=model.index,
        **{"class": type(module).__name__},
        head=next((name for name, part in module.named_modules() if part is head), None) if head is not None else None,
        vocab_size=int(vocab),
        hidden_size=None if weight is None else int(weight.shape[1]),
        parameters=sum(int(getattr(p, "ds_numel", p.numel())) for p in parameters),
        dtype=str(first.dtype).replace("torch.", "") if first is not None else "unknown",
        positions=positions(module) if seated or positions(module) != "absolute" else "unknown",
        name=str(getattr(getattr(module, "config", None), "_name_or_path", "") or getattr(module, "name_or_path", "") or ""),
        placeholders=placeholders(module),
    )
    for listener in on_made:
        listener(model)
    return model


def hugging_face(session, module):
    head = module.get_output_embeddings()
    weight = getattr(getattr(head, "base_layer", head), "weight", None)
    config = getattr(module.config, "get_text_config", lambda: module.config)()
    vocab = getattr(head, "out_features", None) or (weight.shape[0] if weight is not None and weight.ndim == 2 else None)
    return add(session, module, "hf", vocab or getattr(config, "vocab_size", 0))


def index_of(session, module):
    """Index of the language model that this module is or carries (generate() is called on wrappers too); -1: none."""
    with session.guard("models"):
        for part in (module, carried(module)):
            if part in _models:
                return _models[part].index
        for part in carried(module).modules():
            if part in _models:
                return _models[part].index
            if is_hugging_face(part):
                return hugging_face(session, part).index
    return -1


def models_of(parameters):
    """Indexes of the models that have any of these parameters."""
    held = {id(parameter) for parameter in parameters}
    out = []
    for model in known():
        root = model.root
        around = [root, *model.outer] if root is not None else []
        if any(id(parameter) in held for module in around for parameter in module.parameters()):
            out.append(model.index)
    return out


def watch(model, head=None, ids=None):
    """See ../_watch.py."""
    _watched[model] = (None if head is None else weakref.ref(head), ids)
    for listener in on_watch:
        listener(model)
    return model


def watched(module):
    """(head or None, name or place of its ids or None), or None where the script did not register it."""
    entry = _watched.get(module)
    return None if entry is None else (entry[0]() if entry[0] is not None else None, entry[1])


def embeddings(module):
    """Rows of the embeddings inside, without those of positions."""
    return [part for name, part in _named_embeddings(module) if not _is_absolute(name)]


def tables(module):
    """(V, d) of parameters that may be looked up without an nn.Embedding: two axes, in no module of torch's own."""
    found = {}
    for part in module.modules():
        if not type(part).__module__.startswith("torch.nn."):
            for value in part._parameters.values():
                if value is not None and value.ndim == 2 and value.shape[0] != value.shape[1]:
                    found[int(value.shape[0])] = int(value.shape[1])
    return found


def seats(module):
    """The ids of embeddings of positions."""
    # "pe" is a name by itself: "token_type" ends with it.
    return {id(part) for name, part in _named_embeddings(module) if _is_absolute(name) and not _is_kind(name)}


def _named_embeddings(module):
    return [(name, part) for name, part in module.named_modules() if isinstance(part, nn.Embedding)]


def _is_kind(name):
    return any(word in name.lower() for word in ("type", "segment"))


def _is_absolute(name):
    return any(word in name.lower() + "." for word in ABSOLUTE)


def heads(module, vocab):
    """Linear parts with an output a token of the vocabulary."""
    return [part for part in module.modules() if getattr(part, "out_features", None) == vocab]
