"""Wrong text and supervised rows: templates, BOS, stop tokens, labels."""

import re

from lossproof.examples import left_padded
from lossproof.examples.text.chat import (
    BOS,
    BOS_ID,
    HEADER,
    STOP_ID,
    chat_ids,
    chat_labels,
    chat_text,
    tokenizer,
)

from ..registry import MUTANTS


@MUTANTS.add("bos-twice", "BOS stands twice", left_padded, row="TOK-01")
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
    row="TPL-01",
    rows=("TPL-02",),
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


@MUTANTS.add("sft-drops-system", "SFT rows lose the system prompt", left_padded, "tokenize", row="TPL-06")
def tokenize_no_system(route, messages, add_generation_prompt):
    """The SFT script reads pairs of user and assistant; the system prompt exists in RL only."""
    kept = without_system(messages) if route == "sft" else messages
    return left_padded.tokenize(route, kept, add_generation_prompt)


@MUTANTS.add(
    "render-drops-system-in-sft", "The SFT text lacks the system prompt", left_padded, "render", row="TPL-06"
)
def render_no_system(route, messages, add_generation_prompt):
    """The same as sft-drops-system, seen before tokenisation."""
    kept = without_system(messages) if route == "sft" else messages
    return left_padded.render(kept, add_generation_prompt)


@MUTANTS.add(
    "render-drops-empty-thoughts", "SFT loses the empty thoughts that RL prompts have", left_padded, "render", row="TPL-06"
)
def render_without_empty_thoughts(route, messages, add_generation_prompt):
    """Empty thoughts were cleaned out of the data, but the template writes them where thinking is switched off: the policy is
    asked to go on behind what it never saw. Fix: one template on both routes."""
    text = chat_text(messages, add_generation_prompt)
    return {"text": re.sub(r"<think>\s*</think>\s*", "", text) if route == "sft" else text}


@MUTANTS.add(
    "render-strips-the-end",
    "The rendered RL prompt loses its trailing line ends",
    left_padded,
    "render",
    row="TOK-12",
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
    row="TOK-12",
)
def tokenize_stripped(route, messages, add_generation_prompt):
    """As render-strips-the-end, on the way to the tokenizer."""
    if route == "sft":
        return left_padded.tokenize(route, messages, add_generation_prompt)
    return {"input_ids": tokenizer.encode(chat_text(messages, add_generation_prompt).rstrip("\n"))}


@MUTANTS.add(
    "sft-trains-the-prompt", "SFT labels cover prompt and answer alike", left_padded, "tokenize", row="MSK-01"
)
def tokenize_all_labels(route, messages, add_generation_prompt):
    """labels = input_ids.copy(), and the line that masks the prompt was never written."""
    ids = chat_ids(messages, add_generation_prompt)
    return {"input_ids": ids, "labels": list(ids)} if route == "sft" else {"input_ids": ids}


@MUTANTS.add(
    "sft-trains-the-header",
    "SFT labels begin at the assistant's header",
    left_padded,
    "tokenize",
    row="TPL-01",
)
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


@MUTANTS.add(
    "sft-misses-the-stop-token", "SFT does not train the stop token", left_padded, "tokenize", row="EOS-07"
)
def tokenize_no_stop(route, messages, add_generation_prompt):
    """Only the content is labelled; the model never learns to end its turn."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "sft":
        right["labels"] = [
            -100 if label == STOP_ID else label for label in chat_labels(messages, add_generation_prompt)
        ]
    return right


@MUTANTS.add(
    "sft-labels-shifted", "SFT labels are shifted by one in the data", left_padded, "tokenize", row="LP-01"
)
def tokenize_shifted_labels(route, messages, add_generation_prompt):
    """labels = ids[1:]: the data set shifts, and the loss shifts once more. Fix: labels lie on their own tokens."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "sft":
        right["labels"] = right["labels"][1:] + [-100]
    return right


@MUTANTS.add(
    "sft-trains-the-first-answer",
    "SFT trains the first answer, not the last",
    left_padded,
    "tokenize",
    row="MSK-09",
)
def tokenize_first_answer(route, messages, add_generation_prompt):
    """list.index(role) finds the first assistant turn; long dialogues train their opening only."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "sft":
        spoken = [t for t, label in enumerate(right["labels"]) if label == STOP_ID][:1]
        end = spoken[0] + 1 if spoken else 0
        right["labels"] = right["labels"][:end] + [-100] * (len(right["labels"]) - end)
    return right


@MUTANTS.add(
    "sft-trains-the-last-answer-only",
    "SFT trains the last answer and declares them all",
    left_padded,
    "tokenize",
    row="MSK-09",
)
def tokenize_last_answer(route, messages, add_generation_prompt):
    """The row was split at the last header, as for completions, and the configuration still says assistant turns.
    Fix: label each turn where it is rendered."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "sft":
        ids, start = right["input_ids"], tokenizer.added[HEADER]
        last = max(t for t, id in enumerate(ids) if id == start)
        right["labels"] = [-100] * last + right["labels"][last:]
    return right


@MUTANTS.add(
    "sft-trains-earlier-headers", "SFT labels cover the headers of earlier answers", left_padded, "tokenize"
)
def tokenize_earlier_headers(route, messages, add_generation_prompt):
    """Turns before the last are masked by role, message by message, and a message begins with its header. Only the last
    was cut behind it. Fix: measure every turn with its generation prompt."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "sft":
        ids, labels = right["input_ids"], list(right["labels"])
        starts = [t for t, id in enumerate(ids) if id == tokenizer.added[HEADER]]
        for start, end in zip(starts, starts[1:]):
            if any(label != -100 for label in labels[start:end]):
                labels[start:end] = ids[start:end]
        right["labels"] = labels
    return right


@MUTANTS.add("sft-doubles-the-stop", "SFT rows end with two stop tokens", left_padded, "tokenize")
def tokenize_two_stops(route, messages, add_generation_prompt):
    """The template ends each turn with its stop token, and the data set code appends eos to each text all the same.
    Fix: append only where it is not there yet."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "sft" and not add_generation_prompt:
        right["input_ids"], right["labels"] = right["input_ids"] + [STOP_ID], right["labels"] + [STOP_ID]
    return right


@MUTANTS.add("render-doubles-the-stop", "SFT texts end with two stop tokens", left_padded, "render")
def render_two_stops(route, messages, add_generation_prompt):
    """text + eos_token, where the template has written it already."""
    text = chat_text(messages, add_generation_prompt)
    return {"text": text + tokenizer.decode([STOP_ID]) if route == "sft" else text}
