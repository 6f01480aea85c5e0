"""Wrong text of what is rarely typed: answers that repeat their question, line ends of other systems, code of templates, turns
that do not alternate, many rows, thousands of tokens."""

import re

from lossproof.examples import left_padded
from lossproof.examples.rows.preference import preference
from lossproof.examples.text import batches, pairs
from lossproof.examples.text.chat import IGNORED, PAD_ID, STOP, STOP_ID, chat_ids, tokenizer

from ..registry import MUTANTS


def changed(messages, change):
    return [dict(message, content=change(message["content"])) for message in messages]


@MUTANTS.add(
    "batch-answer-found-by-its-text",
    "The answer is where its text first stands",
    left_padded,
    "sft_batch",
    row="MSK-05",
)
def found_by_text(conversations, padding_side="right", pad_token_id=PAD_ID):
    """text.index(answer): where a model repeats what it was asked, the question is trained and the answer is not. Fix: search
    from the end of the prompt, or render the prompt alone."""
    batch = batches.sft_batch(conversations, "right", pad_token_id)
    labels = []
    for messages, ids in zip(conversations, batch["input_ids"]):
        answer = tokenizer.encode(messages[-1]["content"].strip() + STOP)
        starts = [at for at in range(len(ids)) if ids[at : at + len(answer)] == answer]
        first = starts[0] if starts else len(ids)
        labels.append([id if first <= t < first + len(answer) else IGNORED for t, id in enumerate(ids)])
    return dict(batch, labels=labels)


@MUTANTS.add("render-normalises-line-ends", "Text loses its carriage returns", left_padded, "render", row="TOK-12")
def render_unix(messages, add_generation_prompt):
    """The data went through a file that was read as text: what the policy is asked by users is not what it was trained on.
    Fix: newline=""."""
    return left_padded.render(changed(messages, lambda text: text.replace("\r\n", "\n")), add_generation_prompt)


