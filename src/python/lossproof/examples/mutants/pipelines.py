"""Wrong schedules, segments and hand-overs of pipelines with several losses."""

from .. import left_padded, pipeline, replay
from . import MUTANTS


@MUTANTS.add("schedule-frequency-off-by-one", "A frequency of 2 means every third iteration", left_padded)
def schedule(mode, iterations, frequencies, enabled, optional):
    """A counter that is compared with > before it is reset. Fix: >=."""
    slower = {loss: n + 1 for loss, n in frequencies.items()}
    return pipeline.schedule(mode, iterations, slower, enabled, optional)


@MUTANTS.add("schedule-first-iteration-trains-nothing", "if i: guards the frequency", left_padded, "schedule")
def schedule_first(mode, iterations, frequencies, enabled, optional):
    """`if i and i % frequency == 0`: the first update comes late, by 1 for a frequency of 1 and by 4 for one of 4.
    Fix: one phase for all losses."""
    right = pipeline.schedule(mode, iterations, frequencies, enabled, optional)
    return dict(right, updates=[[]] * bool(right["updates"]) + right["updates"][1:])


@MUTANTS.add(
    "schedule-sequential-is-parallel", "Sequential mode runs in the order of the configuration", left_padded, "schedule"
)
def schedule_unordered(mode, iterations, frequencies, enabled, optional):
    """The mode is read, logged, and never asked: losses run in the order in which they were switched on. Fix: sort by
    the declared order."""
    right = pipeline.schedule(mode, iterations, frequencies, enabled, optional)
    return dict(right, updates=[[loss for loss in enabled if loss in due] for due in right["updates"]])


@MUTANTS.add("schedule-alternating-updates-all", "Alternating mode updates every loss", left_padded, "schedule")
def schedule_all(mode, iterations, frequencies, enabled, optional):
    """`if mode == "sequential": ... else: ...`: alternating was to be implemented later. Fix: refuse what is not
    there."""
    mode = "parallel" if mode == "alternating" else mode
    return pipeline.schedule(mode, iterations, frequencies, enabled, optional)


@MUTANTS.add(
    "schedule-alternating-never-alternates", "Alternating mode updates one loss for ever", left_padded, "schedule"
)
def schedule_stuck(mode, iterations, frequencies, enabled, optional):
    """The turn is a local variable, 0 in each iteration. Fix: count iterations."""
    right = pipeline.schedule(mode, iterations, frequencies, enabled, optional)
    if mode != "alternating":
        return right
    return dict(right, updates=right["updates"][:1] * iterations)


@MUTANTS.add(
    "schedule-missing-trainer-is-a-no-op",
    "A loss whose trainer is not installed is never updated",
    left_padded,
    "schedule",
    row="ZL-01",
)
def schedule_noop(mode, iterations, frequencies, enabled, optional):
    """`except ImportError: Trainer = None`, and `if Trainer is not None:` around the update: the loss is 0 in the log
    and the run goes on. Fix: refuse, or fall back and say so."""
    right = pipeline.schedule(mode, iterations, frequencies, enabled, optional)
    gone = {loss for loss, trainer in pipeline.OPTIONAL.items() if trainer not in optional}
    return dict(right, updates=[[loss for loss in due if loss not in gone] for due in right["updates"]])


@MUTANTS.add(
    "schedule-fallback-in-silence", "The fallback calls itself the trainer it replaces", left_padded, "schedule"
)
def schedule_silent(mode, iterations, frequencies, enabled, optional):
    """The name is that of the configuration, not of what was built. Fix: report what runs."""
    right = pipeline.schedule(mode, iterations, frequencies, enabled, optional)
    return dict(right, trainers=[pipeline.OPTIONAL.get(loss, pipeline.BUILT_IN) for loss in enabled])


@MUTANTS.add("schedule-always-falls-back", "An installed trainer is never used", left_padded, "schedule")
def schedule_fallback(mode, iterations, frequencies, enabled, optional):
    """AVAILABLE is set in a module that is imported too late. Fix: ask when it is needed."""
    return pipeline.schedule(mode, iterations, frequencies, enabled, [])


@MUTANTS.add("schedule-runs-disabled-losses", "Every loss that has a frequency runs", left_padded, "schedule")
def schedule_disabled(mode, iterations, frequencies, enabled, optional):
    """The loop is over the frequencies, which have defaults, and not over what is enabled. Fix: loop over enabled."""
    return pipeline.schedule(mode, iterations, frequencies, list(frequencies), optional)


