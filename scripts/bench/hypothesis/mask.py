"""The mask property in Hypothesis, calling the example trainer's own function in its own process."""

from measured import measure, measured  # first: it keeps stdout
from hypothesis import given, strategies as st

from lossproof.examples import left_padded

PLAIN = [id_ for id_ in range(600) if id_ > 20]
PAD, STOPS = 2, [2, 3]

ordinary = st.integers(0, 19)
row = st.fixed_dictionaries(
    {
        "again": st.integers(0, 2),
        "prompt": st.lists(st.integers(0, 22), min_size=1, max_size=6),
        "body": st.lists(ordinary, max_size=5),
        "stop": st.one_of(st.none(), st.integers(0, 2)),
        "after": st.lists(ordinary, max_size=2),
    }
)


def lay_out(rows):
    """As src/generators/rollouts/batch.ts draws them: the same fields, the same sizes."""
    for before, r in zip(rows, rows[1:]):
        if r["again"] == 2:
            r["prompt"] = before["prompt"]
    prompts = [[PLAIN[s] if s < 20 else STOPS[s % 2] for s in r["prompt"]] for r in rows]
    completions = [[PLAIN[s] for s in r["body"]] + ([] if r["stop"] is None else [STOPS[r["stop"] % 2]]) for r in rows]
    width = max(1, *(len(c) for c in completions))
    completions = [
        c if r["stop"] is not None else c + [PLAIN[i % 20] for i in range(width - len(c))]
        for r, c in zip(rows, completions)
    ]
    after = [[PLAIN[s] for s in r["after"]] if r["stop"] is not None else [] for r in rows]
    return prompts, completions, after


count = 0


@measured
@given(st.lists(row, min_size=1, max_size=4))
def prompt_is_never_trained(rows):
    global count
    count += 1
    prompts, completions, after = lay_out(rows)
    width = max(len(p) for p in prompts)
    columns = width + max(1, *(len(c) for c in completions))
    sequences = [
        [PAD] * (width - len(p)) + p + c + [PAD] * (columns - width - len(c)) for p, c in zip(prompts, completions)
    ]
    for ids, c, junk in zip(sequences, completions, after):
        start = width + len(c)
        ids[start : start + len(junk)] = junk[: columns - start]
    attention = [
        [0] * (width - len(p)) + [1] * (len(p) + len(c)) + [0] * (columns - width - len(c))
        for p, c in zip(prompts, completions)
    ]
    arguments = {
        "prompt_ids": prompts,
        "completion_ids": completions,
        "sequences": sequences,
        "attention_mask": attention,
        "prompt_width": width,
        "pad_token_id": PAD,
        "eos_token_ids": STOPS,
    }
    code = left_padded.mask.__code__
    names = code.co_varnames[: code.co_argcount]
    answer = left_padded.mask(**{name: arguments[name] for name in names})
    for mask, ids, prompt in zip(answer["completion_mask"], sequences, prompts):
        start = len(ids) - len(mask)
        assert all(m == 0 for at, m in enumerate(mask) if start + at < width)
        assert ids[width - len(prompt) : width] == prompt


measure(prompt_is_never_trained, lambda: count)
