"""Op filter_rollouts: which groups ReplayBuffer evicts (`filter_groups` with the metric `reward`)."""

from collections import defaultdict
from types import SimpleNamespace

import lossproof
from lossproof.adapters.verl._parts import buffers
from lossproof.testing import instance, replaced

import torch

PARTITION = "train"


@lossproof.op(interleaved_groups=True)
def filter_rollouts(rewards, group_ids):
    """Each trajectory has its reward in rm_scores, under a key that begins with its group."""
    keys = {"%d_%d" % (group, row): row for row, group in enumerate(group_ids)}
    queue = SimpleNamespace(
        kv_batch_get=lambda keys, **_: {"rm_scores": [torch.tensor([0.0, rewards[int(key.split("_")[1])]]) for key in keys]}
    )
    buffer = instance(
        buffers.ReplayBuffer,
        filter_groups_metric=buffers.FILTER_GROUPS_REWARD_METRIC,
        finished_keys={PARTITION: {key.split("_")[0] for key in keys}},
        partitions={PARTITION: keys},
        _dapo_classification_cache=defaultdict(dict),
    )
    with replaced(buffers, tq=queue):
        evicted, _ = buffer._dapo_filtered_keys(PARTITION)
    return {"kept": [row for key, row in keys.items() if key.split("_")[0] not in evicted]}
