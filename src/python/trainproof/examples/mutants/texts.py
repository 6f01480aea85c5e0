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
from ..rows import beside, pad_left
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


@MUTANTS.add("sft-labels-shifted", "SFT labels are shifted by one in the data", left_padded, "tokenize")
def tokenize_shifted_labels(route, messages, add_generation_prompt):
    """labels = ids[1:]: the data set shifts, and the loss shifts once more. Fix: labels lie on their own tokens."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "sft":
        right["labels"] = right["labels"][1:] + [-100]
    return right


@MUTANTS.add("rollout-templates-twice", "The prompt is a template inside a template", left_padded, "rollout")
def rollout_twice(conversations, sampled_ids):
    """The prompts came rendered from the data set, and the server's chat endpoint rendered them again. Generation
    and scoring agree, so no ratio tells. Fix: hand messages to a chat endpoint, or ids to a completion endpoint."""
    wrapped = [[{"role": "user", "content": chat_text(messages, True)}] for messages in conversations]
    return left_padded.rollout(wrapped, sampled_ids)


@MUTANTS.add("rollout-mask-is-the-block", "The scored batch trains the whole block", left_padded, "rollout")
def rollout_block(conversations, sampled_ids):
    """completion_mask = ones_like(completions), right while all completions had one length. Fix: carry the lengths
    of the sampled rows along."""
    right = left_padded.rollout(conversations, sampled_ids)
    return dict(right, completion_mask=[[1] * len(row) for row in right["completion_mask"]])


@MUTANTS.add(
    "sft-trains-the-first-answer", "SFT trains the first answer, not the last", left_padded, "tokenize"
)
def tokenize_first_answer(route, messages, add_generation_prompt):
    """list.index(role) finds the first assistant turn; long dialogues train their opening only."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "sft":
        spoken = [t for t, label in enumerate(right["labels"]) if label == STOP_ID][:1]
        end = spoken[0] + 1 if spoken else 0
        right["labels"] = right["labels"][:end] + [-100] * (len(right["labels"]) - end)
    return right


@MUTANTS.add("rollout-appends-a-stop", "Scoring ends every completion with a stop token", left_padded, "rollout")
def rollout_appends(conversations, sampled_ids):
    """A stop token is added to each completion, also behind the one that was sampled and behind what was cut off by
    its length: the policy is rewarded for a token that it never chose. Fix: score what was sampled."""
    return left_padded.rollout(conversations, [ids + [STOP_ID] for ids in sampled_ids])


@MUTANTS.add("rollout-mask-by-pad-id", "The mask of the scored batch is `ids != pad`", left_padded, "rollout")
def rollout_mask_by_id(conversations, sampled_ids):
    """Here pad is the stop token: every answer is trained up to its stop and never to stop. Fix: build the mask from
    the lengths."""
    right = left_padded.rollout(conversations, sampled_ids)
    blocks = [row[-len(mask) :] for row, mask in zip(right["input_ids"], right["completion_mask"])]
    return dict(right, completion_mask=[[int(id != left_padded.PAD_ID) for id in row] for row in blocks])


@MUTANTS.add(
    "rollout-kept-by-prompt", "Sampled completions are kept in a table by prompt", left_padded, "rollout"
)
def rollout_by_prompt(conversations, sampled_ids):
    """{prompt: completion}: of the G samples of one prompt only the last is left, and is scored G times. Fix: keep
    them by row."""
    kept = {str(messages): ids for messages, ids in zip(conversations, sampled_ids)}
    return left_padded.rollout(conversations, [kept[str(messages)] for messages in conversations])


@MUTANTS.add(
    "sft-trains-the-last-answer-only",
    "SFT trains the last answer and declares them all",
    left_padded,
    "tokenize",
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


# Longer than the header of an answer, shorter than most prompts.
PROMPT_LIMIT = 12


@MUTANTS.add("rollout-truncates-the-prompt", "Scoring cuts long prompts on the left", left_padded, "rollout")
def rollout_truncated(conversations, sampled_ids):
    """max_prompt_length was set for the scorer and not for the sampler: BOS and system prompt are lost from what is
    scored. Fix: one limit, applied before sampling."""
    prompt_ids = [chat_ids(messages, True) for messages in conversations]
    prompts, prompt_real = pad_left([ids[-PROMPT_LIMIT:] for ids in prompt_ids], left_padded.PAD_ID)
    right = left_padded.rollout(conversations, sampled_ids)
    width = len(right["input_ids"][0]) - len(right["completion_mask"][0])
    return dict(
        right,
        input_ids=beside(prompts, [row[width:] for row in right["input_ids"]]),
        attention_mask=beside(prompt_real, [row[width:] for row in right["attention_mask"]]),
    )
