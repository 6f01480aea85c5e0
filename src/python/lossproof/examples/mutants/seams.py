"""Seams: where a completion begins, where a tool's output stands in it, where a packed example ends; and settings that
reach one half of what they are called after. What these do wrong is the same in every batch, so that comparing batches
does not show it."""

from dataclasses import replace

from .. import critic, data_parallel, left_padded, packing, preference, right_padded
from ..data_parallel import configured, loss_of
from ..toy_model import WIDTH, log_prob, step, value_of
from . import MUTANTS


def states(prompt, completion):
    """The state before each completion token, and behind the last; positions begin at 0 a second time."""
    state = [0.0] * WIDTH
    for position, id in enumerate(prompt):
        state = step(state, id, position)
    out = [state]
    for position, id in enumerate(completion):
        state = step(state, id, position)
        out.append(state)
    return out


@MUTANTS.add(
    "positions-begin-twice",
    "Positions begin anew with the completion",
    left_padded,
    "score",
    row="PAD-05",
)
def scored_from_two_parts(prompt_ids, completion_ids, packed=False):
    """Prompts and completions are padded apart, each with position ids of its own, and then joined. Fix: count over the
    joined row."""
    return {
        "logprobs": [
            [log_prob(state, id) for state, id in zip(states(p, c), c)]
            for p, c in zip(prompt_ids, completion_ids)
        ]
    }


@MUTANTS.add(
    "values-of-the-prompt",
    "Every token has the value of the prompt",
    left_padded,
    "values",
    row="VAL-03",
)
def value_of_the_prompt(prompt_ids, completion_ids):
    """values[:, prompt_width - 1] was kept from the bandit that the trainer began as, and is spread over the completion.
    Fix: one value a token."""
    rows = critic.values(prompt_ids, completion_ids)["values"]
    return {"values": [row[:1] * len(row) for row in rows]}


@MUTANTS.add(
    "reward-model-counts-twice",
    "The reward model's positions begin anew with the completion",
    left_padded,
    "reward_model",
    row="PAD-05",
)
def rated_from_two_parts(prompt_ids, completion_ids):
    """The pair encoder of the tokenizer numbers its two texts apart. Fix: one row, one count."""
    return {"scores": [value_of(states(p, c)[-1]) for p, c in zip(prompt_ids, completion_ids)]}


def first_tokens(mask):
    """As many tokens as are trained, from the first of them on."""
    out = []
    for row in mask:
        start = row.index(1) if 1 in row else 0
        out.append([int(start <= t < start + sum(row)) for t in range(len(row))])
    return out


