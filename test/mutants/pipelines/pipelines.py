"""Wrong schedules, segments and unrolls of pipelines with several losses."""

from lossproof.examples import left_padded
from lossproof.examples.pipelines import pipeline

from ..registry import MUTANTS


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


@MUTANTS.add("unroll-in-bytes", "Observations and actions are kept as bytes", left_padded, "unroll")
def unroll_bytes(observations, actions, rewards, starts, unroll_steps):
    """The buffer is that of a game's pictures: ids above 255 are others. Fix: the type of what is stored."""
    low = lambda rows: [[id & 0xFF for id in row] for row in rows]
    return pipeline.unroll(low(observations), low(actions), rewards, starts, unroll_steps)


@MUTANTS.add("segments-in-two-bytes", "Token ids are kept in two bytes", left_padded, "segment_rows", any_ids=True)
def segments_bytes(segments):
    """A memory map of uint16 is half as large, and holds the vocabulary that it was written for. Fix: uint32."""
    low = lambda ids: [id & 0xFFFF for id in ids]
    return pipeline.segment_rows(
        [dict(s, prompt_ids=low(s["prompt_ids"]), completion_ids=low(s["completion_ids"])) for s in segments]
    )


@MUTANTS.add("schedule-by-a-reciprocal", "An update is due where i times 1/f is a whole number", left_padded, "schedule")
def schedule_reciprocal(mode, iterations, frequencies, enabled, optional):
    """The rate was made a number of its own: 49 * (1/49) is below 1, and the update is missed. Fix: i % f."""
    right = pipeline.schedule(mode, iterations, frequencies, enabled, optional)
    if mode == "alternating":
        return right
    due = lambda i, loss: (i * (1.0 / frequencies[loss])).is_integer()
    return dict(right, updates=[[x for x in losses if due(i, x)] for i, losses in enumerate(right["updates"])])
