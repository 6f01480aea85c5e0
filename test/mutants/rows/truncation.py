"""Wrong cuts: padding kept for tokens, companions left behind, examples that train nothing."""

from lossproof.examples import left_padded
from lossproof.examples.lists import pad_left, pad_right
from lossproof.examples.rows import truncation
from lossproof.examples.rows.truncation import padded, trains

from ..registry import MUTANTS

IGNORED = -100


def cut(ids_of, labels_of=None, keeps=lambda labels, max_length: True):
    """A truncate op: ids_of(row, max_length) of each example that `keeps`, the labels cut likewise or by labels_of."""

    def truncate(input_ids, labels, max_length):
        kept = [
            at
            for at, row in enumerate(labels)
            if len(row) <= max_length
            or (trains((labels_of or ids_of)(row, max_length)) and keeps(row, max_length))
        ]
        rows = [ids_of(input_ids[at], max_length) for at in kept]
        return {
            "input_ids": rows,
            "labels": [(labels_of or ids_of)(labels[at], max_length) for at in kept],
            "attention_mask": [[1] * len(row) for row in rows],
            "position_ids": [list(range(len(row))) for row in rows],
            "kept": kept,
        }

    return truncate


def first(row, n):
    return row[:n]


def last(row, n):
    return row[-n:]


def whole(row, n):
    return row


def add(name, title, story, truncate, **rows):
    truncate.__doc__ = story
    MUTANTS.add(name, title, left_padded, "truncate", **rows)(truncate)


