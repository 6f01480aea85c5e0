"""Wrong penalties and hand-overs."""

from collections import Counter

from .. import left_padded, replay
from ..sampling import repeated
from . import MUTANTS


def generated(ids, real, prompt_width):
    return [id for id, is_real in zip(ids[prompt_width:], real[prompt_width:]) if is_real]


def penalised(counts_of, amount):
    """A penalties op: z -= amount(count, presence, frequency) for each id of counts_of(ids, real, prompt_width)."""

    def penalties(
        input_ids,
        attention_mask,
        prompt_width,
        logits,
        presence_penalty,
        frequency_penalty,
        repetition_penalty,
    ):
        out = []
        for ids, real, row in zip(input_ids, attention_mask, logits):
            row = repeated(row, [id for id, is_real in zip(ids, real) if is_real], repetition_penalty)
            for id, count in Counter(counts_of(ids, real, prompt_width)).items():
                if id < len(row):
                    row[id] -= amount(count, presence_penalty, frequency_penalty)
            out.append(row)
        return {"logits": out}

    return penalties


def right_amount(count, presence, frequency):
    return frequency * count + presence


def add(name, title, story, counts_of=generated, amount=right_amount, **rows):
    wrong = penalised(counts_of, amount)
    wrong.__doc__ = story
    MUTANTS.add(name, title, left_padded, "penalties", **rows)(wrong)


def with_padding(ids, real, prompt_width):
    padding = [id for id, is_real in zip(ids, real) if not is_real]
    return generated(ids, real, prompt_width) + padding


add(
    "penalties-count-padding",
    "Padding is counted as generated",
    "bincount(all ids) minus bincount(prompt): what remains is the generation and the padding, the stop token's id.",
    with_padding,
    row="PEN-03",
)
add(
    "penalties-frequency-as-presence",
    "The frequency penalty does not grow with the count",
    "Both penalties use the same set of seen tokens.",
    amount=lambda count, presence, frequency: frequency + presence,
)
add(
    "penalties-presence-as-frequency",
    "The presence penalty grows with the count",
    "Both penalties use the same counts.",
    amount=lambda count, presence, frequency: (frequency + presence) * count,
)
add(
    "penalties-sign-reversed",
    "Repeated tokens are made more likely",
    "A penalty configured as negative in one library was passed on to another that subtracts.",
    amount=lambda count, presence, frequency: -right_amount(count, presence, frequency),
)


@MUTANTS.add(
    "contract-drops-short-batches", "A batch with fewer segments than the batch size is skipped", left_padded
)
def contract(order, segments, enabled):
    """`if len(segments) < batch_size: continue` was meant for the first iterations, and skips for ever."""
    batch_size = 3
    if len(segments) >= batch_size:
        return replay.contract(order, segments, enabled)
    zero = {name: 0 for name in enabled}
    return {"executed": zero, "trained_tokens": zero, "losses": {name: 0.0 for name in enabled}}


@MUTANTS.add(
    "contract-counts-rows", "Rows are counted instead of tokens", left_padded, "contract", row="MSK-10"
)
def contract_rows(order, segments, enabled):
    """num_samples was logged as the number of trained tokens, and the loss divided by it."""
    right = replay.contract(order, segments, enabled)
    losses = {
        name: right["losses"][name] * right["trained_tokens"][name] / max(len(segments), 1)
        for name in enabled
    }
    return dict(right, trained_tokens={name: len(segments) for name in enabled}, losses=losses)


@MUTANTS.add("contract-first-loss-only", "Only the first enabled loss runs", left_padded, "contract")
def contract_first(order, segments, enabled):
    """elif where if belongs: with both losses enabled the second never trains, and its log says 0.0."""
    right = replay.contract(order, segments, enabled)
    for name in enabled[1:]:
        right["executed"][name], right["trained_tokens"][name], right["losses"][name] = 0, 0, 0.0
    return right


@MUTANTS.add(
    "contract-drops-the-last-segment",
    "The last segment of every batch is not trained",
    left_padded,
    "contract",
)
def contract_short(order, segments, enabled):
    """range(len(segments) - 1): off by one, and nothing but a count can tell."""
    return replay.contract(order, segments[:-1], enabled)


# What a configuration file of the time had for it.
DEFAULT_PRESENCE = 0.3


@MUTANTS.add("penalties-zero-is-unset", "A penalty of 0 is replaced by the default", left_padded, "penalties")
def penalties_default(
    input_ids, attention_mask, prompt_width, logits, presence_penalty, frequency_penalty, repetition_penalty
):
    """`presence_penalty or DEFAULT`: 0 is false, so the baseline without penalties never ran without.
    Fix: compare with None."""
    presence = presence_penalty or DEFAULT_PRESENCE
    return left_padded.penalties(
        input_ids, attention_mask, prompt_width, logits, presence, frequency_penalty, repetition_penalty
    )


add(
    "penalties-counts-saturate",
    "A token counts three times at most",
    "counts.clamp(max=3) was to tame long generations: a loop that repeats one word for ever is stopped no more.",
    amount=lambda count, presence, frequency: right_amount(min(count, 3), presence, frequency),
)


@MUTANTS.add(
    "contract-loss-always-zero", "The branch runs and its loss is 0.0", left_padded, "contract", row="ZL-05"
)
def contract_zero(order, segments, enabled):
    """`loss = torch.tensor(0.0)` before the loop, `loss_sum += ...` within, and `loss` returned: the branch runs, the
    tokens are counted, and the log says 0.0 for days. Fix: return the sum."""
    return dict(replay.contract(order, segments, enabled), losses={name: 0.0 for name in enabled})


@MUTANTS.add("contract-reports-the-total", "Only the sum of the losses is reported", left_padded, "contract")
def contract_total(order, segments, enabled):
    """One number for all losses: that one of them is missing shows nowhere. Fix: report each by its name."""
    right = replay.contract(order, segments, enabled)
    return dict(right, losses={"total": sum(right["losses"].values())})


@MUTANTS.add("contract-runs-disabled-losses", "A loss that is switched off trains", left_padded, "contract")
def contract_all(order, segments, enabled):
    """`if config.rft:` became `if config.rft_weight is not None:`, and the default weight is 1. Fix: ask the switch."""
    return replay.contract(order, segments, replay.LOSSES)


@MUTANTS.add(
    "contract-order-loses-segments",
    "In one order only the first segment is read",
    left_padded,
    "contract",
    row="ZL-01",
)
def contract_order(order, segments, enabled):
    """The consumer indexes with the other order in mind, and a list of segments in the place of a list of lists loses
    all but its first. Fix: read by name."""
    swapped = order == replay.ORDERS[1]
    return replay.contract(order, segments[:1] if swapped else segments, enabled)


@MUTANTS.add(
    "contract-keeps-the-last-segment", "Only the last segment of a batch is trained", left_padded, "contract"
)
def contract_last(order, segments, enabled):
    """`batch = collate(segment)` within the loop and the step behind it: each segment replaces the one before.
    Fix: collect, then collate."""
    return replay.contract(order, segments[-1:], enabled)
