"""The two ways for an op to decline without being wrong, and one to be wrong without an exception of its own."""


class Reject(Exception):
    """This input is legitimately refused: a trainer may say no, and the case is not held against it."""


class Skip(Exception):
    """This question cannot be answered here (no such mode, no such data)."""


class WrongAnswer(TypeError):
    """Internal: what the op returned is no answer."""
