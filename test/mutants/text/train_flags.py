"""Wrong train flags: a message says whether it is trained, and the trainer does not listen, or takes it for another."""

from lossproof.examples import left_padded
from lossproof.examples.text.chat import (
    BOS,
    IGNORED,
    PAD_ID,
    STOP_ID,
    chat_labels,
    header,
    tokenizer,
    turns,
)

from ..registry import MUTANTS


def labels_of(messages, trained):
    """Labels of a whole conversation whose i-th turn is trained where trained(i, role) says so."""
    labels = [IGNORED] * len(tokenizer.encode(BOS))
    for i, (role, said) in enumerate(turns(messages)):
        ids = tokenizer.encode(header(role)), tokenizer.encode(said)
        if trained(i, role):
            labels += [IGNORED] * len(ids[0]) + ids[1]
        else:
            labels += [IGNORED] * (len(ids[0]) + len(ids[1]))
    return labels


def answer(route, messages, add_generation_prompt, labels):
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    # Tools share a turn, and prompts train nothing: both are left as they are.
    if route == "sft" and not add_generation_prompt and len(turns(messages)) == len(messages):
        right["labels"] = labels()
    return right


def flagged(name, title, story, trained):
    """A mutant whose i-th message is trained where trained(messages, i) says so."""

    def tokenize(route, messages, add_generation_prompt):
        def labels():
            return labels_of(messages, lambda i, _: trained(messages, i))

        return answer(route, messages, add_generation_prompt, labels)

    tokenize.__doc__ = story
    MUTANTS.add(name, title, left_padded, "tokenize", row="MSK-17")(tokenize)


def is_answer(messages, i):
    return messages[i]["role"] == "assistant"


flagged(
    "train-flag-ignored",
    "Train flags are ignored",
    """The data were given flags, the code that makes labels goes by the role alone. Fix: read the flag.""",
    is_answer,
)

flagged(
    "train-flag-inverted",
    "Train flags are inverted",
    """The flag is taken for a mask: true is masked out. Fix: name the variable after what true means.""",
    lambda messages, i: is_answer(messages, i) and messages[i].get("train") is not True,
)

flagged(
    "train-flag-null-is-false",
    "A flag that is null turns its message off",
    """message.get("train", True) is None where the key is there with null, as tables have it in every row. Fix: compare with
    False.""",
    lambda messages, i: is_answer(messages, i) and bool(messages[i].get("train", True)),
)

flagged(
    "train-flag-missing-is-false",
    "A message without a flag is turned off",
    """message.get("train") is None without the key, and None is false. Fix: compare with False.""",
    lambda messages, i: is_answer(messages, i)
    and (bool(messages[i].get("train")) or not any("train" in message for message in messages)),
)


def flag_before(messages, i):
    before = [j for j in range(i) if is_answer(messages, j)]
    return messages[before[-1]].get("train") if before else None


flagged(
    "train-flag-of-the-message-before",
    "A flag decides about the next answer",
    """Flags were collected in a list that begins with the system message, labels in one without it. Fix: read the flag off
    the message whose labels are made.""",
    lambda messages, i: is_answer(messages, i) and flag_before(messages, i) is not False,
)

flagged(
    "train-flag-turns-all-off",
    "The first message that is turned off ends training",
    """The loop over messages breaks where it should go on. Fix: continue.""",
    lambda messages, i: is_answer(messages, i)
    and all(message.get("train") is not False for message in messages[: i + 1] if message["role"] == "assistant"),
)

flagged(
    "train-flag-of-the-user",
    "A flag trains what the user said",
    """The flag is read before the role is looked at, and data that have "train": true in every message train everything.
    Fix: look at the role first.""",
    lambda messages, i: is_answer(messages, i)
    if messages[i].get("train") is None
    else messages[i]["train"],
)


@MUTANTS.add(
    "train-flag-leaves-the-stop",
    "An answer that is turned off keeps its stop token",
    left_padded,
    "tokenize",
    row="MSK-17",
)
def leaves_stop(route, messages, add_generation_prompt):
    """The words of the answer are masked, and the stop token behind them gets its label in another step, which knows no
    flags: stopping after bad answers is taught all the same. Fix: mask the answer through its stop token."""
    bare = [{key: value for key, value in message.items() if key != "train"} for message in messages]

    def labels():
        every = chat_labels(bare, False)
        kept = chat_labels(messages, False)
        return [full if full == STOP_ID else own for full, own in zip(every, kept)]

    return answer(route, messages, add_generation_prompt, labels)


@MUTANTS.add(
    "train-flag-in-the-prompt",
    "The flag is written into the conversation",
    left_padded,
    "tokenize",
    row="MSK-17",
)
def writes_flag(route, messages, add_generation_prompt):
    """Messages are rendered with all their keys. Fix: take the keys that the template knows."""
    told = [
        dict(message, content=message["content"] + " (train: %s)" % message["train"]) if "train" in message else message
        for message in messages
    ]
    return left_padded.tokenize(route, told, add_generation_prompt)


@MUTANTS.add(
    "train-flags-lost-in-batches",
    "A batch loses the train flags",
    left_padded,
    "sft_batch",
    row="MSK-17",
)
def loses_flags(conversations, padding_side="right", pad_token_id=PAD_ID):
    """The collator makes its own messages of role and content, and the flags stay behind. Fix: make labels before."""
    bare = [
        [{"role": message["role"], "content": message["content"]} for message in messages]
        for messages in conversations
    ]
    return left_padded.OPS["sft_batch"][0](bare, padding_side, pad_token_id)


@MUTANTS.add(
    "train-flags-of-the-first-row",
    "Every row of a batch has the train flags of the first",
    left_padded,
    "sft_batch",
    row="MSK-17",
)
def flags_of_first(conversations, padding_side="right", pad_token_id=PAD_ID):
    """Flags are read once, for the first conversation, outside of the loop. Fix: read them of each."""
    first = [message.get("train") for message in conversations[0] if message["role"] == "assistant"]
    told = []
    for messages in conversations:
        own = iter(first)
        told.append(
            [
                dict(message, train=next(own, None)) if message["role"] == "assistant" else message
                for message in messages
            ]
        )
    return left_padded.OPS["sft_batch"][0](told, padding_side, pad_token_id)
