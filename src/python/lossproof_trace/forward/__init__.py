"""A call of a language model: seen, taken apart, recorded, and what its backward passes tell. Only `_arm` imports it, once torch
is there; imports `models` and `gradient`."""
