"""Conversations: ops tokenize, sft_batch and preference_batch."""

import lossproof
from lossproof import Reject
from lossproof.adapters.common._library import template_of
from lossproof.adapters.llama_factory._model import UNLIMITED, arguments, collating, template, template_for, tokenizer
from lossproof.adapters.llama_factory._parts import collators
from lossproof.adapters.llama_factory._rows import conversing, converted, processed
from lossproof.adapters.llama_factory._settings import TEMPLATE
from lossproof.adapters.llama_factory.pairs import halves_of
from lossproof.testing import spy

ANSWER = {"role": "assistant", "content": "yes"}


# A template that is named is the same whatever the tokenizer has.
@lossproof.op(route=["sft", "rl"], chat_template=TEMPLATE is None)
def tokenize(route, messages, add_generation_prompt, chat_template=None):
    with template_of(tokenizer, chat_template):
        own = template_for(tokenizer.chat_template)
        if route == "rl":
            if not add_generation_prompt:
                raise Reject("PPO always adds the generation prompt")
            return {"input_ids": prompted(messages, own)}
        if add_generation_prompt:
            # Any answer: its prompt is what is encoded before it.
            with spy(own, "encode_multiturn") as calls:
                conversing([[*messages, ANSWER]], own)
            *earlier, (prompt, _) = calls.only.result
            return {"input_ids": [token for turn in earlier for half in turn for token in half] + prompt}
        (row,) = conversing([messages], own)
    return {"input_ids": row["input_ids"], "labels": row["labels"]}


def prompted(messages, own):
    """UnsupervisedDatasetProcessor's row, as PPO samples from it; the answer that a data set has beside it is not looked at."""
    examples = converted([{"messages": [*messages, ANSWER]}])
    (row,) = processed("ppo", examples, arguments(), own)
    return row["input_ids"]


@lossproof.op
def sft_batch(conversations):
    rows = conversing(conversations, template)
    batch = collating(collators.SFTDataCollatorWith4DAttentionMask)(rows)
    return {name: batch[name] for name in ("input_ids", "attention_mask", "labels")}


@lossproof.op
def preference_batch(prompts, chosen, rejected):
    """PairwiseDatasetProcessor's rows of a ranking, through the collator of DPO and of reward models."""
    said = [[{"role": "assistant", "content": text} for text in half] for half in (chosen, rejected)]
    rows = [dict(zip(("messages", "chosen", "rejected"), row)) for row in zip(prompts, *said)]
    examples = converted(rows, ranking=True)
    return halves_of(processed("rm", examples, arguments(UNLIMITED), template))
