"""One call of PriorZeroPolicy._forward_learn on what PriorZeroGameBufferOptimized.sample hands over."""

from types import SimpleNamespace

from lossproof.adapters.common._tiny import transformers  # noqa: F401, first: it says what is missing where there is no torch
from lossproof.adapters.priorzero._model import ACTIONS, learner, tokens
from lossproof.adapters.priorzero._parts import buffers, policy
from lossproof.testing import Settings, Table, instance, replaced

import numpy
import torch

WIDTH = 512  # of an observation: the policy takes it for granted
TRAIN_ITER = 7


class Segment(SimpleNamespace):
    """Steps of a game as PriorZero's GameSegment keeps them."""

    def get_unroll_obs(self, timestep, num_unroll_steps=0, padding=False):
        found = self.obs_segment[timestep : timestep + 1 + num_unroll_steps]
        return numpy.concatenate([found, *[found[-1:]] * (1 + num_unroll_steps - len(found))])


def segment(observations, actions, rewards, texts):
    """Of n steps: n + 1 observations, n actions, rewards and prompts."""
    seen = numpy.zeros((len(observations), WIDTH))
    seen[:, 0] = observations
    return Segment(
        obs_segment=seen,
        action_segment=numpy.array(actions),
        reward_segment=numpy.array(rewards, dtype=float),
        timestep_segment=numpy.arange(len(actions)),
        raw_obs_segment=texts,
        mcts_policy_segment=list(numpy.eye(ACTIONS)[numpy.array(actions)]),
        action_space_size=ACTIONS,
    )


def alone(at, prompt, reward):
    """A segment of one step; its action names the text that stands for it."""
    return segment([0, 0], [at], [reward], [prompt])


def sampled(learner, segments, starts=None, unroll_steps=1):
    """[current_batch, target_batch, segments] of these segments from these steps on, as the buffer lays them out."""
    starts = starts or [0] * len(segments)
    rows = len(segments)
    targets = numpy.zeros((rows, unroll_steps + 1))
    for row, (each, start) in enumerate(zip(segments, starts)):
        taken = each.reward_segment[start : start + unroll_steps + 1]
        targets[row, : len(taken)] = taken
    config = Settings(
        device="cpu",
        reanalyze_ratio=0,
        num_unroll_steps=unroll_steps,
        td_steps=5,
        game_segment_length=200,
        model=Settings(model_type="mlp"),
    )
    buffer = instance(
        buffers.PriorZeroGameBufferOptimized,
        _cfg=config,
        sample_type="transition",
        action_space_size=ACTIONS,
        _sample_orig_data=lambda _: (segments, starts, list(range(rows)), [1.0] * rows, [0.0] * rows),
        get_num_of_transitions=lambda: rows,
        _prepare_reward_value_context=lambda *_: None,
        _prepare_policy_non_reanalyzed_context=lambda *_: None,
        _compute_target_reward_value=lambda *_: (targets, targets),
        _compute_target_policy_reanalyzed=lambda *_: [],
        _compute_target_policy_non_reanalyzed=lambda *_: numpy.full((rows, unroll_steps + 1, ACTIONS), 1 / ACTIONS),
    )
    numpy.random.seed(0)  # it pads with actions at random
    return buffer.sample(rows, learner)


def learn(learner, data, completions, rows):
    """What the learner logs of this data; completions: the text of each action. rows: of the world model's batch."""
    learner._cfg.batch_size = rows
    learner.action_inv_map = dict(enumerate(completions))
    plain = {
        "build_llm_prompt": lambda current_obs, **_: current_obs,
        "format_mcts_policy_to_text": lambda visits, names, **_: names[int(numpy.argmax(visits))],
    }
    with replaced(policy, **plain):
        return learner._forward_learn(data)


def learned(model, tokenizer, prompts, completions, route, optimizer=None):
    """What the learner logs when it trains on these rows by one of its losses; optimizer: in the place of its own."""
    # No two alike, and none their mean: each row has an advantage.
    steps = [alone(at, prompt, 2.0**at) for at, prompt in enumerate(prompts)]
    made = learner(model, tokenizer, **switched([route]))
    if optimizer is not None:
        made._optimizer_llm, made._lr_scheduler_llm = optimizer, None
    current, target, segments = sampled(made, steps)
    # With the count of a learner, which every commit understands.
    return learn(made, [current, target, TRAIN_ITER, segments], completions, len(steps))


def switched(losses):
    """Settings with these losses, sft and rft, switched on."""
    return {"sft_target": "mcts_policy" if "sft" in losses else "oracle_policy", "enable_rft": "rft" in losses}


def widened(part, width, fill):
    """Padded on the left, as the trainer pads."""
    return torch.nn.functional.pad(part, (width - part.size(1), 0), value=fill)


class Scores(Table):
    """A model that scores at random, and keeps for each call its ids, whether it was given labels, and its logits."""

    def __init__(self, size):
        super().__init__(self._drawn)
        self.size, self.leaves = size, []

    def _drawn(self, ids, *_):
        leaf = torch.randn(*ids.shape, self.size).requires_grad_()
        self.leaves.append(leaf)
        # No leaf any more: under no_grad nothing flows back.
        return leaf * 1

    def batch(self, supervised):
        """Of the calls of this loss: (B, T) ids, attention mask and mask of the trained tokens, of one width."""
        found = [(call, trained) for call, (_, labelled, trained) in zip(self.calls, self.heard()) if labelled == supervised]
        width = max(trained.size(1) for _, trained in found)
        parts = {
            "input_ids": [call["input_ids"] for call, _ in found],
            "attention_mask": [call["attention_mask"] for call, _ in found],
            "completion_mask": [trained.long() for _, trained in found],
        }
        pad = tokens["pad_token_id"]
        return {
            name: torch.cat([widened(part, width, pad if name == "input_ids" else 0) for part in several])
            for name, several in parts.items()
        }

    def heard(self):
        """Each call: (ids, supervised, (B, T) whether a token is trained)."""
        found = []
        for call, leaf in zip(self.calls, self.leaves):
            moved = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
            trained = torch.nn.functional.pad((moved != 0).any(2)[:, :-1], (1, 0))
            found.append((call["input_ids"], call["labels"] is not None, trained))
        return found
