"""Wrong batches of conversations: tokenised, padded and labelled in one function."""

from lossproof.examples import left_padded
from lossproof.examples.lists import pad_left, pad_right
from lossproof.examples.text import batches
from lossproof.examples.text.chat import IGNORED, PAD_ID, STOP_ID, chat_ids, chat_labels, header, tokenizer, turns

from ..registry import MUTANTS


def add(name, title, row, rows=()):
    return MUTANTS.add(name, title, left_padded, "sft_batch", row=row, rows=rows)


def prompt_of(messages):
    return chat_ids(messages[:-1], True)


def by_prompt_length(batch, lengths):
    """Labels that are the ids, without padding and without the first so many columns."""
    labels = []
    for ids, real, length in zip(batch["input_ids"], batch["attention_mask"], lengths):
        labels.append([id if on and t >= length else IGNORED for t, (id, on) in enumerate(zip(ids, real))])
    return dict(batch, labels=labels)


@add("batch-prompt-from-column-0", "labels[i, :prompt_len] = -100 on rows padded on the left", "MSK-16", ("MSK-01",))
def from_column_0(conversations, padding_side="right", pad_token_id=PAD_ID):
    """Right until padding_side="left" came for generation: then the first columns are padding, and as much of the
    prompt is trained."""
    batch = batches.sft_batch(conversations, padding_side, pad_token_id)
    return by_prompt_length(batch, [len(prompt_of(messages)) for messages in conversations])


@add("batch-prompt-of-the-longest", "The prompt is as long as the longest of the batch", "MSK-16", ("TOK-06",))
def of_the_longest(conversations, padding_side="right", pad_token_id=PAD_ID):
    """tokenizer(prompts, padding=True) and its shape: answers behind shorter prompts lose their first tokens."""
    batch = batches.sft_batch(conversations, padding_side, pad_token_id)
    prompt = max(len(prompt_of(messages)) for messages in conversations)
    starts = [real.index(1) for real in batch["attention_mask"]]
    return by_prompt_length(batch, [start + prompt for start in starts])


@add("batch-labels-by-id", "labels[labels == pad] = -100 in a batch of conversations", "EOS-01")
def labels_by_id(conversations, padding_side="right", pad_token_id=PAD_ID):
    """With pad = eos no turn is taught to end."""
    batch = batches.sft_batch(conversations, padding_side, pad_token_id)
    return dict(batch, labels=[[IGNORED if id == pad_token_id else id for id in row] for row in batch["labels"]])


@add("batch-attention-by-id", "The attention mask of a batch of conversations is `ids != pad`", "EOS-02")
def attention_by_id(conversations, padding_side="right", pad_token_id=PAD_ID):
    """With pad = eos the model does not see where a turn ends."""
    batch = batches.sft_batch(conversations, padding_side, pad_token_id)
    return dict(batch, attention_mask=[[int(id != pad_token_id) for id in row] for row in batch["input_ids"]])


@add("batch-labels-padded-with-pad", "Labels of a batch of conversations are padded with the pad id", "MSK-06")
def trains_padding(conversations, padding_side="right", pad_token_id=PAD_ID):
    """tokenizer.pad fills every list with pad, and the loss ignores -100 alone."""
    pad = pad_left if padding_side == "left" else pad_right
    labels, _ = pad([chat_labels(messages, False) for messages in conversations], pad_token_id)
    return dict(batches.sft_batch(conversations, padding_side, pad_token_id), labels=labels)


@add("batch-labels-padded-on-the-right", "Ids are padded on the left, labels on the right", "PAD-06", ("PAD-08",))
def other_side(conversations, padding_side="right", pad_token_id=PAD_ID):
    """The tokenizer pads ids as it is set, pad_sequence pads labels on the right, whatever is set."""
    labels, _ = pad_right([chat_labels(messages, False) for messages in conversations], IGNORED)
    return dict(batches.sft_batch(conversations, padding_side, pad_token_id), labels=labels)


@add("batch-labels-shifted", "Labels of a batch of conversations are shifted already", "LP-01", ("MSK-04",))
def shifted(conversations, padding_side="right", pad_token_id=PAD_ID):
    """The model shifts labels by itself; these are shifted twice."""
    batch = batches.sft_batch(conversations, padding_side, pad_token_id)
    return dict(batch, labels=[row[1:] + [IGNORED] for row in batch["labels"]])


@add("batch-trains-the-last-answer", "Only the last answer of each conversation is trained in a batch", "MSK-09")
def last_answer(conversations, padding_side="right", pad_token_id=PAD_ID):
    """Everything before the last header is taken for the prompt, earlier answers as well."""
    batch = batches.sft_batch(conversations, padding_side, pad_token_id)
    starts = [real.index(1) for real in batch["attention_mask"]]
    return by_prompt_length(
        batch, [start + len(prompt_of(messages)) for start, messages in zip(starts, conversations)]
    )