@MUTANTS.add("segments-lose-the-last-step", "The last step of a segment is no row", left_padded)
def segment_rows(segments):
    """range(len(actions) - 1), because the next observation of the last step is missing: the step with the reward.
    Fix: it needs none."""
    return pipeline.segment_rows(segments[:-1])


@MUTANTS.add("segments-without-twins", "Equal steps become one row", left_padded, "segment_rows")
def segments_unique(segments):
    """A dict by prompt and action, to save memory: what happens often counts once. Fix: a list."""
    kept = []
    for segment in segments:
        if segment not in kept:
            kept.append(segment)
    return pipeline.segment_rows(kept)


@MUTANTS.add(
    "segments-all-with-the-first-prompt", "Every row has the prompt of the first step", left_padded, "segment_rows"
)
def segments_prompt(segments):
    """`prompt = segment[0]` before the loop over its steps. Fix: within it."""
    first = segments[0]["prompt_ids"] if segments else []
    return pipeline.segment_rows([dict(segment, prompt_ids=first) for segment in segments])


@MUTANTS.add(
    "segments-reward-of-the-step-before", "Rewards are shifted by one step", left_padded, "segment_rows"
)
def segments_shifted(segments):
    """rewards[t] is what came before action t in one of two conventions, and behind it in the other. Fix: take them
    from one record."""
    rewards = [0.0] + [segment["reward"] for segment in segments[:-1]]
    return pipeline.segment_rows([dict(s, reward=r) for s, r in zip(segments, rewards)])


@MUTANTS.add(
    "segments-reward-of-the-last-step-only",
    "Every step but the last has the reward 0",
    left_padded,
    "segment_rows",
    row="ADV-09",
)
def segments_last(segments):
    """The advantage of an episode is broadcast with the mask of its last step, and is 0 on all steps before it. Fix:
    each step's own mask."""
    last = len(segments) - 1
    return pipeline.segment_rows([dict(s, reward=s["reward"] if t == last else 0.0) for t, s in enumerate(segments)])


@MUTANTS.add(
    "unroll-cuts-observations-not-the-mask",
    "Observations are cut by one, the mask is not",
    left_padded,
    row="MSK-15",
)
def unroll(observations, actions, rewards, starts, unroll_steps):
    """obs[:, :-1] takes the last observation off, which has no action; the line that does it to the mask is commented
    out. Fix: cut all of them in one place."""
    right = pipeline.unroll(observations, actions, rewards, starts, unroll_steps)
    longer = pipeline.unroll(observations, actions, rewards, starts, unroll_steps + 1)
    return dict(right, mask=longer["mask"])


@MUTANTS.add(
    "unroll-mask-cut-twice", "The last step of the window is not trained", left_padded, "unroll", row="MSK-15"
)
def unroll_twice(observations, actions, rewards, starts, unroll_steps):
    """The mask is cut where it is made, and where it is used, and padded to fit. Fix: once."""
    right = pipeline.unroll(observations, actions, rewards, starts, unroll_steps)
    return dict(right, mask=[row[:-1] + [0] for row in right["mask"]])


@MUTANTS.add("unroll-trains-padding", "The mask is 1 behind the end of the segment", left_padded, "unroll")
def unroll_padding(observations, actions, rewards, starts, unroll_steps):
    """torch.ones_like(actions): there was no padding when it was written. Fix: from the segment's length."""
    right = pipeline.unroll(observations, actions, rewards, starts, unroll_steps)
    return dict(right, mask=[[1] * unroll_steps for _ in starts])


@MUTANTS.add("unroll-rewards-one-step-late", "Rewards are those of the step before", left_padded, "unroll")
def unroll_late(observations, actions, rewards, starts, unroll_steps):
    """Target rewards with a 0 in front, for the root that has none, and a window that counts from the root. Fix:
    reward k is what action k earned."""
    late = [[0.0] + row[:-1] for row in rewards]
    return pipeline.unroll(observations, actions, late, starts, unroll_steps)


@MUTANTS.add(
    "unroll-as-long-as-the-shortest", "The mask of all rows is that of the shortest", left_padded, "unroll"
)
def unroll_shortest(observations, actions, rewards, starts, unroll_steps):
    """One mask for the batch, made of the first row's length and used for all. Fix: a row each."""
    right = pipeline.unroll(observations, actions, rewards, starts, unroll_steps)
    shortest = [min(column) for column in zip(*right["mask"])]
    return dict(right, mask=[list(shortest) for _ in starts])


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
