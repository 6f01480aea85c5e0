"""Prompts and rows of one conversation as both stages write and encode them: generate_candidates_batch and tokenize_sft_pair."""

import lossproof
from lossproof.adapters.common._library import template_of
from lossproof.adapters.grpo_dual._heard import Heard, Sampler
from lossproof.adapters.grpo_dual._model import tokenizer
from lossproof.adapters.grpo_dual._parts import dual, trainer


def question(messages):
    """What the trainer knows of a conversation: one text."""
    return messages[-1]["content"]


def generated_from(messages):
    """(text, ids) of the prompt that candidates are sampled from, and what the template was asked for."""
    heard = Heard(tokenizer, [messages])
    model = Sampler(heard, [[tokenizer.eos_token_id]])
    trainer.generate_candidates_batch(model, heard, "cpu", [question(messages)], 1, max_new_tokens=1)
    heard.accepted()
    return str(heard.encoded[0][0][0]), model.prompts[0], heard.given[0]


def fine_tuned_on(messages, whole):
    """(text, ids, labels) of the row of a conversation; where it is not whole, of the prompt that is put in front of an answer."""
    if whole and messages[-1]["role"] != "assistant":
        raise lossproof.Reject("grpo-dual fine-tunes on an answer at the end")
    prompt, target = (messages[:-1], messages[-1]["content"]) if whole else (messages, "")
    if not prompt:
        raise lossproof.Reject("grpo-dual fine-tunes on answers to a question")
    heard = Heard(tokenizer, [prompt])
    row = trainer.tokenize_sft_pair(heard, question(prompt), target, "cpu")
    heard.accepted()
    (first, encoding), (last, _) = heard.encoded[0], heard.encoded[-1]
    if not whole:
        return str(first[0]), encoding["input_ids"][0], None
    # The row may be encoded in one piece, or the answer alone.
    text = last[0] if last[0].startswith(first[0]) else first[0] + last[0]
    return str(text), row["input_ids"][0], row["labels"][0]


def asked(route, messages, add_generation_prompt, chat_template):
    """(text, ids, labels) of either route."""
    with template_of(tokenizer, chat_template):
        if route == "sft":
            return fine_tuned_on(messages, not add_generation_prompt)
        if not add_generation_prompt:
            raise lossproof.Reject("grpo-dual samples from prompts alone")
        return (*generated_from(messages)[:2], None)


@lossproof.op(chat_template=True)
def render(route, messages, add_generation_prompt, chat_template=None):
    return {"text": asked(route, messages, add_generation_prompt, chat_template)[0]}


@lossproof.op(chat_template=True)
def tokenize(route, messages, add_generation_prompt, chat_template=None):
    _, ids, labels = asked(route, messages, add_generation_prompt, chat_template)
    return {"input_ids": ids} if labels is None else {"input_ids": ids, "labels": labels}


def own_system():
    """`default_system` of the semantics: the system message that the trainer writes in front of a question, where it does."""
    if "rollout" in dual.lacks:
        return {}
    first = generated_from([{"role": "user", "content": "a"}])[2][0]
    return {"default_system": first["content"]} if first["role"] == "system" else {}
