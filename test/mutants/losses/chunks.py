"""Losses that are worked out in chunks of columns, or in more micro-batches than there are steps, and lose the rest."""

from lossproof.examples import left_padded

from ..registry import MUTANTS, right_op

COLUMNS = 64
STEPS = 8


def without(masked, lost):
    """`masked`, the tokens that are trained, with what `lost(row, column)` says of them."""
    return [[lost(row, column, each) for column, each in enumerate(rows)] for row, rows in enumerate(masked)]


def chunked(untrained):
    """What stands behind the last full chunk of columns, where there is more than one, is not trained."""

    def cut(masked):
        return without(
            masked,
            lambda row, column, each: (
                each if column < (len(masked[row]) // COLUMNS * COLUMNS or len(masked[row])) else untrained
            ),
        )

    return cut


def stepped(untrained):
    """So many micro-batches are accumulated; rows of further ones are not trained."""

    def cut(masked, micro_batches):
        trained = {b for rows in micro_batches[:STEPS] for b in rows}
        return without(masked, lambda row, column, each: each if row in trained else untrained)

    return cut


def scaled(answer, part):
    """A loss over `part` of the tokens only, still divided by all of them."""
    weights = answer.get("loss_weights")
    return dict(
        answer,
        loss=answer["loss"] * part,
        **({} if weights is None else {"loss_weights": [[w * part for w in row] for row in weights]}),
    )


def trained(masked, untrained):
    return sum(each != untrained for row in masked for each in row)


def add(op, name, title, story, wrong):
    wrong.__doc__ = story
    MUTANTS.add(name, title, left_padded, op, row="LOSS-03" if "columns" in name else "LOSS-12")(wrong)


def lose(op, masked, untrained, cut):
    """The right op on a mask of which `cut` has left something out, divided by what there was."""
    right = right_op(left_padded, op)

    def wrong(**args):
        kept = cut(args)
        part = trained(kept, untrained) / max(trained(args[masked], untrained), 1)
        return scaled(right(**dict(args, **{masked: kept})), part)

    return wrong


CHUNKS = "for i in range(T // 64): the columns behind the last full chunk never reach the sum. Fix: range(0, T, 64)."
ACCUMULATED = "zip(range(accumulation_steps), micro_batches) ends with the shorter of the two. Fix: as many steps as there are."

POLICY = ("logprobs", "old_logprobs", "ref_logprobs", "advantages", "completion_mask", "micro_batches")
CRITIC = ("values", "old_values", "returns", "completion_mask", "micro_batches")
LABELS = ("input_ids", "labels", "logits", "micro_batches")


def policy(wrong):
    def loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
        tracks = (logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches)
        return wrong(**dict(zip(POLICY, tracks)))

    return loss


def critic(wrong):
    def value_loss(values, old_values, returns, completion_mask, micro_batches):
        return wrong(**dict(zip(CRITIC, (values, old_values, returns, completion_mask, micro_batches))))

    return value_loss


def supervised(wrong):
    def sft_loss(input_ids, labels, logits, micro_batches):
        return wrong(**dict(zip(LABELS, (input_ids, labels, logits, micro_batches))))

    return sft_loss


for op, masked, untrained, named, of in (
    ("loss", "completion_mask", 0, "The loss", policy),
    ("value_loss", "completion_mask", 0, "The loss of the critic", critic),
    ("sft_loss", "labels", -100, "The SFT loss", supervised),
):
    columns = chunked(untrained)
    steps = stepped(untrained)
    prefix = op.replace("_", "-")
    add(
        op,
        f"{prefix}-last-columns-lost",
        f"{named} works through 64 columns at a time, and loses those behind the last full chunk",
        CHUNKS,
        of(lose(op, masked, untrained, lambda args, cut=columns, at=masked: cut(args[at]))),
    )
    add(
        op,
        f"{prefix}-micro-batches-behind-the-eighth-lost",
        f"{named} accumulates eight micro-batches, and leaves the others out",
        ACCUMULATED,
        of(lose(op, masked, untrained, lambda args, cut=steps, at=masked: cut(args[at], args["micro_batches"]))),
    )


ROWS = 32


def full_chunks(right):
    """Of a micro-batch of more rows than a chunk, those behind the last full one."""

    def wrong(**args):
        kept = [rows[: len(rows) // ROWS * ROWS] if len(rows) > ROWS else rows for rows in args["micro_batches"]]
        return right(**dict(args, micro_batches=kept))

    return wrong


add(
    "sft_loss",
    "sft-loss-last-rows-lost",
    "The SFT loss works through 32 rows at a time, and loses those behind the last full chunk",
    "for i in range(B // 32): the rows behind the last full chunk never reach the sum. Fix: range(0, B, 32).",
    supervised(full_chunks(right_op(left_padded, "sft_loss"))),
)
