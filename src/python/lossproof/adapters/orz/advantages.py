"""From scores and values to the advantages that are trained on."""

import collections

import lossproof
from lossproof.adapters.orz._parts import buffers, experiment, orz, utils
from lossproof.adapters.orz._rows import Trained
from lossproof.adapters.orz._settings import PACKED, RELEASED
from lossproof.adapters.orz.texts import Row
from lossproof.testing import instance

import torch

REWARDS = "CustomRewardTrainer.custom_reward_fn"
GROUPS = "pass_at_n_dict["
CENTRED = "for i, prompt in enumerate(prompts):"


def stretch(line, inputs, outputs):
    return orz.lines(["advantages"], experiment, REWARDS, begin=line, end=line, inputs=inputs, outputs=outputs)


noted = stretch(GROUPS, ["prompt", "scores", "pass_at_n_dict"], "pass_at_n_dict")
centred = stretch(CENTRED, ["prompts", "scores", "pass_at_n_dict"], "scores")


@lossproof.op
def advantages(rewards, group_ids, prompt_ids=None):
    """use_grpo of custom_reward_fn. The rows of a group have one prompt, which make_experience repeats."""
    texts = {group: str(group if prompt_ids is None else prompt_ids[at]) for at, group in enumerate(group_ids)}
    repeated = {group: Row(text, group) for group, text in texts.items()}
    prompts, groups = [repeated[group] for group in group_ids], collections.defaultdict(list)
    for prompt, reward in zip(prompts, rewards):
        noted(prompt=prompt, scores=[reward], pass_at_n_dict=groups)
    return {"advantages": centred(prompts=prompts, scores=list(rewards), pass_at_n_dict=groups)}


@lossproof.op(process_rewards=True)
def token_rewards(scores, process_rewards, kl, completion_mask, prompt_width, kl_coef):
    rows = Trained(completion_mask, prompt_width)
    process = torch.tensor(process_rewards)
    own = [process[at][rows.mask[at]] if PACKED else process[at, prompt_width:] for at in rows.rows]
    found = utils.compute_reward(
        torch.tensor(scores)[rows.rows],
        kl_coef,
        rows.given(kl),
        custom_rewards=own if process.any() else None,
        action_mask=rows.action_mask,
        num_actions=rows.actions,
        reward_clip_range=RELEASED.reward_clip_range,
        use_kl_loss=False,
    )
    return {"rewards": rows.back(found)}


@lossproof.op
def gae(rewards, values, completion_mask, prompt_width, gamma, lam):
    rows = Trained(completion_mask, prompt_width)
    found = utils.get_advantages_and_returns(
        rows.given(values), rows.given(rewards), rows.action_mask, rows.actions, gamma, lam, packing=PACKED
    )
    return dict(zip(("advantages", "returns"), map(rows.back, found)))


class Exact(torch.Tensor):
    """A tensor that stays as it is where it is to be rounded to bfloat16: what is asked is what is rounded."""

    def bfloat16(self, *_, **__):
        return self


def held(rows, values):
    """Items of the buffer with these advantages: one a packed row, or those that it makes of padded rows."""
    if PACKED:
        given = [torch.tensor(values[at])[rows.mask[at]] for at in rows.rows]
        return [instance(buffers.BufferItem, advantages=track, action_mask=None) for track in given]
    trained = rows.action_mask
    unknown, prompts = torch.zeros(trained.shape), torch.ones(len(trained), rows.width, dtype=torch.long)
    real = torch.cat([prompts, trained.long()], dim=1)
    names = ["action_log_probs", "base_action_log_probs", "values", "returns"]
    buffer = instance(buffers.NaiveReplayBuffer, limit=0, cpu_offload=True, packing_samples=False, items=[])
    buffer.append(
        buffers.Experience(
            sequences=torch.zeros_like(real),
            advantages=rows.given(values),
            attention_mask=real,
            action_mask=trained,
            num_actions=None,
            packed_seq_lens=None,
            info={},
            **{name: unknown for name in names},
        )
    )
    return buffer.items


@lossproof.op
def whiten(values, completion_mask, prompt_width):
    """normalize_advantages, before it rounds."""
    rows = Trained(completion_mask, prompt_width)
    items = held(rows, values)
    for item in items:
        item.advantages = item.advantages.as_subclass(Exact)
    found = [item.advantages.as_subclass(torch.Tensor) for item in utils.normalize_advantages(items)]
    answer = torch.zeros(rows.mask.shape)
    # Padding may still be behind the response, or be gone.
    answer[rows.mask] = torch.cat([track[:count] for track, count in zip(found, rows.actions)])
    return {"values": answer}
