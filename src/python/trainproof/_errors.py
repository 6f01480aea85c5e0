"""The two ways for an op to decline without being wrong."""


class Reject(Exception):
    """This input is legitimately refused: a trainer may say no, and the case is not held against it."""


class Skip(Exception):
    """This question cannot be answered here (no such mode, no such data)."""
