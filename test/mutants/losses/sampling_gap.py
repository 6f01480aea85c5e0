"""Wrong gaps between an inference engine and the trainer, and wrong corrections for them."""

import math

from conformance import data_parallel
from conformance.data_parallel import loss_of

from ..registry import MUTANTS, right_op


def add(name, title, story, wrong, row="LP-18"):
    wrong.__doc__ = story
    MUTANTS.add(name, title, data_parallel, "loss", row=row)(wrong)


def mean(values):
    return sum(values) / max(len(values), 1)


def flat(*tracks):
    return [cells for rows in zip(*tracks) for cells in zip(*rows)]


def over_the_row(old_logprobs, sampling_logprobs, mask, logprobs):
    return mean([abs(o - s) for o, s in flat(old_logprobs, sampling_logprobs)])


def over_the_response(old_logprobs, sampling_logprobs, mask, logprobs):
    """From the first trained token of each row to its last."""
    spans = [[int(1 in row[: t + 1] and 1 in row[t:]) for t in range(len(row))] for row in mask]
    return mean([abs(o - s) for o, s, on in flat(old_logprobs, sampling_logprobs, spans) if on])


add(
    "gap-over-the-row",
    "The gap that is logged is a mean over all columns",
    "(old - sampling).abs().mean() without the mask: prompts and padding have no gap, and long rows hide one.",
    loss_of(sampling_gap=over_the_row),
    row="MSK-10",
)
add(
    "gap-over-the-response",
    "The gap that is logged counts what tools wrote",
    "The mask was rebuilt as attention_mask[:, -response_length:], which tells padding from text and not one author from the other.",
    loss_of(sampling_gap=over_the_response),
)
add(
    "gap-is-a-ratio",
    "What is logged as the gap is the mean ratio, 1 for any two policies that are near each other",
    "exp(old - sampling) was at hand, because the correction needs it.",
    loss_of(
        sampling_gap=lambda old, engine, mask, logprobs: mean(
            [math.exp(o - s) for o, s, on in flat(old, engine, mask) if on]
        )
    ),
)
add(
    "gap-of-the-updated-policy",
    "The gap that is logged lies between the engine and the policy that is being updated",
    "The trainer's own log-probabilities at sampling were not kept: the gap grows with every step of an epoch.",
    loss_of(
        sampling_gap=lambda old, engine, mask, logprobs: mean(
            [abs(p - s) for p, s, on in flat(logprobs, engine, mask) if on]
        )
    ),
)
add(
    "gap-of-rounded-numbers",
    "The gap is taken of log-probabilities that were rounded on their way",
    "The engine's answer went through a field of whole nats.",
    loss_of(
        sampling_gap=lambda old, engine, mask, logprobs: mean(
            [abs(o - round(s)) for o, s, on in flat(old, engine, mask) if on]
        )
    ),
)

def corrected(name, title, story, weight, row="LP-20"):
    add(
        name,
        title,
        story,
        loss_of(correction=lambda old, engine, logprob: weight(math.exp(old - engine))),
        row=row,
    )


