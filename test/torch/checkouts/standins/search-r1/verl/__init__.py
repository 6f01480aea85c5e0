"""A stand-in of a clone of Search-R1, for tests of the adapter: the functions that it calls, written anew, and right."""
from .protocol import DataProto  # noqa: F401
