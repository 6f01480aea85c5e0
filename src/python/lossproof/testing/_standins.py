"""What a stubbed module's attributes are: classes, because anything may be subclassed, and raise a sentence when used."""

import abc
import sys

TRANSPARENT = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
OPTIMIZED = 0x1  # of a code object: the body of a function, and not of a file or a class


class Stubbed(RuntimeError):
    """Something of a package that is not there was needed after all."""


class Standin(abc.ABCMeta):
    """The class of stand-ins; also of classes that the trainer derives from one, which are ordinary otherwise."""

    def __getattr__(cls, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        made = standin("%s.%s" % (cls._stub_name, name))
        if "_stub_itself" in vars(cls):
            setattr(cls, name, made)
        return made

    def __getitem__(cls, _):
        return cls  # an annotation: LLM[int]

    def __call__(cls, *args, **kwargs):
        if "_stub_itself" not in vars(cls):
            return super().__call__(*args, **kwargs)
        return called(cls._stub_name, args, kwargs)

    def __repr__(cls):
        return "<stub of %s>" % cls._stub_name if "_stub_itself" in vars(cls) else super().__repr__()

    def __bool__(cls):
        return True


def standin(name):
    space = {"_stub_name": name, "_stub_itself": True, "__module__": name.rpartition(".")[0], "__init__": _refuse}
    bases = (Exception,) if name.endswith(("Error", "Exception")) else ()  # for `except vllm.EngineError:`
    return Standin(name.rpartition(".")[2], bases, space)


def _refuse(self, *args, **kwargs):
    """__init__ of what is derived from a stand-in and has none of its own, or calls it."""
    raise Stubbed(_sentence(type(self)._stub_name, "was to be initialised", _outside()))


def called(name, args, kwargs):
    """A decorator's argument as it is, a value that stands in for another, or Stubbed."""
    frame = _outside()
    if frame.f_code.co_flags & OPTIMIZED:
        raise Stubbed(_sentence(name, "was called", frame))
    decorated = len(args) == 1 and not kwargs and (isinstance(args[0], type) or hasattr(args[0], "__code__"))
    return args[0] if decorated else Value(name + "()")


def _outside():
    """The frame of the code that uses the stand-in; of a comprehension, that around it."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename == __file__ or frame.f_code.co_name in TRANSPARENT:
        frame = frame.f_back
    return frame


def _sentence(name, happened, frame):
    """What happened, to what, what to do."""
    path = name.partition("(")[0]
    module = path
    while module not in sys.modules and "." in module:
        module = module.rpartition(".")[0]
    return (
        "%s %s (%s:%d), and %s is a stub of lossproof.testing: say what should answer (`import %s; %s = ...`, before "
        "the trainer is imported), or leave this code out by spy or slice_of"
        % (name, happened, frame.f_code.co_filename, frame.f_lineno, path.split(".")[0], module, path)
    )


class Value:
    """What a call of a stand-in at the top of a file gave: its attributes are values again."""

    def __init__(self, name):
        self._stub_name = name

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Value("%s.%s" % (self._stub_name, name))

    def __call__(self, *args, **kwargs):
        return called(self._stub_name, args, kwargs)

    def __repr__(self):
        return "<stub of %s>" % self._stub_name

    def _used(self, *_):
        raise Stubbed(_sentence(self._stub_name, "was used as a value", _outside()))

    __bool__ = __len__ = __iter__ = __getitem__ = __enter__ = __int__ = __float__ = _used
    __lt__ = __le__ = __gt__ = __ge__ = __add__ = __mul__ = _used
    __exit__ = None