corrected(
    "correction-upside-down",
    "The correction for the engine is the engine over the trainer",
    "log_ratio = sampling - old, truncated at 2: what the engine made too likely is trained twice as much.",
    lambda ratio: min(1 / ratio, 2.0),
)
corrected(
    "correction-bounded-from-below",
    "The correction for the engine is bounded from below",
    "torch.clamp(ratio, min=0.5), where max was meant: one unlikely token is the whole step.",
    lambda ratio: max(ratio, 0.5),
)
corrected(
    "correction-at-least-the-cap",
    "The correction for the engine is at least its cap",
    "torch.maximum(ratio, cap): every token is trained at the cap.",
    lambda ratio: max(ratio, 2.0),
)
corrected(
    "correction-masks-below-alone",
    "The mask of the correction for the engine has no upper bound",
    "ratio * (ratio > 0.5): IcePop without its other side.",
    lambda ratio: ratio if ratio > 0.5 else 0.0,
)
corrected(
    "correction-masks-what-agrees",
    "The mask of the correction for the engine keeps what it should leave out",
    "ratio * (ratio > 5): the comparison is turned round, and nothing near 1 is trained.",
    lambda ratio: ratio if ratio > 5 else 0.0,
)
corrected(
    "correction-squared-upside-down",
    "The correction for the engine divides by the ratio, per token and once more per row",
    "1 / ratio ** 2, clamped at 10 as the paper says.",
    lambda ratio: min(ratio**-2, 10.0),
)
add(
    "correction-from-the-updated-policy",
    "The correction for the engine holds the whole ratio of the update once more",
    "exp(logprobs - sampling) instead of exp(old - sampling), beside a clipped ratio of the same.",
    loss_of(correction=lambda old, engine, logprob: min(math.exp(logprob - engine), 2.0)),
)
corrected(
    "correction-cap-in-nats",
    "The cap of the correction for the engine is compared with the log of the ratio",
    "torch.exp(torch.clamp(log_ratio, max=cap)): a cap of 2 is one of 7.4.",
    lambda ratio: min(ratio, math.exp(data_parallel.CAP)),
    row="LP-22",
)
corrected(
    "correction-switched-off",
    "The correction for the engine is configured, and weighs nothing",
    "The setting ends at the metrics; the loss is handed a weight of None.",
    lambda ratio: 1.0,
    row="LP-22",
)
corrected(
    "correction-masks-instead",
    "Tokens beyond the cap of the correction for the engine are left out, where they should be held",
    "Two modes and one branch: what should be truncated importance sampling is a mask.",
    lambda ratio: ratio if ratio <= data_parallel.CAP else 0.0,
    row="LP-22",
)
corrected(
    "correction-without-a-weight",
    "The correction for the engine holds what is above its cap, and weighs nothing below 1",
    "clamp(ratio, 1, cap): the lower end of another setting is read.",
    lambda ratio: min(max(ratio, 1.0), data_parallel.CAP),
    row="LP-22",
)
corrected(
    "correction-of-half-the-ratio",
    "The correction for the engine is the root of the ratio",
    "A mean of the two log-probabilities was subtracted, where the engine's was meant.",
    lambda ratio: min(math.sqrt(ratio), data_parallel.CAP),
    row="LP-22",
)


def of_rows(name, title, story, factors):
    """`factors` of the log-ratios of all trained tokens, row by row: one factor each."""

    def loss(old_logprobs, sampling_logprobs=None, **args):
        right = right_op(data_parallel, "loss")
        answer = right(old_logprobs=old_logprobs, sampling_logprobs=sampling_logprobs, **args)
        if not sampling_logprobs:
            return answer
        on = [[t for t, m in enumerate(row) if m] for row in args["completion_mask"]]
        rows = [[old_logprobs[b][t] - sampling_logprobs[b][t] for t in of] for b, of in enumerate(on)]
        mixed = [list(row) for row in old_logprobs]
        for b, (of, gaps) in enumerate(zip(on, factors(rows))):
            for t, gap in zip(of, gaps):
                mixed[b][t] -= gap
        # What is logged is right.
        return dict(right(old_logprobs=old_logprobs, sampling_logprobs=mixed, **args), metrics=answer["metrics"])

    add(name, title, story, loss, row="LP-24")


of_rows(
    "correction-of-the-first-token",
    "A row is corrected by the ratio of its first token",
    "ratio[:, 0:1] * loss: written when a row had one policy, and one constant offset.",
    lambda rows: [row[:1] * len(row) for row in rows],
)
of_rows(
    "correction-of-the-last-token",
    "A row is corrected by the ratio of its last token",
    "A continued rollout keeps the numbers of the request that ended it.",
    lambda rows: [row[-1:] * len(row) for row in rows],
)
of_rows(
    "correction-of-the-neighbour",
    "A token is corrected by the ratio of the token before it",
    "The ratio lies beside logits, the loss beside tokens.",
    lambda rows: [row[:1] + row[:-1] for row in rows],
)
of_rows(
    "correction-of-the-largest-ratio",
    "A row is corrected by the largest of its ratios",
    "ratio.amax(-1): meant as a bound for rows of several policies.",
    lambda rows: [[max(row)] * len(row) if row else [] for row in rows],
)
of_rows(
    "correction-of-the-batch",
    "All rows are corrected by one ratio, the mean of the batch",
    "ratio[mask].mean() instead of one mean a row.",
    lambda rows: [[mean(sum(rows, []))] * len(row) for row in rows],
)
of_rows(
    "correction-of-the-next-row",
    "A row is corrected by the ratios of another one",
    "Rows were sorted by length for the engine, and its answers were never put back.",
    lambda rows: [[mean(rows[b - 1])] * len(row) for b, row in enumerate(rows)],
)
