"""An object of a class that nobody constructed: for methods that read a few attributes, and code that asks for the type of its
configuration."""


def instance(owner, **attributes):
    """An object of class `owner` with these attributes and none of what its `__init__` would set. Its methods are its own;
    what they miss raises AttributeError, as ever."""
    made = object.__new__(owner)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)  # a frozen dataclass refuses its own
    return made
