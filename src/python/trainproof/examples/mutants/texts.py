"""Wrong text: templates, BOS, and ids that went through text and back."""

from .. import left_padded
from ..chat import (
    BOS,
    BOS_ID,
    HEADER,
    STOP_ID,
    chat_ids,
    chat_labels,
    chat_text,
    tokenizer,
)
from . import MUTANTS


@MUTANTS.add("bos-twice", "BOS stands twice", left_padded)
def tokenize(route, messages, add_generation_prompt):
    """The template writes BOS and the tokenizer adds another: add_special_tokens was left on."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    labels = {"labels": [-100] + right["labels"]} if "labels" in right else {}
    return dict(labels, input_ids=[BOS_ID] + right["input_ids"])


@MUTANTS.add("bos-missing", "BOS is lost in RL", left_padded, "tokenize")
def tokenize_no_bos(route, messages, add_generation_prompt):
    """The text was cleaned of BOS for the inference server, which was to add it, and did not."""
    if route == "sft":
        return left_padded.tokenize(route, messages, add_generation_prompt)
    return {"input_ids": tokenizer.encode(chat_text(messages, add_generation_prompt)[len(BOS) :])}


@MUTANTS.add(
    "generation-prompt-missing",
    "RL prompts end without the assistant header",
    left_padded,
    "tokenize",
    "render",
)
def tokenize_no_header(route, messages, add_generation_prompt):
    """A misspelt add_generation_prompt vanished in **kwargs: the policy first has to write its own header."""
    return left_padded.tokenize(route, messages, add_generation_prompt and route == "sft")


def render_no_header(route, messages, add_generation_prompt):
    return left_padded.render(messages, add_generation_prompt and route == "sft")


# The text op shows the same mistake.
MUTANTS["generation-prompt-missing"].ops["render"] = render_no_header


def without_system(messages):
    return [message for message in messages if message["role"] != "system"]


@MUTANTS.add("sft-drops-system", "SFT rows lose the system prompt", left_padded, "tokenize")
def tokenize_no_system(route, messages, add_generation_prompt):
    """The SFT script reads pairs of user and assistant; the system prompt exists in RL only."""
    kept = without_system(messages) if route == "sft" else messages
    return left_padded.tokenize(route, kept, add_generation_prompt)


@MUTANTS.add("render-drops-system-in-sft", "The SFT text lacks the system prompt", left_padded, "render")
def render_no_system(route, messages, add_generation_prompt):
    """The same as sft-drops-system, seen before tokenisation."""
    kept = without_system(messages) if route == "sft" else messages
    return left_padded.render(kept, add_generation_prompt)


@MUTANTS.add(
    "render-strips-the-end", "The rendered RL prompt loses its trailing line ends", left_padded, "render"
)
def render(route, messages, add_generation_prompt):
    """A tidy .strip() on the prompt: the policy is asked to continue behind another token than SFT taught it."""
    text = chat_text(messages, add_generation_prompt)
    return {"text": text.rstrip("\n") if route == "rl" else text}


@MUTANTS.add(
    "tokenize-strips-the-end",
    "RL prompts are tokenised without their trailing line ends",
    left_padded,
    "tokenize",
)
def tokenize_stripped(route, messages, add_generation_prompt):
    """As render-strips-the-end, on the way to the tokenizer."""
    if route == "sft":
        return left_padded.tokenize(route, messages, add_generation_prompt)
    return {"input_ids": tokenizer.encode(chat_text(messages, add_generation_prompt).rstrip("\n"))}


@MUTANTS.add("sft-trains-the-prompt", "SFT labels cover prompt and answer alike", left_padded, "tokenize")
def tokenize_all_labels(route, messages, add_generation_prompt):
    """labels = input_ids.copy(), and the line that masks the prompt was never written."""
    ids = chat_ids(messages, add_generation_prompt)
    return {"input_ids": ids, "labels": list(ids)} if route == "sft" else {"input_ids": ids}


@MUTANTS.add("sft-trains-the-header", "SFT labels begin at the assistant's header", left_padded, "tokenize")
def tokenize_header_labels(route, messages, add_generation_prompt):
    """The prompt was measured without the generation prompt, so the header counts as the answer's."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "sft":
        ids, labels, trained = right["input_ids"], right["labels"], False
        start = tokenizer.added[HEADER]
        for t in reversed(range(len(ids))):
            if labels[t] != -100 or (trained and ids[t] != STOP_ID):
                labels[t], trained = ids[t], True
            if ids[t] == start:
                trained = False
    return right


@MUTANTS.add("sft-misses-the-stop-token", "SFT does not train the stop token", left_padded, "tokenize")
def tokenize_no_stop(route, messages, add_generation_prompt):
    """Only the content is labelled; the model never learns to end its turn."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "sft":
        right["labels"] = [
            -100 if label == STOP_ID else label for label in chat_labels(messages, add_generation_prompt)
        ]
    return right


@MUTANTS.add("rollout-retokenises", "Sampled ids are decoded and tokenised again before scoring", left_padded)
def rollout(conversations, sampled_ids):
    """Text is not ids: most token sequences are not the ones that the tokenizer would have chosen for their text."""
    again = [tokenizer.encode(tokenizer.decode(ids)) for ids in sampled_ids]
    return left_padded.rollout(conversations, again)


@MUTANTS.add("rollout-adds-bos", "Scoring puts another BOS in front of the prompt", left_padded, "rollout")
def rollout_bos(conversations, sampled_ids):
    """The scorer tokenises the rendered prompt with special tokens on; the sampler did not."""
    right = left_padded.rollout(conversations, sampled_ids)
    rows, masks = right["input_ids"], right["attention_mask"]
    starts = [real.index(1) for real in masks]
    return dict(
        right,
        input_ids=[row[:at] + [BOS_ID] + row[at:] for row, at in zip(rows, starts)],
        attention_mask=[real[:at] + [1] + real[at:] for real, at in zip(masks, starts)],
    )


@MUTANTS.add("rollout-attention-by-id", "Scoring's attention mask is `ids != pad`", left_padded, "rollout")
def rollout_attention(conversations, sampled_ids):
    """Here pad is the stop token, so every turn's end in the prompt is hidden from the scorer."""
    right = left_padded.rollout(conversations, sampled_ids)
    pad = left_padded.PAD_ID
    return dict(right, attention_mask=[[int(id != pad) for id in row] for row in right["input_ids"]])
