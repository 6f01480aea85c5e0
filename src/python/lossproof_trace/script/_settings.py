"""Arguments of trainers that the script makes: what they declare is what their training is judged by."""

import enum
import functools
import re

from . import _tokenizers

SECRET = re.compile(r"(^|_)(token|key|password|passphrase|secret|credentials?|auth)$")
# Words for tokens of text, not for access.
TOKENS_OF_TEXT = re.compile(r"^(eos|bos|pad|unk|sep|cls|mask|image|video|audio|stop)_token$")
# Lists and dictionaries beyond this are data, not settings.
MOST_ITEMS = 32
# model_init_kwargs, generation_kwargs: one within the other is deep enough.
DEEPEST = 2
LIBRARIES = ("transformers", "trl")
NOTHING = object()


def install(session, module):
    trainer = module.Trainer
    original = trainer.__init__

    @functools.wraps(original)
    def init(self, *args, **kwargs):
        original(self, *args, **kwargs)
        with session.guard("settings"):
            record(session, self)

    trainer.__init__ = init


def record(session, trainer):
    arguments = getattr(trainer, "args", None)
    processing = getattr(trainer, "processing_class", None) or getattr(trainer, "tokenizer", None)
    if processing is not None:
        _tokenizers.used(processing)
    if arguments is None:
        return
    session.write(
        "settings",
        **{"class": type(arguments).__name__},
        trainer=type(trainer).__name__,
        # A trainer of the script's own is one of these, changed in ways that nobody knows.
        bases=[
            base.__name__
            for base in type(trainer).__mro__[1:]
            if base.__name__.endswith("Trainer") and base.__module__.split(".")[0] in LIBRARIES
        ],
        library=type(trainer).__module__.split(".")[0],
        values=values_of(arguments),
    )


def values_of(arguments):
    values = {}
    for name, value in vars(arguments).items():
        if name.startswith("_") or is_secret(name, value):
            continue
        kept = plain(value, 0)
        if kept is not NOTHING:
            values[name] = kept
    return values


def is_secret(name, value):
    """Numbers and switches are none, whatever they are called."""
    if value is None or isinstance(value, (bool, int, float)):
        return False
    return SECRET.search(name) is not None and TOKENS_OF_TEXT.match(name) is None


def plain(value, depth):
    if isinstance(value, enum.Enum):
        value = value.value
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if depth >= DEEPEST or not hasattr(value, "__len__") or len(value) > MOST_ITEMS:
        return NOTHING
    if isinstance(value, dict):
        items = {str(key): plain(item, depth + 1) for key, item in value.items() if not is_secret(str(key), item)}
        return {key: item for key, item in items.items() if item is not NOTHING}
    if isinstance(value, (list, tuple)):
        items = [plain(item, depth + 1) for item in value]
        return NOTHING if any(item is NOTHING for item in items) else items
    return NOTHING
