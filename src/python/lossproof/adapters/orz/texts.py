"""Prompts: as CustomDataset writes them, and as the sampler is handed them."""

import asyncio

import lossproof
from lossproof.adapters.common._standin import same_ids
from lossproof.adapters.orz._model import codec, tokenizer, tokens, trainer_of
from lossproof.adapters.orz._outside import Engine
from lossproof.adapters.orz._parts import experiment

import torch


class Row(str):
    """A prompt that knows the row of the request it is of: the trainer shuffles them."""

    def __new__(cls, text, at=None):
        made = super().__new__(cls, text)
        made.at = at
        return made


def dialogue(question):
    return [{"from": "human", "value": question}, {"from": "assistant", "ground_truth": {"value": ""}}]


def prompts_of(questions):
    """The training set of these questions: a prompt each."""
    data = experiment.CustomDataset([dialogue(each) for each in questions], tokenizer, 0, None, num_processors=1)
    return [data[at][0] for at in range(len(data))]


def question(messages):
    """What the trainer knows of a conversation is one text: that of its messages, one below the other."""
    return "\n".join(message["content"] for message in messages)


def asked(messages, add_generation_prompt):
    if not add_generation_prompt or messages[-1]["role"] == "assistant":
        raise lossproof.Reject("Open-Reasoner-Zero samples from prompts alone")
    return prompts_of([question(messages)])


def handed(tokenizer, prompts, **settings):
    """The ids of these prompts as the sampler gets them."""
    made = trainer_of(tokenizer, **settings)
    engine = Engine(tokenizer, lambda: [[tokenizer.eos_token_id]] * len(prompts))
    made.vllm_engines = [engine]
    asyncio.run(made._get_generate_function(0)(prompts=prompts, sampling_params={}))
    return engine.prompts


@lossproof.op(route=["rl"])
def render(messages, add_generation_prompt):
    return {"text": asked(messages, add_generation_prompt)[0]}


@lossproof.op(route=["rl"])
def tokenize(messages, add_generation_prompt):
    return {"input_ids": handed(tokenizer, asked(messages, add_generation_prompt))[0]}


@lossproof.op
def decode(ids):
    return {"text": trainer_of(tokenizer)._detokenize(ids)}


@lossproof.op
def truncate_prompts(prompt_ids, max_prompt_length, pad_token_id):
    """What the sampler is handed; the padding is the adapter's: vLLM gets rows of any length."""
    same_ids(tokens, pad_token_id, tokens["eos_token_ids"])
    rows = handed(codec, [codec.decode(ids) for ids in prompt_ids], prompt_max_len=max_prompt_length)
    width = max(map(len, rows))
    ids = torch.tensor([[pad_token_id] * (width - len(row)) + row for row in rows], dtype=torch.long)
    real = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
    return {"input_ids": ids, "attention_mask": real}
