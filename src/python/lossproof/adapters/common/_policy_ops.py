"""The ops that GRPO and RLOO answer alike: prompts, rollouts, masks, scores and advantages."""

import os
import traceback

import torch

import lossproof

from ... import Reject
from ...testing import Table, replaced
from ._models import frozen
from ._standin import rendering, same_ids
from ._policy import block, ragged, real
from ._tiny import VERSION


def register(policy, tokens, policy_of, token_kl=None):
    """Registers them for this Policy; `policy_of` makes one of a checkpoint. Returns {op: why} of those that its TRL lacks, and notes.

    token_kl: of (log-probabilities, the reference's, mask), each (B, C), the KL of each token (k3) where it can be had."""
    trainer, tokenizer = policy.trainer, policy.tokenizer
    # Scores of logits at the trainer's temperature; the first versions scored at 1, whatever was sampled at.
    heated = hasattr(trainer, "temperature")
    at = (lambda temperature: {"temperature": temperature}) if heated else (lambda temperature: {})
    lacks = {}

    def prompt(route, messages, add_generation_prompt, chat_template):
        if not add_generation_prompt:
            raise Reject("%s always adds the generation prompt" % type(trainer).__name__)
        with rendering(tokenizer, chat_template):
            return policy.prompted(messages)

    @lossproof.op(route=["rl"], chat_template=True)
    def render(route, messages, add_generation_prompt, chat_template=None):
        return {"text": prompt(route, messages, add_generation_prompt, chat_template)[1]}

    @lossproof.op(route=["rl"], chat_template=True)
    def tokenize(route, messages, add_generation_prompt, chat_template=None):
        return {"input_ids": prompt(route, messages, add_generation_prompt, chat_template)[0]}

    @lossproof.op(padding_side=["left"])
    def extract(padding_side, prompt_ids, sampled_ids, pad_token_id, eos_token_ids):
        same_ids(tokens, pad_token_id, eos_token_ids)
        if padding_side != "left":
            raise Reject("%s pads prompts on the left before it generates" % type(trainer).__name__)
        batch = ended(prompt_ids, sampled_ids)
        return {"completion_ids": real(batch["completion_ids"], batch["completion_mask"])}

    trouble = empty_completions(policy)

    @lossproof.op(after_stop="any", **({"unfinished": True} if policy.hands_over and trouble is None else {}))
    def mask(prompt_ids, sequences, prompt_width, pad_token_id, eos_token_ids):
        same_ids(tokens, pad_token_id, eos_token_ids)
        return block(ended(prompt_ids, [row[prompt_width:] for row in sequences]))

    def ended(prompt_ids, sampled):
        """Through generate(). A row that ends early without a stop is none of its rows, but one of an inference engine,
        which hands over completions without their padding."""
        width = max(map(len, sampled))
        if any(len(row) < width or ends_early(row) for row in sampled if not stopped(row)) or width == 0:
            return policy.rollout(prompt_ids, completion_ids=[completion(row) for row in sampled])
        return policy.rollout(prompt_ids, sampled=sampled)

    def stopped(row):
        return any(token in tokens["eos_token_ids"] for token in row)

    def completion(row):
        stop = next((at for at, token in enumerate(row) if token in tokens["eos_token_ids"]), None)
        if stop is not None:
            return row[: stop + 1]
        while row and row[-1] == tokens["pad_token_id"]:
            row = row[:-1]
        return row

    def ends_early(row):
        return row[-1:] == [tokens["pad_token_id"]]

    @lossproof.op
    def rollout(conversations, sampled_ids):
        rows = [{"prompt": conversation, "reward": 0.0} for conversation in conversations]
        with rendering(tokenizer, None):
            batch = policy.rollout(rows=rows, sampled=sampled_ids)
        return {"prompt_ids": real(batch["prompt_ids"], batch["prompt_mask"]), **block(batch)}

    @lossproof.op(**({"temperature": True} if heated else {}))
    def logprobs(input_ids, attention_mask, logits, prompt_width, temperature=1.0):
        ids = torch.tensor(input_ids)
        with replaced(trainer, **at(temperature)):
            table = Table(torch.tensor(logits))
            logps, _ = policy.scores(table, ids, torch.tensor(attention_mask), ids.size(1) - prompt_width)
        return {"logprobs": logps}

    @lossproof.op
    def score(prompt_ids, completion_ids):
        """The policy's log-probabilities inside the loss."""
        batch = policy.rollout(prompt_ids, completion_ids=completion_ids)
        return {"logprobs": ragged(policy.asked(batch)[0], completion_ids)}

    @lossproof.op(
        reference=True, **({"temperature": True} if heated else {}), **({} if token_kl is None else {"kl": "k3"})
    )
    def model_score(model_path, prompt_ids, completion_ids, temperature=1.0, reference_path=None):
        """The same of a trainer that was given this checkpoint; the reference's are those that TRL computes when it
        makes the batch, and the KL what its loss makes of the two."""
        owner = policy_of(model_path)
        reference = owner.trainer.ref_model if reference_path is None else frozen(reference_path)
        settings = {**at(temperature), "ref_model": reference}
        batch, scored = owner.scored_by(
            reference, lambda: owner.rollout(prompt_ids, completion_ids=completion_ids, **settings)
        )
        logps, entropies = owner.asked(batch, **settings)
        answer = {"logprobs": ragged(logps, completion_ids)}
        if entropies is not None:
            answer["entropy"] = ragged(entropies, completion_ids)
        # RLOOTrainer takes its KL off the reward, and hands the reference's scores on to nobody.
        others = batch.get("ref_per_token_logps", scored)
        if reference_path is not None and others is not None:
            answer["ref_logprobs"] = ragged(others, completion_ids)
            if token_kl is not None:
                answer["kl"] = ragged(token_kl(logps, others, batch["completion_mask"].float()), completion_ids)
        return answer

    @lossproof.op
    def advantages(rewards, group_ids):
        # TRL's sampler puts the rows of a group side by side; the answer goes back to the order of the question.
        order = sorted(range(len(rewards)), key=lambda row: group_ids[row])
        sizes = {group_ids.count(group) for group in group_ids}
        if len(sizes) != 1:
            raise Reject("%s has num_generations rows in every group" % type(trainer).__name__)
        rows = [{"prompt": "x", "reward": rewards[row]} for row in order]
        one = [[tokenizer.eos_token_id]] * len(rows)
        batch = policy.rollout(one, completion_ids=one, rows=rows, num_generations=sizes.pop())
        back = dict(zip(order, batch["advantages"].tolist()))
        return {"advantages": [back[row] for row in range(len(rewards))]}

    if policy.scoring.endswith("entropies"):

        @lossproof.op
        def entropy(input_ids, attention_mask, logits, prompt_width):
            ids = torch.tensor(input_ids)
            table, mask = Table(torch.tensor(logits)), torch.tensor(attention_mask)
            with replaced(trainer, **at(1.0)):
                found = policy.scores(table, ids, mask, ids.size(1) - prompt_width, compute_entropy=True)
            return {"entropy": found[1]}

    else:
        lacks["entropy"] = "%s of TRL %s computes none" % (type(trainer).__name__, VERSION)
    return lacks, [] if trouble is None else [trouble]


def empty_completions(policy):
    """Asked once, at the start: what TRL raises on a completion without a token, as a sentence, or None. Where it does not
    come through, it would be the end of every case that has one, whatever the case is about."""
    if not policy.hands_over:
        return None
    stop = policy.tokenizer.eos_token_id
    try:
        policy.rollout([[stop], [stop]], completion_ids=[[], [stop]])
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return (
            "a rollout in which a completion is empty, as an inference engine may hand over, ends with %s: %s in TRL %s (%s, "
            "line %d); so no mask is asked for one" % (type(error).__name__, error, VERSION, os.path.basename(frame.filename), frame.lineno)
        )
    return None
