"""Wrong conversations: results of tools, turns that do not alternate, and history."""

import json
import re

from lossproof.examples import left_padded
from lossproof.examples.text.chat import (
    BOS,
    BOS_ID,
    HEADER,
    IGNORED,
    STOP_ID,
    body,
    chat_ids,
    chat_text,
    header,
    tokenizer,
)

from ..registry import MUTANTS

ASSISTANT = header("assistant")


def one_by_one(messages, add_generation_prompt):
    """Every result of a tool as a turn of its own."""
    text = BOS
    for message in messages:
        role = "ipython" if message["role"] == "tool" else message["role"]
        text += header(role) + body(message)
    return text + ASSISTANT if add_generation_prompt else text


def answer_of(text, route):
    """Ids of a text, and its answers as labels where they are asked for."""
    answer = {"input_ids": tokenizer.encode(text)}
    if route == "sft":
        before, *answers = text.split(ASSISTANT)
        labels = [IGNORED] * len(tokenizer.encode(before))
        for rest in answers:
            spoken = tokenizer.encode(rest)
            end = spoken.index(STOP_ID) + 1 if STOP_ID in spoken else 0
            labels += [IGNORED] * len(tokenizer.encode(ASSISTANT))
            labels += spoken[:end] + [IGNORED] * (len(spoken) - end)
        answer["labels"] = labels
    return answer


@MUTANTS.add(
    "tools-rendered-one-by-one",
    "Results of parallel calls are rendered one by one",
    left_padded,
    "render",
    row="MT-03",
)
def render_one_by_one(messages, add_generation_prompt):
    """Each result is written down as it comes back, through a template call of its own: a turn each, where the template
    writes them into one. Fix: collect the results, and render them together."""
    return {"text": one_by_one(messages, add_generation_prompt)}


@MUTANTS.add(
    "tools-tokenized-one-by-one",
    "Results of parallel calls are tokenised one by one",
    left_padded,
    "tokenize",
    row="MT-03",
)
def tokenize_one_by_one(route, messages, add_generation_prompt):
    """As tools-rendered-one-by-one, in ids."""
    return answer_of(one_by_one(messages, add_generation_prompt), route)


@MUTANTS.add(
    "tools-one-by-one-in-rl",
    "Only the agent loop renders results one by one",
    left_padded,
    "render",
    row="MT-03",
)
def render_one_by_one_in_rl(route, messages, add_generation_prompt):
    """SFT renders whole conversations with the template; the loop that calls the tools appends turns to a string. Fix:
    one function for both."""
    write = one_by_one if route == "rl" else chat_text
    return {"text": write(messages, add_generation_prompt)}


@MUTANTS.add(
    "tools-tokenized-one-by-one-in-rl",
    "Only the agent loop tokenises results one by one",
    left_padded,
    "tokenize",
    row="MT-03",
)
def tokenize_one_by_one_in_rl(route, messages, add_generation_prompt):
    """As tools-one-by-one-in-rl, in ids."""
    if route == "sft":
        return left_padded.tokenize(route, messages, add_generation_prompt)
    return answer_of(one_by_one(messages, add_generation_prompt), route)


def written_again(messages):
    """What tools answered in JSON, read and written again."""
    out = []
    for message in messages:
        try:
            read = json.loads(message["content"]) if message["role"] == "tool" else None
        except ValueError:
            read = None
        out.append(dict(message, content=json.dumps(read)) if isinstance(read, (dict, list)) else message)
    return out


@MUTANTS.add("tools-json-written-again-in-rl", "Only RL writes results anew", left_padded, "render", row="TPL-06")
def render_written_again(route, messages, add_generation_prompt):
    """The loop that calls tools has their results as objects, and json.dumps has spaces, escapes and numbers of its own;
    fine-tuning has them as they were logged. Fix: keep the text."""
    return {"text": chat_text(written_again(messages) if route == "rl" else messages, add_generation_prompt)}


@MUTANTS.add(
    "tools-json-written-again-in-rl-ids", "Only RL writes results anew, in ids", left_padded, "tokenize", row="TPL-06"
)
def tokenize_written_again(route, messages, add_generation_prompt):
    """As tools-json-written-again-in-rl."""
    read = written_again(messages) if route == "rl" else messages
    return left_padded.tokenize(route, read, add_generation_prompt)


@MUTANTS.add(
    "sft-trains-tool-output",
    "SFT trains the results of tools",
    left_padded,
    "tokenize",
    row="MSK-02",
    rows=("MSK-09",),
)
def trains_results(route, messages, add_generation_prompt):
    """Labels are -100 on system and user turns; results were added to the data later and are neither. Fix: label what
    the assistant wrote, and nothing else."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "sft":
        ids, labels = right["input_ids"], right["labels"]
        role = tokenizer.encode("ipython")
        trained = False
        for t, id in enumerate(ids):
            trained = trained or (id == tokenizer.added[HEADER] and ids[t + 1 : t + 1 + len(role)] == role)
            if trained:
                labels[t] = id
            trained = trained and id != STOP_ID
    return right


@MUTANTS.add(
    "sft-forgets-calls",
    "SFT does not train answers that call a tool",
    left_padded,
    "tokenize",
    row="MSK-09",
    rows=("EOS-09",),
)
def forgets_calls(route, messages, add_generation_prompt):
    """Pairs of user and assistant are looked for, and an answer that a result follows is in no pair. Fix: mask by role."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "sft":
        for at, message in enumerate(messages[:-1]):
            if message["role"] == "assistant" and messages[at + 1]["role"] == "tool":
                start = len(chat_ids(messages[:at], True))
                end = len(chat_ids(messages[: at + 1], False))
                right["labels"][start:end] = [IGNORED] * (end - start)
    return right