add(
    "labels-are-not-cut",
    "Tokens are cut, labels are not",
    "The length limit was added to the line that makes input_ids, and the columns beside it were forgotten. Fix: cut "
    "every column of an example in one place.",
    cut(first, whole),
    row="TRN-05",
)
add(
    "labels-are-cut-at-the-other-end",
    "Tokens are cut on the right, labels on the left",
    "The tokenizer cuts ids by its truncation_side, and the labels are cut by hand with labels[-max_length:]. Lengths "
    "agree, targets belong to other tokens. Fix: cut both by the same slice.",
    cut(first, last),
    row="TRN-05",
)
add(
    "truncation-leaves-room-twice",
    "The room for the stop token is taken off the limit twice",
    "max_length was lowered by one where the configuration is read, and again where rows are cut: the last token of "
    "every long example is lost, its stop token when it just fits. Fix: one place that does the arithmetic.",
    lambda input_ids, labels, max_length: cut(first)(input_ids, labels, max_length - 1),
    row="TRN-06",
)
add(
    "truncation-is-one-late",
    "An example that is one token too long is not cut",
    "if len(ids) > max_length + 1: the tolerance of a check that had to see one token more found its way into the cut. "
    "Fix: compare with the limit.",
    cut(lambda row, n: row if len(row) <= n + 1 else row[:n]),
    row="TRN-06",
)
add(
    "truncation-on-the-wrong-side",
    "Examples are cut on the left, because the tokenizer was set up for generation",
    "truncation_side = 'left' was set for prompts on the tokenizer that both routes share. Fix: pass the side with "
    "the call.",
    cut(last),
)
add(
    "truncation-keeps-both-ends",
    "The middle of a long example is cut out",
    "A prompt truncation that keeps head and tail was reused for whole examples: the answer goes on behind a text that "
    "it never followed. Fix: cut one end.",
    cut(lambda row, n: row if len(row) <= n else row[: n // 2] + row[len(row) - n + n // 2 :]),
)
add(
    "truncation-to-the-shortest",
    "All rows of a batch are cut to the shortest one",
    "zip(*rows) stacks them without a complaint, and stops at the end of the shortest row. Fix: pad.",
    lambda input_ids, labels, max_length: cut(first)(
        input_ids, labels, min([max_length] + [len(row) for row in input_ids])
    ),
)
add(
    "overlong-examples-are-filtered",
    "Long examples are filtered out before they could be cut",
    "A filter len(ids) <= max_length from the preparation of another data set runs first, and nothing is ever cut. The "
    "long examples are gone. Fix: filter or cut, as the configuration says.",
    cut(first, keeps=lambda labels, max_length: False),
)
add(
    "overlong-examples-need-every-label",
    "A long example is left out where a prompt is part of what is left of it",
    "`all(label != -100 ...)` where `any` was meant, to leave out what trains nothing. A prompt has no labels, so each "
    "long example with one is gone, whatever is left of its answer. Fix: any.",
    cut(first, keeps=lambda labels, max_length: IGNORED not in labels[:max_length]),
    row="TRN-04",
)


@MUTANTS.add("rows-without-labels", "Examples that lose all labels stay", left_padded, row="TRN-04")
def truncate(input_ids, labels, max_length):
    """A prompt as long as the limit leaves no room for the answer: a row of -100, whose mean loss is 0/0, or is logged
    as 0. Fix: leave it out and count it."""
    return {
        "input_ids": [row[:max_length] for row in input_ids],
        "labels": [row[:max_length] for row in labels],
    }


@MUTANTS.add(
    "stop-token-behind-the-cut", "A cut example gets a stop token", left_padded, "truncate", row="EOS-06"
)
def stopped(input_ids, labels, max_length):
    """Every row ought to end in the stop token, and so the last one of a cut row is overwritten: the model learns to
    stop in the middle of a sentence. Fix: only an answer that was finished has a stop token."""
    answer = left_padded.common.OPS["truncate"](input_ids, labels, max_length)
    for row, targets, at in zip(answer["input_ids"], answer["labels"], answer["kept"]):
        if len(input_ids[at]) > max_length:
            row[-1] = targets[-1] = left_padded.STOP_ID
    return answer


@MUTANTS.add(
    "attention-mask-is-cut-elsewhere",
    "The attention mask is cut at another limit than the ids",
    left_padded,
    "truncate",
    row="MSK-11",
)
def other_limit(input_ids, labels, max_length):
    """The mask was made by the tokenizer, which has a max_length of its own. They agree on every short example. Fix:
    cut all columns together."""
    answer = left_padded.common.OPS["truncate"](input_ids, labels, max_length)
    ones = [[1] * min(len(input_ids[at]), max_length + 2) for at in answer["kept"]]
    return dict(answer, attention_mask=ones)


@MUTANTS.add(
    "truncated-rows-are-sorted",
    "Rows come back sorted by length, their labels do not",
    left_padded,
    "truncate",
    row="PAD-08",
)
def by_length(input_ids, labels, max_length):
    """Rows are ordered by length so that batches need little padding, and only the ids are. Fix: sort examples, not
    columns."""
    answer = left_padded.common.OPS["truncate"](input_ids, labels, max_length)
    return dict(answer, input_ids=sorted(answer["input_ids"], key=len))


def prompts(name, title, story, prompts_of, **rows):
    def truncate_prompts(prompt_ids, max_prompt_length, pad_token_id):
        return prompts_of(prompt_ids, max_prompt_length, pad_token_id)

    truncate_prompts.__doc__ = story
    MUTANTS.add(name, title, left_padded, **rows)(truncate_prompts)


def cut_prompts(cut_one):
    def truncate_prompts(prompt_ids, n, pad):
        return padded([cut_one(row, n) for row in prompt_ids], pad, list(range(len(prompt_ids))))

    return truncate_prompts


def keep_end(prompt_ids, n, pad):
    ids, real = pad_right(prompt_ids, pad)
    return {"input_ids": [row[-n:] for row in ids], "attention_mask": [row[-n:] for row in real]}


def flipped(prompt_ids, n, pad):
    fitting = [row[-n:] for row in prompt_ids if len(row) <= n]
    ids, real = pad_left(fitting, pad)
    kept = [at for at, row in enumerate(prompt_ids) if len(row) <= n]
    return {"input_ids": ids[::-1], "attention_mask": real[::-1], "kept": kept}


prompts(
    "prompts-keep-their-padding",
    "The last columns are kept of prompts that are flush left",
    "ids[:, -max_prompt_length:] of a matrix whose padding is on the right: short prompts lose tokens and keep padding, "
    "all of it for the shortest. Fix: cut each prompt before it is padded, or flush right first.",
    keep_end,
    row="TRN-01",
)
prompts(
    "prompts-lose-their-header",
    "Long prompts are cut on the left, and nobody is told",
    "prompt[-max_prompt_length:] keeps the question and loses the system message, with the rules that the answer is "
    "then scored by. Fix: leave the prompt out, or say so.",
    cut_prompts(last),
    row="TRN-03",
)
prompts(
    "prompts-lose-their-question",
    "Long prompts are cut on the right",
    "truncation=True with the tokenizer's default side: the end of the question and the generation prompt are gone, "
    "and the model goes on asking. Fix: leave the prompt out, or cut elsewhere.",
    cut_prompts(first),
)
prompts(
    "prompts-are-flipped",
    "Padding on the left flips the batch along the wrong axis",
    "Left padding is right padding of reversed rows, reversed again; the second flip runs along the batch. Fix: flip "
    "columns, not rows.",
    flipped,
    row="PAD-06",
)


@MUTANTS.add("cut-by-minus-zero", "A row that just fits is lost", left_padded, "truncate", row="TRN-06")
def minus_zero(input_ids, labels, max_length):
    """row[:-excess], where an excess of 0 leaves nothing, and rows of nothing are filtered out. Fix: row[:max_length]."""
    right = truncation.truncate(input_ids, labels, max_length)
    left = [row for row, at in enumerate(right["kept"]) if len(input_ids[at]) != max_length]
    return {name: [column[row] for row in left] for name, column in right.items()}
