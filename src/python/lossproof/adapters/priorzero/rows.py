"""The rows that the policy trains on: which tokens of a batch (mask), and of one conversation (tokenize)."""

import lossproof
from lossproof.adapters.common._library import template_of
from lossproof.adapters.common._standin import same_ids
from lossproof.adapters.priorzero._learn import Scores, learned
from lossproof.adapters.priorzero._model import codec, tokenizer, tokens
from lossproof.adapters.priorzero._settings import ROUTE
from lossproof.testing import replaced


@lossproof.op
def mask(prompt_ids, completion_ids, pad_token_id, eos_token_ids):
    """A completion's stop is the one that the trainer puts behind each target."""
    same_ids(tokens, pad_token_id, eos_token_ids)
    prompts = [codec.decode(ids) for ids in prompt_ids]
    completions = [codec.decode(ids[:-1]) for ids in completion_ids]
    model = Scores(len(codec))
    learned(model, codec, prompts, completions, ROUTE)
    rows = model.batch(ROUTE == "sft")
    return {name: rows[name] for name in ("input_ids", "attention_mask", "completion_mask")}


@lossproof.op(route=["rl"], chat_template=True)
def tokenize(messages, add_generation_prompt, chat_template=None):
    """A prompt as the policy renders and encodes it, with these messages in the place of its own one. No answer of an assistant is
    ever rendered by the template: what SFT puts behind a prompt is its own text."""
    if not add_generation_prompt:
        raise lossproof.Reject("PriorZero renders prompts alone")
    real = tokenizer.apply_chat_template
    model = Scores(len(tokenizer))
    with template_of(tokenizer, chat_template):
        with replaced(tokenizer, apply_chat_template=lambda _, **options: real(messages, **options)):
            learned(model, tokenizer, [""], [""], "rft")
    row = model.batch(False)
    ids = row["input_ids"][0].tolist()
    # Where the answer is in the row, an empty one is its stop alone.
    stopped = row["completion_mask"].sum() == 1 and ids[-1:] == tokens["eos_token_ids"]
    return {"input_ids": ids[:-1] if stopped else ids}
