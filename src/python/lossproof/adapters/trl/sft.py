"""`python -m lossproof.adapters.trl.sft`: TRL's own SFTTrainer, unmodified, on a tiny random model on the CPU.

Labels come from the trainer's dataset preparation, batches from its collator, losses from its training_step with its
version's default loss. Settings: LOSSPROOF_TOKENIZER=folder, LOSSPROOF_MODEL=qwen2|gpt2, LOSSPROOF_STOPS (the
tokens that end a turn, if not the tokenizer's eos), and which of TRL's dataset forms a conversation is given in:
LOSSPROOF_DATA=prompt-completion (the last answer is trained), assistant-only (assistant_only_loss=True: every answer
is), messages (everything is). The first versions trained everything, whatever the form, and made labels of ids."""


import os

import lossproof
from lossproof import Reject
from lossproof.adapters.common._tiny import (
    VERSION,
    declared_tokens,
    load_tokenizer,
    named_stops,
    stop,
    tiny_model,
    tokenizer_folder,
)

import torch
from datasets import Dataset
from trl import SFTConfig, SFTTrainer
from trl.trainer.utils import pad

from lossproof.adapters.common import _grpo
from lossproof.adapters.common._head import logits_given
from lossproof.adapters.common._labels import columns_of, keeps_labels, kept_labels, labels_of
from lossproof.adapters.common._models import descend, kept
from lossproof.adapters.common._policy import Policy
from lossproof.adapters.common._rows import Rows
from lossproof.adapters.common._standin import rendering
from lossproof.adapters.common._trainer import accumulated, items_of
from lossproof.adapters.common._trl import configured, has_field, logged, rows_of, serve
from lossproof.testing import replaced, spy

TARGETS = {"prompt-completion": "last-assistant", "assistant-only": "assistant", "messages": "all"}
FORM = os.environ.get("LOSSPROOF_DATA") or "prompt-completion"
if FORM not in TARGETS:
    stop("LOSSPROOF_DATA=%s: choose one of %s" % (FORM, ", ".join(TARGETS)))
# Whether a prompt is left untrained; before that all data became messages.
PARTIAL = has_field(SFTConfig, "completion_only_loss")
if FORM == "assistant-only" and not has_field(SFTConfig, "assistant_only_loss"):
    stop("LOSSPROOF_DATA=assistant-only: SFTTrainer of TRL %s has no assistant_only_loss" % VERSION)
# assistant_only_loss needs a template with generation markers, so only the tokenizer's own (patched by TRL) will do.
OTHER_TEMPLATES = FORM != "assistant-only"

FOLDER = tokenizer_folder()
tokenizer = load_tokenizer(FOLDER)
ANSWER = {"role": "assistant", "content": "yes"}


def dataset_row(messages):
    """The conversation in the form that LOSSPROOF_DATA names."""
    if FORM != "prompt-completion":
        return {"messages": messages}
    if len(messages) < 2 or messages[-1]["role"] != "assistant":
        raise Reject("a prompt-completion row needs a prompt and, last, the assistant's message")
    return {"prompt": messages[:-1], "completion": messages[-1:]}


def build(model=None):
    """The trainer, around the adapter's own tiny model or around a checkpoint in a folder. Its one dataset row tells it which form its data has; nothing is ever trained on it."""
    try:
        made = SFTTrainer(
            model=tiny_model(len(tokenizer)) if model is None else model,
            args=configured(SFTConfig, assistant_only_loss=FORM == "assistant-only"),
            train_dataset=Dataset.from_list([dataset_row([{"role": "user", "content": "well"}, ANSWER])]),
            processing_class=tokenizer,
        )
    except ValueError as refusal:
        stop("SFTTrainer refuses this tokenizer for LOSSPROOF_DATA=%s: %s" % (FORM, refusal))
    return rows_of(made)


trainer_of = kept(build)  # of a checkpoint
trainer = build()
# Beside it, for the rl route: the prompts that a policy tuned here is later given.
policy = Policy(_grpo.build(tokenizer), tokenizer)
tokens = declared_tokens(tokenizer, named_stops(tokenizer))
LIMIT = "max_length" if has_field(SFTConfig, "max_length") else "max_seq_length"
PADDING_FREE = hasattr(trainer.data_collator, "padding_free")


def prepared(messages, add_generation_prompt, chat_template):
    """(the trainer's training row or None, [(text, options) of each rendering]) of one conversation."""
    if add_generation_prompt:
        if FORM != "prompt-completion" or not PARTIAL:
            raise Reject("SFTTrainer renders a prompt of its own in prompt-completion data only, and not in its first versions")
        messages = [*messages, ANSWER]  # any answer: the prompt is rendered and tokenised without it
    with rendering(tokenizer, chat_template) as rendered:
        dataset = Rows([dataset_row(messages)])
        found = list(trainer._prepare_dataset(dataset, tokenizer, trainer.args, False, None, "train"))
    return (found[0] if found else None), rendered


