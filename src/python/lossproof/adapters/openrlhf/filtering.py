"""Op filter_rollouts: which groups SamplesGenerator takes (`dynamic_filtering`), by the mean of their scores."""

import sys
from types import SimpleNamespace

import lossproof
from lossproof.adapters.openrlhf._parts import samples
from lossproof.adapters.openrlhf._standins import Idle, tree
from lossproof.testing import instance, replaced

import torch

# What waits for vLLM, and shows how far it is.
RAY = SimpleNamespace(wait=lambda refs, **_: (refs[:1], refs[1:]), get=lambda ref: ref)


@lossproof.op(interleaved_groups=True)
def filter_rollouts(rewards, group_ids, min_reward, max_reward):
    """Each prompt is the rows of its group, which are what vLLM makes of it; there is no other prompt to take the place of one."""
    groups = [[row for row, own in enumerate(group_ids) if own == group] for group in sorted(set(group_ids))]
    generator = instance(
        samples,
        args=tree(algo={"dynamic_filtering_range": (min_reward, max_reward)}),
        _dispatch_prompts_to_vllm=lambda prompts, labels, **_: list(prompts),
        _process_response_into_experience=lambda row, **_: SimpleNamespace(row=row, scores=[torch.tensor(rewards[row])]),
    )
    prompts = iter([(None, groups, groups, groups)])
    with replaced(sys.modules[samples.__module__], ray=RAY, tqdm=lambda *_, **__: Idle()):
        taken, *_ = generator._generate_vllm(prompts, len(groups), dynamic_filtering=True)
    return {"kept": sorted(experience.row for experience in taken)}
