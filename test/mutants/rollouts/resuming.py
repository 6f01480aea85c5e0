"""Generation that goes on wrongly: with a full budget, from the prompt alone, with the numbers of the new policy."""

from conformance import right_padded
from lossproof.examples import left_padded
from lossproof.examples.rollouts import resuming

from ..registry import MUTANTS

OP = "partial_rollout"


def right(**args):
    wanted = [name for name in args if name not in ("rescored_logprobs", "eos_token_ids")]
    return resuming.partial_rollout(**{name: args[name] for name in wanted})


@MUTANTS.add("resume-with-a-full-budget", "The budget starts anew", left_padded, OP, row="MT-07")
def full_budget(partial_ids, max_new_tokens, version, eos_token_ids, **given):
    """The sampling parameters are those of the first request. A regression: the line that took the prefix off went with
    the function that it stood in. Fix: max_new_tokens -= response_length."""
    rows = [
        right(
            partial_ids=[ids],
            max_new_tokens=max_new_tokens + len(ids),
            version=version,
            **{name: values[at : at + 1] for name, values in given.items()}
        )
        for at, ids in enumerate(partial_ids)
    ]
    answer = {name: [row[name][0] for row in rows] for name in rows[0]}
    return dict(answer, max_new_tokens=[max_new_tokens] * len(partial_ids))


@MUTANTS.add("resume-budget-less-the-prompt", "The prompt is taken off the budget as well", left_padded, OP, row="MT-07")
def less_prompt(prompt_ids, partial_ids, sampled_ids, max_new_tokens, **given):
    """max_new_tokens - len(input_ids): the engine's ids hold the prompt too. Completions of long prompts end early. Fix:
    take off what was sampled, and nothing else."""
    answer = right(
        prompt_ids=prompt_ids, partial_ids=partial_ids, sampled_ids=sampled_ids, max_new_tokens=max_new_tokens, **given
    )
    left = [max(0, max_new_tokens - len(ids)) for ids in answer["input_ids"]]
    kept = [len(ids) + most for ids, most in zip(partial_ids, left)]
    cut = {
        name: [row[:most] for row, most in zip(answer[name], kept)]
        for name in ("completion_ids", "logprobs", "versions", "loss_mask")
    }
    return dict(answer, max_new_tokens=left, **cut)


@MUTANTS.add("resume-too-long-in-silence", "What comes beyond the budget is kept", left_padded, OP, row="MT-07")
def too_long(sampled_ids, max_new_tokens, partial_ids, **given):
    """The engine is asked for the rest and, as its minimum is one page of ids, gives more: nothing cuts them. Fix: cut
    to what is left."""
    answer = right(sampled_ids=sampled_ids, max_new_tokens=max_new_tokens + 2, partial_ids=partial_ids, **given)
    return dict(answer, max_new_tokens=[max_new_tokens - len(ids) for ids in partial_ids])


@MUTANTS.add("resume-from-the-prompt", "Generation begins anew, and is appended", left_padded, OP, row="MT-07")
def from_prompt(prompt_ids, **given):
    """The request holds the prompt; the prefix is only joined with what comes back, which begins like it. Fix: give the
    engine both."""
    return dict(right(prompt_ids=prompt_ids, **given), input_ids=prompt_ids)


@MUTANTS.add("resume-prefix-twice", "The prefix stands in the completion twice", left_padded, OP, row="MT-07")
def twice(partial_ids, **given):
    """The engine echoes its prompt's end, and the prefix is put before it again: it is trained twice. Fix: append what is
    new."""
    answer = right(partial_ids=partial_ids, **given)
    more = [len(ids) for ids in partial_ids]
    return dict(
        answer,
        completion_ids=[ids + all_ids for ids, all_ids in zip(partial_ids, answer["completion_ids"])],
        logprobs=[row[:n] + row for n, row in zip(more, answer["logprobs"])],
        versions=[row[:n] + row for n, row in zip(more, answer["versions"])],
        loss_mask=[[1] * n + row for n, row in zip(more, answer["loss_mask"])],
    )


@MUTANTS.add("resume-rescores-the-prefix", "The prefix gets the new policy's log-probabilities", left_padded, OP, row="MT-07")
def rescores(partial_logprobs, rescored_logprobs, **given):
    """The engine is asked for the log-probabilities of its prompt, and all of them replace those that were saved: the
    ratio of the prefix is 1. Fix: keep what was saved."""
    return right(partial_logprobs=rescored_logprobs, **given)


@MUTANTS.add("resume-one-version-per-row", "A row has the version of the policy that ended it", left_padded, OP, row="MT-07")
def one_version(version, **given):
    """`sample.version = current`, for all of its ids: how old the oldest is, nobody knows. Fix: one version per id."""
    answer = right(version=version, **given)
    return dict(answer, versions=[[version] * len(ids) for ids in answer["completion_ids"]])


@MUTANTS.add("resume-boundary-shifted", "The last id before the interruption has the new version", left_padded, OP, row="MT-07")
def boundary(version, partial_ids, **given):
    """Versions are laid predictor-aligned: the id before the boundary predicts the first new one. Fix: lay them by the
    token that was sampled."""
    answer = right(version=version, partial_ids=partial_ids, **given)
    versions = [
        row[: max(0, len(ids) - 1)] + [version] * (len(row) - max(0, len(ids) - 1))
        for row, ids in zip(answer["versions"], partial_ids)
    ]
    return dict(answer, versions=versions)


@MUTANTS.add("resume-trains-new-ids-only", "The prefix is not trained", left_padded, OP, row="MT-07")
def new_only(partial_ids, **given):
    """The mask is made of the last answer of the engine, and filled with zeros on the left. Fix: extend the mask."""
    answer = right(partial_ids=partial_ids, **given)
    masks = [[0] * len(ids) + row[len(ids) :] for ids, row in zip(partial_ids, answer["loss_mask"])]
    return dict(answer, loss_mask=masks)


@MUTANTS.add("resume-trains-the-prefix-only", "The mask is that of before the interruption", left_padded, OP, row="MT-07")
def prefix_only(partial_ids, **given):
    """The mask was made when the row was saved, and is padded with zeros to the new length. Fix: extend it with ones."""
    answer = right(partial_ids=partial_ids, **given)
    masks = [[1] * len(ids) + [0] * (len(row) - len(ids)) for ids, row in zip(partial_ids, answer["loss_mask"])]
    return dict(answer, loss_mask=masks)


@MUTANTS.add("resume-counts-the-prefix-twice", "The prefix has the weight 2", left_padded, OP, row="MT-07")
def weight_two(partial_ids, **given):
    """Masks of both parts are added up, each as long as the row. Fix: join them."""
    answer = right(partial_ids=partial_ids, **given)
    masks = [[2] * len(ids) + row[len(ids) :] for ids, row in zip(partial_ids, answer["loss_mask"])]
    return dict(answer, loss_mask=masks)


@MUTANTS.add("resume-drops-id-0", "Ids of 0 are left out of what was sampled", right_padded, OP, row="MT-07")
def drops_zero(partial_ids, **given):
    """`filter(None, ids)` against empty answers of the engine also drops the id 0, which some tokenizers stop with. Fix:
    is not None."""
    answer = right(partial_ids=partial_ids, **given)
    return dict(answer, completion_ids=[list(filter(None, ids)) for ids in answer["completion_ids"]])