@MUTANTS.add("render-renders-contents", "Contents are rendered as templates", left_padded, "render", row="TPL-01")
def render_contents(messages, add_generation_prompt):
    """Prompts are kept as templates of their own, and what users typed goes through the engine once more: {{ name }} is gone.
    Fix: render the prompt, not the message."""
    gone = re.compile(r"\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
    return left_padded.render(changed(messages, lambda text: gone.sub("", text)), add_generation_prompt)


@MUTANTS.add(
    "sft-joins-questions", "Two questions in a row become one", left_padded, "tokenize", row="TPL-06"
)
def tokenize_joined(route, messages, add_generation_prompt):
    """A normaliser joins turns of one role for a template that refuses them, in the SFT script only. Fix: in both, or in none."""
    joined = []
    for message in messages:
        if joined and message["role"] == joined[-1]["role"] == "user":
            joined[-1] = dict(message, content=joined[-1]["content"] + "\n" + message["content"])
        else:
            joined.append(message)
    return left_padded.tokenize(route, joined, add_generation_prompt)


@MUTANTS.add(
    "sft-moves-later-system-messages",
    "A system message within a conversation is moved to its front",
    left_padded,
    "tokenize",
    row="TPL-06",
)
def tokenize_system_first(route, messages, add_generation_prompt):
    """Instructions that came in the middle are sorted to the front, where they were not when the answer was given. Fix: leave
    them where they stand, or leave the conversation out."""
    return left_padded.tokenize(
        route, sorted(messages, key=lambda message: message["role"] != "system"), add_generation_prompt
    )


@MUTANTS.add("decode-drops-empty-lines", "Decoded text loses its empty lines", left_padded, "decode", row="TOK-12")
def decode_dense(ids):
    """A filter for the log became the text that is judged: code and lists that a reward reads are others. Fix: filter a copy."""
    return {"text": re.sub(r"\n\s*\n", "\n", tokenizer.decode(ids))}



@MUTANTS.add("sft-row-cut-at-1024", "Rows of SFT end at token 1,024", left_padded, "tokenize", row="TRN-04")
def tokenize_cut(route, messages, add_generation_prompt):
    """max_length has a default: a long question takes all of it, and the row is trained without its answer. Fix: leave out, and
    count, what does not fit."""
    answer = left_padded.tokenize(route, messages, add_generation_prompt)
    return answer if route == "rl" else {name: row[:1024] for name, row in answer.items()}


@MUTANTS.add("rl-prompt-cut-at-512", "Prompts lose what stands before their last 512 tokens", left_padded, "tokenize", row="TRN-03")
def tokenize_prompt_cut(route, messages, add_generation_prompt):
    """max_prompt_length has a default, cut on the left so that the header stays: the system message is gone. Fix: leave the
    prompt out."""
    answer = left_padded.tokenize(route, messages, add_generation_prompt)
    return {name: row[-512:] for name, row in answer.items()} if route == "rl" else answer


@MUTANTS.add("batch-cut-at-2048", "Batches are at most 2,048 columns wide", left_padded, "sft_batch", row="TRN-04")
def batch_cut(conversations, padding_side="right", pad_token_id=PAD_ID):
    """tokenizer(..., truncation=True) in a map that nobody reads. Fix: leave out what does not fit, and say how many."""
    batch = batches.sft_batch(conversations, padding_side, pad_token_id)
    return {name: [row[:2048] for row in rows] for name, rows in batch.items()}


@MUTANTS.add("pairs-cut-at-1024", "Both halves of a pair end at token 1,024", left_padded, "preference_batch", row="TRN-04")
def pairs_cut(prompts, chosen, rejected):
    """The prompt is longer than max_length: both halves are the same row, at a loss of 0.69 and without a gradient. Fix: leave
    the pair out."""
    batch = pairs.preference_batch(prompts, chosen, rejected)
    return {name: [row[:1024] for row in rows] for name, rows in batch.items()}


@MUTANTS.add("sft-history-of-five", "A conversation is trained without the turns before its last five", left_padded, "tokenize")
def tokenize_history(route, messages, add_generation_prompt):
    """`history[-5:]` of the chat demo came along into the data loader. Fix: all turns, or leave out what is too long."""
    begin = [message for message in messages[:1] if message["role"] == "system"]
    return left_padded.tokenize(route, begin + messages[len(begin) :][-10:], add_generation_prompt)


def answer_cut(ids, labels, most=1024):
    """The ids and labels without what stands behind the first so many of a trained run, but for its stop token."""
    kept, run = [], 0
    for id, label in zip(ids, labels):
        run = 0 if label == IGNORED else run + 1
        if run <= most or id == STOP_ID:
            kept.append((id, label))
    return [id for id, _ in kept], [label for _, label in kept]


@MUTANTS.add("sft-answer-cut-at-1024", "Answers end at their token 1,024", left_padded, "tokenize", row="TRN-04")
def tokenize_answer_cut(route, messages, add_generation_prompt):
    """max_completion_length is that of generation, and cuts what is trained as well; the stop token is put back, so that long
    answers stop in the middle of a sentence. Fix: leave out what does not fit."""
    answer = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "rl":
        return answer
    ids, labels = answer_cut(answer["input_ids"], answer["labels"])
    return dict(answer, input_ids=ids, labels=labels)


@MUTANTS.add("batch-answers-cut-at-1024", "Answers of a batch end at their token 1,024", left_padded, "sft_batch", row="TRN-04")
def batch_answers_cut(conversations, padding_side="right", pad_token_id=PAD_ID):
    """As sft-answer-cut-at-1024, in the rows of a batch."""
    batch = batches.sft_batch(conversations, padding_side, pad_token_id)
    rows = [answer_cut(*row) for row in zip(batch["input_ids"], batch["labels"])]
    width = max(len(ids) for ids, _ in rows)
    if width == len(batch["input_ids"][0]):
        return batch
    padded = lambda row, fill: row + [fill] * (width - len(row))
    return {
        "input_ids": [padded(ids, pad_token_id) for ids, _ in rows],
        "attention_mask": [padded([1] * len(ids), 0) for ids, _ in rows],
        "labels": [padded(labels, IGNORED) for _, labels in rows],
    }


@MUTANTS.add("pair-answers-cut-at-1024", "Answers of a pair end at their token 1,024", left_padded, "preference_batch", row="TRN-04")
def pair_answers_cut(prompts, chosen, rejected):
    """max_completion_length without a word: of long answers the end is not preferred, nor their stop token. Fix: leave the pair
    out."""
    halves = [[pairs.answer_ids(*row)[:1024] for row in zip(prompts, texts)] for texts in (chosen, rejected)]
    return preference([chat_ids(prompt, True) for prompt in prompts], *halves, PAD_ID)