@lossproof.op(route=["sft", "rl"], chat_template=OTHER_TEMPLATES)
def render(route, messages, add_generation_prompt, chat_template=None):
    if route == "rl":
        return {"text": prompted(messages, add_generation_prompt, chat_template)[1]}
    _, rendered = prepared(messages, add_generation_prompt, chat_template)
    return {"text": chosen(rendered, add_generation_prompt)[0]}


@lossproof.op(route=["sft", "rl"], chat_template=OTHER_TEMPLATES)
def tokenize(route, messages, add_generation_prompt, chat_template=None):
    if route == "rl":
        return {"input_ids": prompted(messages, add_generation_prompt, chat_template)[0]}
    row, rendered = prepared(messages, add_generation_prompt, chat_template)
    if add_generation_prompt:
        return {"input_ids": chosen(rendered, True)[1]}
    if row is None:
        raise Reject("SFTTrainer drops this conversation: no token of it would be trained")
    return {"input_ids": row["input_ids"], "labels": labels_of(row, trainer.data_collator)}


def prompted(messages, add_generation_prompt, chat_template):
    if not add_generation_prompt:
        raise Reject("GRPOTrainer always adds the generation prompt")
    with rendering(tokenizer, chat_template):
        return policy.prompted(messages)


def chosen(rendered, add_generation_prompt):
    """(text, ids) of the rendering with or without generation prompt."""
    return next(
        (text, ids)
        for text, ids, options in rendered
        if options.get("add_generation_prompt", False) == add_generation_prompt
    )


@lossproof.op
def collate(input_ids, labels, pad_token_id):
    if pad_token_id != tokens["pad_token_id"]:
        raise Reject("this trainer's collator pads with %d" % tokens["pad_token_id"])
    return trainer.data_collator([{"input_ids": ids, "labels": row} for ids, row in zip(input_ids, labels)])


@lossproof.op
def sft_batch(conversations):
    """A data set of these conversations through the preparation, and its rows through the collator, as the loader hands
    them to it."""
    rows = []
    for messages in conversations:
        row, _ = prepared(messages, False, None)
        if row is None:
            raise Reject("SFTTrainer drops a conversation of which no token would be trained")
        rows.append(columns_of(row))
    batch = trainer.data_collator(rows)
    fields = ("input_ids", "attention_mask", "labels", "position_ids")
    return {name: batch[name] for name in fields if name in batch}  # first versions add token types


def limited(input_ids, labels, max_length, packing):
    """Tokenised examples through the dataset preparation, under a limit."""
    rows = Rows([dict(zip(("input_ids", "labels", "at"), row)) for row in zip(input_ids, labels, range(len(labels)))])
    with replaced(trainer.args, **{LIMIT: max_length}):
        found = trainer._prepare_dataset(rows, tokenizer, trainer.args, packing, None, "train")
    return kept_labels(found, "TRL %s" % VERSION)


@lossproof.op
def truncate(input_ids, labels, max_length):
    rows = limited(input_ids, labels, max_length, packing=False)
    return {
        "input_ids": [row["input_ids"] for row in rows],
        "labels": [row["labels"] for row in rows],
        "kept": [row["at"] for row in rows],
    }


@lossproof.op
def pack(input_ids, labels, max_length, pad_token_id):
    """packing=True with TRL's default strategy, one packed row a batch through the collator that goes with it. Only
    this answer puts the rows into one matrix, by TRL's own pad."""
    if pad_token_id != tokens["pad_token_id"]:
        raise Reject("this trainer's collator pads with %d" % tokens["pad_token_id"])
    rows = limited(input_ids, labels, max_length, packing=True)
    if not rows:
        raise Reject("no example has a token")
    with replaced(trainer.data_collator, padding_free=True):
        batches = [trainer.data_collator([row]) for row in rows]
    fills = {"input_ids": pad_token_id, "labels": -100, "position_ids": 0}
    return {
        **{
            name: pad([batch[name][0] for batch in batches], padding_value=value, padding_side="right")
            for name, value in fills.items()
        },
        "segment_lengths": [row["seq_lengths"] for row in rows],
    }


@lossproof.op(micro_batches=True)
def sft_loss(input_ids, attention_mask, labels, logits, micro_batches):
    """One optimiser step."""
    loss, weights, count = accumulated(trainer, input_ids, attention_mask, labels, logits, micro_batches)
    logged(trainer).clear()
    return {"loss": loss, "loss_weights": weights, "trained_tokens": count}


@lossproof.op(temperature=True)
def logprobs(input_ids, attention_mask, logits, prompt_width):
    """Of the logits as they are, whatever the temperature."""
    batch = {"input_ids": torch.tensor(input_ids), "attention_mask": torch.tensor(attention_mask)}
    with logits_given(trainer.model, torch.tensor(logits)):
        found = one_by_one(batch, batch["attention_mask"].bool(), prompt_width)
    return {"logprobs": found}


