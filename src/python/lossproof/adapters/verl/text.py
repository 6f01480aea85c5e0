"""Op tokenize: a row of MultiTurnSFTDataset, and the prompt that the agent loop sends."""

import lossproof
from lossproof import Reject
from lossproof.adapters.common._library import quietly, template_of
from lossproof.adapters.verl._model import tokenizer
from lossproof.adapters.verl._parts import prompts, sft
from lossproof.testing import spy

import torch


def prompt_of(data):
    """The ids in front of an answer, as the data set has them: its rows so far, and the prompt that it masks."""
    return [*data[0]["input_ids"].tolist(), *data.generation_prompt]


@lossproof.op(route=["sft", "rl"], chat_template=True)
def tokenize(route, messages, add_generation_prompt, chat_template=None):
    with template_of(tokenizer, chat_template), quietly():
        if route == "rl":
            if not add_generation_prompt:
                raise Reject("the agent loop always adds the generation prompt")
            return {"input_ids": prompts(tokenizer).build_initial_tokens(messages)}
        frame = sft.pd.DataFrame({"messages": [messages]})
        try:
            with spy(sft.pd, "read_parquet", returns=frame), spy(sft, "copy_local_path_from_hdfs", returns="rows"):
                data = sft.MultiTurnSFTDataset("rows", tokenizer, {"pad_mode": "no_padding", "max_length": 1 << 20})
            if add_generation_prompt:
                return {"input_ids": prompt_of(data)}
            row = data[0]
        except AssertionError as refusal:
            # Its own check that messages rendered one by one make the whole; any other assertion is an error.
            if "ignore_input_ids_mismatch" not in str(refusal):
                raise
            raise Reject(str(refusal).split("\n")[0])
    labels = torch.where(row["loss_mask"].bool(), row["input_ids"], -100)
    return {"input_ids": row["input_ids"], "labels": labels}
