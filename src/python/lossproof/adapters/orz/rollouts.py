"""From texts to the rows that are trained: packed, or padded (mask, pack), and the trainer's own experience making (rollout)."""

import asyncio
from concurrent.futures import Executor, Future

import lossproof
from lossproof import Reject
from lossproof.adapters.common._standin import same_ids
from lossproof.adapters.orz._model import acting, tokenizer, tokens, trainer_of
from lossproof.adapters.orz._outside import Engine
from lossproof.adapters.orz._parts import experiment
from lossproof.adapters.orz._rows import answered, batches_of, laid, packs, texts, trainer
from lossproof.adapters.orz._settings import PACKED
from lossproof.adapters.orz.texts import Row, prompts_of, question
from lossproof.testing import Table, replaced, spy

import torch


def segments(batches):
    """(ids, whether each is trained) of each row in packed ones: trained is a token whose log-probability Actor returns."""
    found = []
    for batch in batches:
        flat, _ = trained(batch)
        ids, mask = batch.ids[0].split(batch.lengths), batch.mask[0].split(batch.lengths)
        if any(not (row == at + 1).all() for at, row in enumerate(mask)):
            raise ValueError("the attention mask does not count the rows as packed_seq_lens does: %s" % batch.mask.tolist())
        found += zip(ids, flat[0].split(batch.lengths))
    return found


def trained(batch):
    """((1, N) 1 where a token is trained, the positions that the model was told)."""
    leaf = torch.zeros(*batch.ids.shape, tokens["vocab_size"], requires_grad=True)
    table = Table(leaf)
    acting(table)(batch.ids, batch.actions, batch.mask, packed_seq_lens=batch.lengths).sum().backward()
    moved = leaf.grad.abs().sum(-1) > 0
    return torch.nn.functional.pad(moved, (1, 0))[:, :-1].long(), table.calls[0]["position_ids"]


def padded(rows, filler=0):
    """Lists of one tensor a row, as a matrix."""
    return torch.nn.utils.rnn.pad_sequence(list(rows), batch_first=True, padding_value=filler)


def matrices(rows):
    """The matrices of (ids, trained): packed rows apart, where padding is the adapter's."""
    ids, mask = zip(*rows)
    return {
        "input_ids": padded(ids, tokens["pad_token_id"]),
        "attention_mask": padded([torch.ones_like(row) for row in ids]),
        "completion_mask": padded(mask),
    }


@lossproof.op
def mask(prompt_ids, completion_ids, pad_token_id, eos_token_ids):
    same_ids(tokens, pad_token_id, eos_token_ids)
    if PACKED:
        return matrices(segments(laid(prompt_ids, completion_ids)))
    answered(prompt_ids, completion_ids)
    ids, real, actions = trainer._convert_prompts_outputs_to_batch_tensors(texts(prompt_ids), texts(completion_ids))
    before = ids.size(1) - actions.size(1)
    return {
        "input_ids": ids,
        "attention_mask": real,
        "completion_mask": torch.nn.functional.pad(actions.long(), (before, 0)),
    }


@lossproof.op
def pack(input_ids, labels, max_length, pad_token_id):
    same_ids(tokens, pad_token_id, tokens["eos_token_ids"])
    starts = [next((at for at, label in enumerate(row) if at and label != -100), len(row)) for row in labels]
    for ids, row, start in zip(input_ids, labels, starts):
        if row[start:] != ids[start:]:
            raise Reject("Open-Reasoner-Zero trains the whole of a response, and nothing else")
    prompts = texts([ids[:start] for ids, start in zip(input_ids, starts)])
    outputs = texts([ids[start:] for ids, start in zip(input_ids, starts)])
    batches = packs(prompts, outputs, max_length)
    marks = [trained(batch) for batch in batches]
    targets = [torch.where(mark.bool(), batch.ids, -100)[0] for batch, (mark, _) in zip(batches, marks)]
    return {
        "input_ids": padded([batch.ids[0] for batch in batches], pad_token_id),
        "labels": padded(targets, -100),
        "position_ids": padded([positions[0] for _, positions in marks]),
        "segment_ids": padded([batch.mask[0].long() for batch in batches]),
        "segment_lengths": [batch.lengths for batch in batches],
    }


class Idle(Executor):
    """Runs nothing: what is given to it writes files."""

    def submit(self, *_, **__):
        done = Future()
        done.set_result(None)
        return done


async def wrong(*_):
    """is_equal: no answer is right, which does not matter to the rows."""
    return False


@lossproof.op
def rollout(conversations, sampled_ids):
    """make_experience, with vLLM played, up to the rows that it packs."""
    prompts = prompts_of([question(messages) for messages in conversations])
    rows = [(Row(prompt, at), {"answer": ""}) for at, prompt in enumerate(prompts)]
    made = trainer_of(tokenizer)
    quiet = {"is_equal": wrong, "solution2answer": str, "executor": Idle()}
    with replaced(experiment, **quiet), spy(made, "_tokenize") as encoded:

        def order():
            return [prompt.at for prompt in encoded[0].args[0]]  # the trainer shuffles its prompts

        engine = Engine(tokenizer, lambda: [sampled_ids[at] for at in order()])
        made.vllm_engines = [engine]
        with spy(made, "_convert_prompts_outputs_to_batch_tensors_packing", stop="after") as packed:
            asyncio.run(made.make_experience(rows))
        handed = dict(zip(order(), engine.prompts))
    kept = [prompt.at for prompt in packed.only["prompts"]]
    if len(kept) < len(rows):
        raise Reject("Open-Reasoner-Zero drops empty responses")
    found = dict(zip(kept, segments(batches_of(packed.only.result))))
    everyone = range(len(rows))
    return {"prompt_ids": [handed[at] for at in everyone], **matrices([found[at] for at in everyone])}
