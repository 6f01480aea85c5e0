"""What a completion is worth: RewardManager of the outcome (reward) and of the form (format_score), on rows of the released prompt."""

import lossproof
from lossproof.adapters.search_r1._model import tokenizer, tokens
from lossproof.adapters.search_r1._parts import DataProto, form, make_prefix, outcome
from lossproof.adapters.search_r1.texts import prompts_of
from lossproof.adapters.search_r1.tools import TAGS

import numpy
import torch

SOURCE = "nq"
# As v0.3/train_ppo_format.sh has them.
FORM = {"structure_format_score": 0.2, "final_format_score": 0.1, "retrieval_score": 0.0}
# What no completion answers.
NOTHING = "\u2603"


def said(reference, answer):
    return {
        "prompt": "Which city is it?",
        "reference": reference,
        "right": "<think>\nI know it.\n</think>\n<answer> %s </answer>" % reference,
        "wrong": "<think>\nI know it.\n</think>\n<answer> %s </answer>" % answer,
    }


# One of them asks for what the prompt names for an example.
SAMPLES = [said("Oslo", "Rome"), said("Beijing", "Tokyo"), said("Lima", "Beijing")]


def paid(manager, questions, completions, targets):
    """The sum of the rewards of each row."""
    asked = [{"question": question} for question in questions]
    before = [prompts_of([{"role": "user", "content": make_prefix(each, "base")}])[1] for each in asked]
    pad = tokens["pad_token_id"]
    left, right = max(map(len, before)), max(1, *map(len, completions))
    wholes = zip(before, completions)
    rows = [(left - len(prompt), [*prompt, *answer], right - len(answer)) for prompt, answer in wholes]
    ids = torch.tensor([[pad] * gap + row + [pad] * rest for gap, row, rest in rows])
    real = torch.tensor([[0] * gap + [1] * len(row) + [0] * rest for gap, row, rest in rows])
    batch = DataProto.from_dict(
        {"prompts": ids[:, :left], "responses": ids[:, left:], "input_ids": ids, "attention_mask": real},
        non_tensors={
            "data_source": numpy.array([SOURCE] * len(rows), dtype=object),
            "reward_model": numpy.array([{"ground_truth": {"target": [target]}} for target in targets], dtype=object),
        },
    )
    return manager(batch).sum(-1)


if make_prefix is not None:

    @lossproof.op(samples=SAMPLES)
    def reward(prompts, completions, references, completion_ids):
        return {"rewards": paid(outcome.RewardManager(tokenizer, 0), prompts, completion_ids, references)}

    @lossproof.op(tags=TAGS)
    def format_score(completions):
        """Of a completion whose answer is wrong: its form is all that it is paid for."""
        ids = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in completions]
        nothing = [NOTHING] * len(ids)
        return {"scores": paid(form.RewardManager(tokenizer, 0, **FORM), nothing, ids, nothing)}
