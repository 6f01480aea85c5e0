"""A trainer with four mistakes that people make, for the pictures and the tests of the reports.

python3 trainer.py answers for it; everything that is not below is the bundled example, which is right."""

import lossproof
from lossproof.examples import left_padded as example


def mask(sequences, attention_mask, prompt_width, eos_token_ids):
    """Shifted by one: made for the logits, which predict the next token, and laid on the tokens."""
    answer = example.mask(sequences, attention_mask, prompt_width, eos_token_ids)
    return {**answer, "completion_mask": [row[1:] + [0] for row in answer["completion_mask"]]}


def kl(logprobs, ref_logprobs, completion_mask):
    """Policy and reference have changed places."""
    return example.kl(ref_logprobs, logprobs, completion_mask)


def tokenize(route, messages, add_generation_prompt):
    """Supervised rows end without their stop token."""
    answer = example.tokenize(route, messages, add_generation_prompt)
    if "labels" in answer:
        answer["labels"] = [example.IGNORED if id in example.EOS_IDS else id for id in answer["labels"]]
    return answer


def advantages(rewards, group_ids):
    """Divides by the spread of a group whose rewards are all equal."""
    out = []
    for reward, group in zip(rewards, group_ids):
        rewards_of_group = example.members(rewards, group_ids, group)
        mean = sum(rewards_of_group) / len(rewards_of_group)
        spread = (sum((r - mean) ** 2 for r in rewards_of_group) / (len(rewards_of_group) - 1)) ** 0.5
        out.append((reward - mean) / spread)
    return {"advantages": out}


WRONG = {"mask": mask, "kl": kl, "tokenize": tokenize, "advantages": advantages}


def served(op, right):
    """The wrong function with the capabilities of the right one."""
    capabilities = right[1] if isinstance(right, tuple) else {}
    return (WRONG[op], capabilities) if op in WRONG else right


lossproof.serve(
    name="my-trainer",
    ops={op: served(op, right) for op, right in example.OPS.items()},
    **example.DECLARED,
)
