"""Tokenizers of the script, saved beside the trace, so that rows can be shown as text and templates be known.

Only weak references are kept and nothing of a tokenizer is changed: libraries hash and pickle them.
"""

import functools
import os
import weakref

from . import _added

# A pad token that was added without resizing the model lies beyond its vocabulary, and is a finding, not another model's.
SLACK = 64
# A script with several (reward models, judges) is told apart by the first few.
MOST_SAVED = 4

_known = []
_used = []


def install(session, module):
    base = module.PreTrainedTokenizerBase
    original = base.__init__
    saver = Saver(session)

    @functools.wraps(original)
    def init(self, *args, **kwargs):
        original(self, *args, **kwargs)
        with session.guard("tokenizer"):
            remember(self)

    base.__init__ = init
    _added.install(session, base)
    listen(session, saver)


def install_foreign(session, module):
    """Of a library with tokenizers of its own; they count where transformers' are none."""
    from . import _foreign

    _foreign.install(session, module)
    listen(session, Saver(session, lambda size: [] if _known else _foreign.fitting(size)))


def listen(session, saver):
    session.on_training.append(saver.training)
    session.on_ending.append(saver.ending)


def remember(tokenizer):
    _known[:] = [reference for reference in _known if reference() is not None]
    _known.append(weakref.ref(tokenizer))


def used(processing):
    """What a trainer was given to work with: a tokenizer, or a processor that has one."""
    tokenizer = getattr(processing, "tokenizer", processing)
    if hasattr(tokenizer, "save_pretrained") and hasattr(tokenizer, "pad_token_id"):
        _used.append(weakref.ref(tokenizer))


class Saver:
    def __init__(self, session, others=None):
        self.session = session
        # Of a vocabulary's size: tokenizers instead of transformers'.
        self.others = others
        # References to those that were looked at; ids alone could be another object's later.
        self.seen = []
        self.saved = 0
        self.model = None

    def training(self, session, model):
        if self.model is None:
            self.model = model
            self.save()

    def ending(self, session):
        # A script that trained nothing needs no text.
        if self.model is not None:
            self.save()

    def save(self):
        session = self.session
        if session.rank != 0:
            return
        vocabulary = session.vocabularies.get(self.model)
        for tokenizer in candidates() if self.others is None else self.others(vocabulary):
            if self.saved >= MOST_SAVED or any(reference() is tokenizer for reference in self.seen):
                continue
            self.seen.append(weakref.ref(tokenizer))
            with session.guard("tokenizer"):
                if vocabulary is None or len(tokenizer) <= vocabulary + SLACK:
                    self.save_one(tokenizer)

    def save_one(self, tokenizer):
        session = self.session
        # Processes without ranks are all rank 0, and share the folder.
        name = "tokenizer-%d" % self.saved
        node = os.environ.get("LOSSPROOF_TRACE_NODE")
        if node:
            # Folders of several nodes become one.
            name = "tokenizer-%s-%d-%d" % (node, os.getpid(), self.saved)
        elif os.path.exists(os.path.join(session.folder, name)):
            name = "tokenizer-%d-%d" % (os.getpid(), self.saved)
        tokenizer.save_pretrained(os.path.join(session.folder, name))
        self.saved += 1
        session.write(
            "tokenizer",
            folder=name,
            **{"class": getattr(tokenizer, "kind", type(tokenizer).__name__)},
            vocab_size=len(tokenizer),
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=tokenizer.bos_token_id,
        )


def candidates():
    """The one that a trainer used last first, then the one that was loaded last."""
    found = []
    for reference in reversed(_known + _used):
        tokenizer = reference()
        if tokenizer is not None and not any(tokenizer is other for other in found):
            found.append(tokenizer)
    return found