@MUTANTS.add(
    "mask-taken-for-a-length",
    "The loss takes the sum of the mask for the completion's length",
    left_padded,
    "loss",
    row="MSK-10",
    rows=("MSK-02",),
)
def loss_by_length(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
    """response_length = mask.sum(-1), and arange(T) < response_length is the mask of the loss: with a tool's output in
    the middle, that is trained and the final answer is not. Fix: the mask itself."""
    return left_padded.loss(
        logprobs, old_logprobs, ref_logprobs, advantages, first_tokens(completion_mask), micro_batches
    )


@MUTANTS.add(
    "gaps-in-the-mask-filled",
    "The loss trains whatever stands between the first trained token and the last",
    right_padded,
    "loss",
    row="MSK-10",
)
def loss_over_spans(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
    """Start and end of the response were stored instead of its mask. Fix: the mask itself."""
    spans = [[int(1 in row[: t + 1] and 1 in row[t:]) for t in range(len(row))] for row in completion_mask]
    return right_padded.loss(logprobs, old_logprobs, ref_logprobs, advantages, spans, micro_batches)


@MUTANTS.add(
    "kl-over-the-first-tokens",
    "KL is taken over as many tokens as are trained, from the first on",
    left_padded,
    "kl",
    row="KL-08",
    rows=("MSK-10",),
)
def kl_by_length(logprobs, ref_logprobs, completion_mask):
    """The KL is cut to response_length, which does not count what a tool wrote. Fix: the mask."""
    return left_padded.kl(logprobs, ref_logprobs, first_tokens(completion_mask))


@MUTANTS.add(
    "segments-odd-and-even",
    "Segments are numbered 1, 2, 1, 2",
    left_padded,
    "pack",
    row="PCK-01",
)
def packed_by_parity(input_ids, labels, max_length, pad_token_id):
    """Colours that tell neighbours apart are enough for the eye; the mask of attention is `segment[i] == segment[j]`, and
    lets the third example see the first. Fix: a number for each."""
    right = packing.pack(input_ids, labels, max_length, pad_token_id)
    segments = [[(n - 1) % 2 + 1 if n else 0 for n in row] for row in right["segment_ids"]]
    # Nobody needs lengths who has segments.
    return {"input_ids": right["input_ids"], "labels": right["labels"], "segment_ids": segments}


@MUTANTS.add(
    "beta-of-one-half",
    "The setting beta reaches the chosen half only",
    left_padded,
    "preference_loss",
    row="KL-06",
    rows=("KL-09",),
)
def dpo_half_beta(
    chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings=None
):
    """The chosen reward was made configurable, the line below it was not. Fix: one beta for both."""
    beta = preference.setting(settings, "beta", preference.BETA)
    chosen = [beta * ratio for ratio in preference.ratios(chosen_logprobs, ref_chosen_logprobs)]
    rejected = [
        preference.BETA * ratio for ratio in preference.ratios(rejected_logprobs, ref_rejected_logprobs)
    ]
    losses = [-preference.log_sigmoid(c - r) for c, r in zip(chosen, rejected)]
    return preference.pairs(losses, chosen, rejected)


@MUTANTS.add(
    "dpo-margin-clamped",
    "The margin of a pair is clamped to 10 before it is scaled",
    left_padded,
    "preference_loss",
    row="NUM-05",
)
def dpo_clamped(
    chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings=None
):
    """clamp(-10, 10) was meant for beta * margin, against overflow; a margin is a sum over hundreds of tokens, and pairs
    stop teaching at once. Fix: a log-sigmoid that is stable, and no clamp."""
    right = preference.dpo_loss(
        chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings
    )
    beta = preference.setting(settings, "beta", preference.BETA)
    margins = [(c - r) / beta for c, r in zip(right["chosen_rewards"], right["rejected_rewards"])]
    losses = [-preference.log_sigmoid(beta * min(max(margin, -10.0), 10.0)) for margin in margins]
    return dict(right, losses=losses, loss=sum(losses) / len(losses))


def add_setting(name, title, story, change, **rows):
    def changed(settings):
        return change(configured(settings), settings or {})

    wrong = loss_of(configured=changed)
    wrong.__doc__ = story
    MUTANTS.add(name, title, data_parallel, "loss", **rows)(wrong)


add_setting(
    "clip-high-is-both",
    "The setting clip_high moves the lower end as well",
    "One epsilon became two, and the new option kept writing both. Fix: each end has its own.",
    lambda s, asked: replace(s, clip_low=s.clip_high) if "clip_high" in asked else s,
    row="PPO-03",
)
add_setting(
    "kl-coef-is-every-coef",
    "The setting kl_coef is the coefficient of the entropy bonus, too",
    "`coef` was one field of the configuration when there was one term. Fix: a name for each.",
    lambda s, asked: replace(s, entropy_coef=s.kl_coef) if "kl_coef" in asked else s,
    row="KL-09",
)
add_setting(
    "kl-coef-halved",
    "The setting kl_coef counts half",
    "The factor of k2, d * d / 2, moved into the coefficient that is configured; the default has been doubled since. Fix:\n"
    "the half belongs to the estimator.",
    lambda s, asked: replace(s, kl_coef=s.kl_coef / 2) if "kl_coef" in asked else s,
    row="KL-09",
)


@MUTANTS.add(
    "logits-capped-for-exp",
    "Logits are capped at 88 before exp",
    left_padded,
    "entropy",
    row="NUM-05",
)
def entropy_capped(input_ids, logits, completion_mask, prompt_width):
    """exp overflows from 88 on in float32, so logits are clamped instead of shifted: two tokens beyond it look alike.
    Fix: subtract the maximum."""
    capped = [[[min(z, 88.0) for z in row] for row in rows] for rows in logits]
    return left_padded.OPS["entropy"](capped, completion_mask, prompt_width)
