"""From what is sampled to the rows that are trained, by the agent loop: one turn (extract, mask, rollout), and turns with observations
between them (trajectory)."""

import lossproof
from lossproof import Reject
from lossproof.adapters.common._standin import same_ids
from lossproof.adapters.search_r1._agent import laid, looped, manager_of
from lossproof.adapters.search_r1._model import codec, tokenizer, tokens
from lossproof.adapters.search_r1.texts import prompts_of

import torch


def padded(rows, left=False):
    """(ids, which are real) of rows of any length."""
    width = max(map(len, rows))
    fill = [[tokens["pad_token_id"]] * (width - len(row)) for row in rows]
    real = [[0] * len(gap) + [1] * len(row) if left else [1] * len(row) + [0] * len(gap) for gap, row in zip(fill, rows)]
    ids = [[*gap, *row] if left else [*row, *gap] for gap, row in zip(fill, rows)]
    return torch.tensor(ids, dtype=torch.long).view(len(rows), width), torch.tensor(real).view(len(rows), width)


def answered(ids, attention, sampled, encoder=codec):
    """The batch of one turn: the loop with no exchange."""
    return looped(manager_of(encoder, [sampled]), torch.as_tensor(ids), torch.as_tensor(attention))


@lossproof.op(padding_side=["left"])
def extract(padding_side, input_ids, attention_mask, sampled_ids, pad_token_id, eos_token_ids):
    """The responses, as the mask of attention shows them."""
    same_ids(tokens, pad_token_id, eos_token_ids)
    if padding_side != "left":
        raise Reject("Search-R1 pads prompts on the left")
    batch = answered(input_ids, attention_mask, sampled_ids)
    real = batch["attention_mask"][:, -batch["responses"].size(1) :].bool()
    return {"completion_ids": [row[on].tolist() for row, on in zip(batch["responses"], real)]}


@lossproof.op
def mask(sequences, attention_mask, prompt_width, pad_token_id, eos_token_ids):
    same_ids(tokens, pad_token_id, eos_token_ids)
    ids, real = torch.tensor(sequences), torch.tensor(attention_mask)
    return laid(answered(ids[:, :prompt_width], real[:, :prompt_width], ids[:, prompt_width:]))


@lossproof.op
def rollout(conversations, sampled_ids):
    """By the tokenizer itself, whose special tokens the loop drops."""
    prompts = [prompts_of(messages)[1] for messages in conversations]
    ids, real = padded(prompts, left=True)
    batch = laid(answered(ids, real, padded(sampled_ids)[0], tokenizer))
    batch.pop("position_ids")
    return {"prompt_ids": prompts, **batch}


def exchanges(turns, most_observed):
    """(what is sampled in each turn, what is observed behind each but the last). Between two observations nothing is sampled."""
    sampled, observed = [], []
    for turn in turns:
        if turn["role"] == "assistant":
            if len(sampled) > len(observed):
                raise Reject("the environment of Search-R1 answers every turn that is not the last")
            sampled.append(turn["ids"])
            continue
        if turn["role"] == "user" and most_observed is not None and len(turn["ids"]) > most_observed:
            raise Reject("Search-R1 has no users, and cuts whatever is observed")
        if len(sampled) == len(observed):
            sampled.append([])
        observed.append(turn["ids"])
    if len(observed) == len(sampled):
        sampled.append([])  # the loop asks once more behind every observation
    return sampled, observed


@lossproof.op(max_tool_tokens=True)
def trajectory(prompt_ids, turns, eos_token_ids, max_tool_tokens=None):
    """run_llm_loop, whose environment answers what the turns say; what else it answers is asked by tool_step."""
    same_ids(tokens, tokens["pad_token_id"], eos_token_ids)
    sampled, observed = exchanges(turns, max_tool_tokens)
    manager = manager_of(codec, [padded([ids])[0] for ids in sampled], len(observed), max_tool_tokens)
    answers = [(([codec.decode(ids)], [0], [1], [1])) for ids in observed] + [([""], [1], [1], [0])]
    manager.execute_predictions = lambda *_, **__: answers.pop(0)
    batch = looped(manager, *padded([prompt_ids], left=True))
    if not batch["responses"].size(1):
        raise Reject("Search-R1 has no batch without a response")
    real = batch["attention_mask"][0].bool()
    trained = torch.zeros_like(batch["attention_mask"][0])
    trained[len(trained) - batch["loss_mask"].size(1) :] = batch["loss_mask"][0]
    return {"input_ids": [batch["input_ids"][0][real].tolist()], "loss_mask": [trained[real].tolist()]}
