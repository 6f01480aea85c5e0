"""Ops in which correct trainers here do not differ: functions that work in any layout."""

from .advantages import estimates, filters, graders
from .losses import balance_loss, preference_loss, reward_loss, unpaired_loss, value_loss
from .models import updates
from .pipelines import pipeline
from .rollouts import resuming, sampler, tools, trajectory
from .rows import multimodal, packing, preference, truncation
from .scores import critic, entropies, full_kls
from .text import batches, decoding, pairs

MODULES = (
    batches,
    decoding,
    pairs,
    truncation,
    packing,
    preference,
    multimodal,
    preference_loss,
    reward_loss,
    unpaired_loss,
    balance_loss,
    value_loss,
    resuming,
    trajectory,
    sampler,
    updates,
    critic,
    estimates,
    entropies,
    full_kls,
    graders,
    filters,
    tools,
    pipeline,
)
OPS = {op: function for module in MODULES for op, function in module.OPS.items()}
SEMANTICS = {key: value for module in MODULES for key, value in module.SEMANTICS.items()}
