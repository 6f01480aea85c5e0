"""Wrong hand-overs between a buffer and the losses that train on it."""

from lossproof.examples import left_padded
from lossproof.examples.pipelines import replay

from ..registry import MUTANTS


def nothing(enabled, executed=0):
    return {
        "executed": {name: executed for name in enabled},
        "trained_tokens": {name: 0 for name in enabled},
        "losses": {name: 0.0 for name in enabled},
    }


@MUTANTS.add(
    "contract-decodes-by-length",
    "Three elements are read as batch, target and iteration",
    left_padded,
    row="ZL-01",
)
def contract(order, segments, enabled):
    """`if len(data) == 4: ... elif len(data) == 3: cur, target, train_iter = data; segments = None`, and the loss under
    `if segments is not None`. Fix: named fields, and an error where one is missing."""
    return nothing(enabled) if len(order) == 3 else replay.contract(order, segments, enabled)


@MUTANTS.add(
    "contract-takes-any-arity",
    "A batch without segments is trained on nothing",
    left_padded,
    "contract",
    row="ZL-01",
)
def contract_any(order, segments, enabled):
    """batch.get("segments"), and nothing where there is none: an element that the buffer forgets is never missed.
    Fix: batch["segments"]."""
    if "segments" not in order:
        return nothing(enabled)
    return replay.contract(order, segments, enabled)


@MUTANTS.add(
    "contract-labels-all-ignored",
    "Every label is -100, and the loss 0.0",
    left_padded,
    "contract",
    row="ZL-02",
)
def contract_ignored(order, segments, enabled):
    """The marker of the response is not found in the ids, and all labels become -100; a mean over no tokens is written
    as 0.0. Fix: an error where a batch has nothing to train."""
    return nothing(enabled, executed=1)


@MUTANTS.add(
    "contract-empty-batch-is-zero",
    "A hand-over without segments counts as a loss of 0.0",
    left_padded,
    "contract",
    row="ZL-02",
)
def contract_zero(order, segments, enabled):
    """sum([]) / max(len([]), 1) is 0.0, and executed += 1 stands behind it: an empty buffer looks like a perfect
    model. Fix: report nothing where nothing was trained."""
    return replay.contract(order, segments, enabled) if segments else nothing(enabled, executed=1)


@MUTANTS.add(
    "contract-equal-rewards-make-an-empty-batch",
    "Rows without an advantage are dropped, and with them the batch",
    left_padded,
    "contract",
    row="ZL-04",
)
def contract_flat(order, segments, enabled):
    """Rows whose advantage is 0 are filtered out; where all are, the step is made on nothing and logged as done. Fix:
    say that there is no signal, and refuse."""
    rewards = {segment["reward"] for segment in segments}
    return nothing(enabled) if len(rewards) == 1 else replay.contract(order, segments, enabled)


@MUTANTS.add(
    "contract-group-of-one", "One sample with a group baseline trains nothing", left_padded, "contract", row="ADV-14"
)
def contract_alone(order, segments, enabled):
    """The mean of one is itself: the advantage is 0, the row is dropped, and nothing says so. Fix: refuse a group of
    one with a group baseline."""
    return nothing(enabled) if len(segments) == 1 else replay.contract(order, segments, enabled)


@MUTANTS.add(
    "contract-counter-never-set", "The counter of tokens is always 0", left_padded, "contract", row="ZL-05"
)
def contract_uncounted(order, segments, enabled):
    """The metric reads a field that nobody sets, with a default of 0. Fix: sum the mask."""
    right = replay.contract(order, segments, enabled)
    return dict(right, trained_tokens={name: 0 for name in enabled})


@MUTANTS.add(
    "contract-mask-of-the-last-step",
    "Every row has the mask of the last one",
    left_padded,
    "contract",
    row="ADV-09",
)
def contract_mask(order, segments, enabled):
    """One mask, of the step that was handled last, is broadcast over the steps of an episode: on the others it covers
    other tokens. Fix: a mask a row."""
    right = replay.contract(order, segments, enabled)
    if not segments:
        return right
    end = segments[-1]
    first = len(end["prompt_ids"])
    span = range(first, first + len(end["completion_ids"]))
    tokens = 0
    for segment in segments:
        start = len(segment["prompt_ids"])
        tokens += sum(start <= t < start + len(segment["completion_ids"]) for t in span)
    return dict(right, trained_tokens={name: tokens for name in enabled})


BEFORE = {"segments": []}


@MUTANTS.add(
    "contract-trains-the-batch-before",
    "Without segments the batch before is trained again",
    left_padded,
    "contract",
)
def contract_stale(order, segments, enabled):
    """`batch = buffer.sample() or self.batch`: an empty sample is false, and the last batch is trained on until there
    is a new one. Fix: compare with None, and wait."""
    BEFORE["segments"] = segments or BEFORE["segments"]
    return replay.contract(order, BEFORE["segments"], enabled)


@MUTANTS.add(
    "contract-drops-short-batches", "A batch with fewer segments than the batch size is skipped", left_padded, "contract"
)
def contract_without_short_batches(order, segments, enabled):
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


@MUTANTS.add(
    "contract-loss-always-zero", "The branch runs and its loss is 0.0", left_padded, "contract", row="ZL-05"
)
def contract_before_the_sum(order, segments, enabled):
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


@MUTANTS.add("contract-actions-of-16", "Actions end at their token 16", left_padded, "contract", row="TRN-04")
def contract_short(order, segments, enabled):
    """max_action_length is that of a game's moves; of a sentence the end is never trained. Fix: refuse what is longer."""
    short = [dict(segment, completion_ids=segment["completion_ids"][:16]) for segment in segments]
    return replay.contract(order, short, enabled)
