"""Prompts as RLHFDataset writes and encodes them."""

import lossproof
import pandas
from lossproof.adapters.common._standin import rendering
from lossproof.adapters.search_r1._model import tokenizer
from lossproof.adapters.search_r1._parts import data
from lossproof.testing import instance

LONGEST = 32768


def prompts_of(messages, chat_template=None):
    """(text, ids) of a row of the data set that has this conversation."""
    rows = pandas.DataFrame({"prompt": [list(messages)]})
    made = instance(
        data.RLHFDataset,
        dataframe=rows,
        tokenizer=tokenizer,
        prompt_key="prompt",
        max_prompt_length=LONGEST,
        truncation="error",
        return_raw_chat=False,
    )
    with rendering(tokenizer, chat_template) as rendered:
        row = made[0]
    return rendered[0][0], row["input_ids"][row["attention_mask"].bool()].tolist()


def asked(messages, add_generation_prompt, chat_template):
    if not add_generation_prompt:
        raise lossproof.Reject("Search-R1 samples from prompts alone")
    return prompts_of(messages, chat_template)


@lossproof.op(route=["rl"], chat_template=True)
def render(messages, add_generation_prompt, chat_template=None):
    return {"text": asked(messages, add_generation_prompt, chat_template)[0]}


@lossproof.op(route=["rl"], chat_template=True)
def tokenize(messages, add_generation_prompt, chat_template=None):
    return {"input_ids": asked(messages, add_generation_prompt, chat_template)[1]}
