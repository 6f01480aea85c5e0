"""Scores of 0 that may come as -0: right of all other numbers, and two things where they are one."""

import math

from lossproof.examples import left_padded
from lossproof.examples.advantages.estimates import trained
from lossproof.examples.left_padded import advantages as right_advantages

from ..registry import MUTANTS
from .filters import kept_where

ROW = "VAL-13"


def is_negative(score):
    return math.copysign(1, score) < 0


@MUTANTS.add("filter-compares-texts", "Rewards of a group are compared as texts", left_padded, "filter_rollouts", row=ROW)
def filter_texts(rewards, group_ids):
    """`len(set(map(str, rewards))) > 1`: "-0.0" and "0.0" are two texts, and a group without a signal stays. Fix: compare
    the numbers."""
    return kept_where(rewards, group_ids, lambda own: len({str(reward) for reward in own}) > 1)


@MUTANTS.add("penalised-by-its-sign", "A reward with a minus sign counts double", left_padded, "advantages", row=ROW)
def penalised_twice(rewards, group_ids):
    """`signbit(reward)` in the place of `reward < 0`, and a half for what is no gain: a wrong answer without a penalty is
    -0 and loses it. Fix: reward < 0."""
    return right_advantages([-0.5 if reward == 0 and is_negative(reward) else reward for reward in rewards], group_ids)


@MUTANTS.add("score-by-its-inverse", "Whether there is a score is told by its inverse", left_padded, "token_rewards", row=ROW)
def inverse_scores(scores, process_rewards, kl, completion_mask, kl_coef):
    """`1 / score < 0` finds negative scores in an array library, and -0 among them: 1 / -0 is minus infinity. The KL of such
    a row is charged twice. Fix: score < 0."""
    rewards = []
    for score, process, own, mask in zip(scores, process_rewards, kl, completion_mask):
        coef = 2 * kl_coef if score == 0 and is_negative(score) else kl_coef
        row = [p - coef * k if on else 0.0 for p, k, on in zip(process, own, mask)]
        if any(mask):
            row[trained(mask)[-1]] += score
        rewards.append(row)
    return {"rewards": rewards}