@lossproof.op(**({"packed": True} if PADDING_FREE else {}))
def score(prompt_ids, completion_ids, packed=False):
    """Packed, all examples are one row, as padding_free=True has it."""
    batch, places = collated(trainer, prompt_ids, completion_ids, packed)
    wanted = torch.zeros_like(batch["input_ids"]).bool()
    for place in places:
        wanted[place] = True
    found = one_by_one(batch, wanted, 1)
    return {"logprobs": [found[place].tolist() for place in places]}


def collated(trainer, prompt_ids, completion_ids, packed=False):
    """(the trainer's batch of these examples without labels, where in it each completion is)."""
    rows = list(zip(prompt_ids, completion_ids))
    with replaced(trainer.data_collator, **({"padding_free": packed} if PADDING_FREE else {})):
        batch = trainer.data_collator([{"input_ids": [*prompt, *completion]} for prompt, completion in rows])
    batch.pop("labels")
    places, begin = [], 0
    for row, (prompt, completion) in enumerate(rows):
        row, start = (0, begin) if packed else (row, 0)
        begin += len(prompt) + len(completion)
        places.append((row, slice(start + len(prompt), start + len(prompt) + len(completion))))
    return batch, places


@lossproof.op(**({"packed": True} if PADDING_FREE else {}))
def model_score(model_path, prompt_ids, completion_ids, temperature, packed=False):
    """The forward pass of a trainer that was given this checkpoint, on its collator's batch. SFTTrainer knows no
    temperature."""
    owner = trainer_of(model_path)
    batch, places = collated(owner, prompt_ids, completion_ids, packed)
    with torch.no_grad():
        logps = torch.log_softmax(owner.model(**asked_of_model(owner, batch)).logits, dim=-1)
    # The logits before a token predict it.
    before = [(row, slice(at.start - 1, at.stop - 1)) for row, at in places]
    chosen = [logps[at].gather(1, batch["input_ids"][place][:, None])[:, 0] for at, place in zip(before, places)]
    return {
        "logprobs": [row.tolist() for row in chosen],
        "entropy": [-(logps[at].exp() * logps[at]).sum(-1) for at in before],
    }


def asked_of_model(trainer, batch):
    """What compute_loss hands to the model, less the labels: whether rows of one are kept apart hangs on use_cache, too."""
    with spy(trainer.model, "forward", stop=True) as calls:
        trainer.compute_loss(trainer.model, {**batch, "labels": batch["input_ids"]}, num_items_in_batch=1)
    return {name: value for name, value in calls[0].kwargs.items() if name not in ("labels", "num_items_in_batch")}


@lossproof.op(route=["sft"])
def train_step(model_path, prompt_ids, completion_ids, learning_rate, saved_path, advantages=None):
    """compute_loss on the collator's batch, with the completions as labels; the step itself is plain descent."""
    owner = trainer_of(model_path)
    rows = [
        {"input_ids": [*prompt, *completion], "labels": [-100] * len(prompt) + list(completion)}
        for prompt, completion in zip(prompt_ids, completion_ids)
    ]
    batch = owner.data_collator(rows)
    count = items_of(owner, [batch])
    loss = owner.compute_loss(owner.model, batch, num_items_in_batch=count)
    descend(owner.model, loss, learning_rate, saved_path)
    logged(owner).clear()
    return {"loss": loss.item()}


def one_by_one(batch, wanted, first):
    """(B, T): minus the loss of each wanted token at column `first` or later, when it is the only one with a label."""
    found = torch.zeros(batch["input_ids"].shape)
    for row, column in wanted.nonzero().tolist():
        if column < max(first, 1):
            continue  # nothing predicts a row's first token
        labels = torch.full_like(batch["input_ids"], -100)
        labels[row, column] = batch["input_ids"][row, column]
        with torch.no_grad():
            found[row, column] = -trainer.compute_loss(trainer.model, {**batch, "labels": labels}, num_items_in_batch=1)
    logged(trainer).clear()
    return found


def lacking():
    """{op: why} of examples that are given with labels, in versions that make their own of the ids."""
    own = "TRL %s makes labels in its collator, and loses those of an example that is given with them" % VERSION
    lacks = {}
    if not keeps_labels(trainer.data_collator):
        return dict.fromkeys(("collate", "train_step", "truncate", "pack"), own)
    ids, labels = [[0, 1, 2]], [[-100, 1, 2]]
    for op, packing in (("truncate", False), ("pack", True)):
        try:
            rows = limited(ids, labels, 2, packing)
        except Reject:
            lacks[op] = own
        else:
            if any(len(row["labels"]) != len(row["input_ids"]) for row in rows):
                lacks[op] = own
    return lacks


if __name__ == "__main__":
    serve(
        "trl-sft",
        trainer.args,
        policy.trainer.args,
        lacks=lacking(),
        layout={"alignment": "token", "span": "row"},
        semantics={
            "sft_target": TARGETS[FORM] if PARTIAL else "all",
            "loss_aggregation": "token-mean",
            "loss_normalization": "global",
            "temperature_in_scoring": False,
            "truncation_side": "right",  # truncation_mode keep_start
            "overlong": "truncate",
        },
        tokens=tokens,
        tokenizer=FOLDER,
    )
