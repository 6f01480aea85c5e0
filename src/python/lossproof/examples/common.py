"""Ops in which the three examples do not differ: functions that work in any layout."""

from . import (
    agents,
    critic,
    decoding,
    entropies,
    full_kls,
    packing,
    pipeline,
    preference,
    sampler,
    tools,
    trajectory,
    truncation,
    updates,
)

MODULES = (
    decoding,
    truncation,
    packing,
    preference,
    trajectory,
    sampler,
    updates,
    critic,
    entropies,
    full_kls,
    agents,
    tools,
    pipeline,
)
OPS = {op: function for module in MODULES for op, function in module.OPS.items()}
SEMANTICS = {key: value for module in MODULES for key, value in module.SEMANTICS.items()}