@add("batch-ids-sorted-by-length", "Ids of a batch are sorted by length, labels are not", "PAD-08")
def sorted_ids(conversations, padding_side="right", pad_token_id=PAD_ID):
    """Rows of like length are put together to save padding, and one of the tensors is left behind."""
    batch = batches.sft_batch(conversations, padding_side, pad_token_id)
    order = sorted(range(len(conversations)), key=lambda row: sum(batch["attention_mask"][row]))
    return dict(batch, **{name: [batch[name][row] for row in order] for name in ("input_ids", "attention_mask")})


@add("batch-cut-to-the-shortest", "Rows of a batch of conversations are cut to the shortest", "TRN-01", ("TRN-05",))
def cut(conversations, padding_side="right", pad_token_id=PAD_ID):
    """zip(*rows) ends with the shortest row, and no length is looked at again."""
    ids = [chat_ids(messages, False) for messages in conversations]
    labels = [chat_labels(messages, False) for messages in conversations]
    width = min(map(len, ids))
    return {
        "input_ids": [row[:width] for row in ids],
        "attention_mask": [[1] * width for _ in ids],
        "labels": [row[:width] for row in labels],
    }


@add("batch-positions-count-padding", "Position ids of a batch of conversations count columns", "PAD-05")
def positions(conversations, padding_side="right", pad_token_id=PAD_ID):
    """range(T) for every row: on the left, padding is counted."""
    batch = batches.sft_batch(conversations, padding_side, pad_token_id)
    return dict(batch, position_ids=[list(range(len(row))) for row in batch["input_ids"]])


@add("batch-eos-behind-the-padding", "eos is put behind the padded row", "EOS-07")
def eos_behind(conversations, padding_side="right", pad_token_id=PAD_ID):
    """The stop token of the answer is cut off with the template's tail, and one is put at the end of each row: behind
    the padding, where padding is on the right."""
    batch = batches.sft_batch(conversations, padding_side, pad_token_id)
    ids, labels = [list(row) for row in batch["input_ids"]], [list(row) for row in batch["labels"]]
    for row, real in zip(range(len(ids)), batch["attention_mask"]):
        last = max(t for t, on in enumerate(real) if on)
        labels[row][last] = IGNORED
    return {
        "input_ids": [row + [STOP_ID] for row in ids],
        "attention_mask": [row + [1] for row in batch["attention_mask"]],
        "labels": [row + [STOP_ID] for row in labels],
    }


def by_turn(conversations, padding_side, pad_token_id, trained):
    """Labels of the turns for which `trained` says so, by their number in their conversation and by their role."""
    rows = []
    for messages in conversations:
        labels = [IGNORED] * (len(chat_ids([], False)))
        for at, (role, said) in enumerate(turns(messages)):
            body = tokenizer.encode(said)
            labels += [IGNORED] * len(tokenizer.encode(header(role)))
            labels += body if trained(at - (messages[0]["role"] == "system"), role) else [IGNORED] * len(body)
        rows.append(labels)
    pad = pad_left if padding_side == "left" else pad_right
    return dict(batches.sft_batch(conversations, padding_side, pad_token_id), labels=pad(rows, IGNORED)[0])


@add("batch-trains-tool-output", "A batch of conversations trains what tools answered", "MSK-02", ("MSK-09",))
def trains_results(conversations, padding_side="right", pad_token_id=PAD_ID):
    """All but system and user is trained, and results of tools are neither. Fix: label what the assistant wrote."""
    trained = ("assistant", "ipython")
    return by_turn(conversations, padding_side, pad_token_id, lambda _, role: role in trained)


@add("batch-every-second-turn-is-an-answer", "Answers of a batch are told by the parity of their number", "MSK-05")
def by_parity(conversations, padding_side="right", pad_token_id=PAD_ID):
    """messages[1::2], behind the system message: a greeting, or a question asked twice, and all that follows is the wrong
    way round. Fix: ask for the role."""
    return by_turn(conversations, padding_side, pad_token_id, lambda at, _: at % 2 == 1)


@add("batch-joins-turns", "Turns of one role that follow each other become one in a batch", "TPL-06")
def joins(conversations, padding_side="right", pad_token_id=PAD_ID):
    """They are joined so that the template does not complain, in fine-tuning alone."""
    joined = []
    for messages in conversations:
        turns_of = []
        for message in messages:
            if turns_of and turns_of[-1]["role"] == message["role"] != "tool":
                turns_of[-1] = dict(message, content=turns_of[-1]["content"] + "\n" + message["content"])
            else:
                turns_of.append(message)
        joined.append(turns_of)
    return batches.sft_batch(joined, padding_side, pad_token_id)
