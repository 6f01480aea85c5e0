"""`python -m lossproof_discover`, which the engine starts; it is nothing to type."""

from ._serve import serve

serve()