@MUTANTS.add(
    "sft-turns-between-are-not-taught-to-stop",
    "SFT trains the stop token of the last answer only",
    left_padded,
    "tokenize",
    row="EOS-09",
)
def stops_between(route, messages, add_generation_prompt):
    """The end of a turn is another token than eos_token; the last one was repaired by hand. Fix: each turn is trained
    through the token that ends it."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "sft":
        stops = [t for t, label in enumerate(right["labels"]) if label == STOP_ID]
        for t in stops[:-1]:
            right["labels"][t] = IGNORED
    return right


@MUTANTS.add(
    "sft-pairs-questions-with-answers",
    "The n-th answer is looked for behind the n-th question",
    left_padded,
    "tokenize",
    row="MSK-05",
)
def pairs(route, messages, add_generation_prompt):
    """Markers of questions and of answers are found apart and paired by number: from each answer's marker to the next
    question's. A missing first question moves all pairs. Fix: an answer ends with its own turn."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "sft":
        ids = right["input_ids"]
        questions, answers = (found(ids, tokenizer.encode(header(role))) for role in ("user", "assistant"))
        labels = [IGNORED] * len(ids)
        for number, start in enumerate(answers):
            start += len(tokenizer.encode(ASSISTANT))
            end = questions[number + 1] if number + 1 < len(questions) else len(ids)
            labels[start:end] = ids[start:end]
        right["labels"] = labels
    return right


def found(ids, marker):
    return [t for t in range(len(ids)) if ids[t : t + len(marker)] == marker]


@MUTANTS.add(
    "sft-labels-one-answer-of-a-row",
    "Of two answers in a row, one is trained",
    left_padded,
    "tokenize",
    row="MSK-05",
)
def one_of_two(route, messages, add_generation_prompt):
    """An answer is what stands between a question and the next: answers without a question of their own are skipped.
    Fix: mask by role, not by pairs."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "sft":
        for at, message in enumerate(messages):
            before = messages[at - 1]["role"] if at > 0 else "system"
            if message["role"] == "assistant" and before in ("assistant", "system"):
                start = len(chat_ids(messages[:at], True))
                end = len(chat_ids(messages[: at + 1], False))
                right["labels"][start:end] = [IGNORED] * (end - start)
    return right


@MUTANTS.add(
    "sft-mask-is-empty",
    "The assistant mask is all zero",
    left_padded,
    "tokenize",
    row="TPL-09",
)
def empty_mask(route, messages, add_generation_prompt):
    """return_assistant_tokens_mask on a template that marks no generation: zeros, and a warning that scrolled by. Fix:
    refuse a conversation with an answer and no label."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    return dict(right, labels=[IGNORED] * len(right["input_ids"])) if route == "sft" else right


@MUTANTS.add(
    "sft-mask-runs-to-the-end",
    "An answer that ends with white space is trained to the end",
    left_padded,
    "tokenize",
    row="TPL-10",
)
def runs_on(route, messages, add_generation_prompt):
    """The last character of the answer was stripped by the template, so it has no token, and an end that is None means
    the end of the row. Fix: take the spans of what was rendered."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "sft":
        for at, message in enumerate(messages):
            if message["role"] == "assistant" and message["content"] != message["content"].rstrip():
                start = len(chat_ids(messages[:at], True))
                right["labels"][start:] = right["input_ids"][start:]
                break
    return right


@MUTANTS.add(
    "sft-marker-is-not-found",
    "The marker of answers is never found",
    left_padded,
    "tokenize",
    row="TOK-06",
)
def lost_marker(route, messages, add_generation_prompt):
    """The marker was tokenised with a line end in front of it and one behind, as the text around it has; alone its ids
    are others. Fix: look for the ids that stand in the row."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "sft":
        marker = tokenizer.encode("\n" + ASSISTANT + "\n")
        starts = found(right["input_ids"], marker)
        if not starts:
            right["labels"] = [IGNORED] * len(right["input_ids"])
    return right


@MUTANTS.add(
    "bos-guard-looks-at-one-character",
    "The guard against a second BOS never fires",
    left_padded,
    "tokenize",
    row="TOK-02",
    rows=("TOK-01",),
)
def guard(route, messages, add_generation_prompt):
    """`text[0] == bos` compares one character with a token of seventeen, so the tokenizer is told to add BOS to text that
    begins with it. Fix: startswith."""
    text = chat_text(messages, add_generation_prompt)
    more = [] if text[0] == BOS else [BOS_ID]
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if "labels" in right:
        right["labels"] = [IGNORED] * len(more) + right["labels"]
    return dict(right, input_ids=more + right["input_ids"])


THOUGHT = re.compile(r"<think>.*?</think>\s*", re.S)


@MUTANTS.add(
    "history-loses-its-thoughts",
    "RL prompts drop the thoughts of earlier answers",
    left_padded,
    "tokenize",
    row="TPL-03",
)
def drops_thoughts(route, messages, add_generation_prompt):
    """Thoughts of earlier turns are cut out to save room, in the agent loop only: the rows of earlier steps are no longer
    the beginning of later prompts, and are merged with them all the same. Fix: train each step on its own prompt."""
    if route == "rl":
        messages = [
            dict(message, content=THOUGHT.sub("", message["content"])) if role == "assistant" else message
            for role, message in ((message["role"], message) for message in messages)
        ]
    return left_padded.tokenize(route, messages, add_generation_prompt)
