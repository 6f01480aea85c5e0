"""What the adapters of trainers that are imported in pieces share: which version there is and which they know, and what
it has not."""

import contextlib
import importlib
import importlib.metadata
import io
import logging
import sys
import warnings

import jinja2
import lossproof

from ...testing import slice_of
from ._tiny import missing

# A kernel that takes log-probabilities on a GPU alone, preferred wherever it can be imported; trainers fall back on torch.
sys.modules["flash_attn.ops.triton.cross_entropy"] = None


class Driven:
    """A trainer with the parts of it that an adapter drives; what this version has not is None, and said in `lacks`.

    version: the one that was met; known: those that the adapter is tested with."""

    def __init__(self, title, version, known):
        self.title, self.version, self.known = title, version, known
        self.lacks = {}

    def lines(self, ops, path, where, **stretch):
        """slice_of this module or file; None, and what is said of these ops, where this version has not these lines."""
        if path is None:
            return None  # whoever looked for it has said so
        try:
            return slice_of(path, where, **stretch)
        except ValueError as absent:
            for op in ops:
                self.lacks.setdefault(op, str(absent))
            return None

    def serve(self, name, **declared):
        notes = ["%s drives %s %s; it is tested with %s" % (name, self.title, self.version, ", ".join(self.known))]
        if self.version not in self.known:
            notes[0] += ": an error may be the adapter's"
        lossproof.serve(name=name, version=self.version, lacks=self.lacks, notes=notes, dtype="float32", **declared)


class Library(Driven):
    """An installed package."""

    def __init__(self, package, title, known):
        self.package = package
        try:
            importlib.import_module(package)
        except ImportError as absent:
            missing(absent.name, package, "%s==%s" % (package, known[-1]))
        super().__init__(title, importlib.metadata.version(package), known)

    def part(self, place, ops):
        """The module "a.b", or the attribute "a.b:C.d" of one; ops: what cannot be asked without it."""
        module, _, names = place.partition(":")
        try:
            found = importlib.import_module("%s.%s" % (self.package, module))
            for name in filter(None, names.split(".")):
                found = getattr(found, name)
            return found
        except (ImportError, AttributeError) as absent:
            name = getattr(absent, "name", None) or self.package
            if isinstance(absent, ModuleNotFoundError) and name.split(".")[0] != self.package:
                missing(name, name, "%s==%s" % (self.package, self.known[-1]))  # of its environment, not of this version
            for op in ops:
                self.lacks.setdefault(op, "%s %s: %s" % (self.title, self.version, str(absent).split("\n")[0]))
            return None


@contextlib.contextmanager
def quietly():
    """Without what a trainer prints while it is imported: which of its parts have no GPU is of no interest here."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)


@contextlib.contextmanager
def template_of(tokenizer, chat_template):
    """The tokenizer with the template that the request names; one that will not render its messages refuses them."""
    own = tokenizer.chat_template
    try:
        if chat_template is not None:
            tokenizer.chat_template = chat_template
        yield
    except Exception as raised:
        refusal = raised
        # A trainer may try once more, in another form, what the template has refused.
        while refusal is not None and not isinstance(refusal, jinja2.TemplateError):
            refusal = refusal.__cause__ or refusal.__context__
        if refusal is None:
            raise
        raise lossproof.Reject("the chat template refuses these messages: %s" % refusal)
    finally:
        tokenizer.chat_template = own
