"""Wrong penalties: what is counted, and which way they point."""

from collections import Counter

from lossproof.examples import left_padded
from lossproof.examples.rollouts.penalties import penalties_of, repeated

from ..registry import MUTANTS


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


def repeating(scope, change):
    """A penalties op whose repetition penalty goes over scope(real ids, generated ids) and applies
    change(logit, penalty) to each; presence and frequency are right."""

    def repeat(row, seen, generated, penalty):
        row = list(row)
        for id in scope(seen, generated):
            row[id] = change(row[id], penalty)
        return row

    return penalties_of(repeat=repeat)


def away(logit, penalty):
    """Less likely, whatever the sign."""
    return logit * penalty if logit < 0 else logit / penalty


def counting(name, title, story, scope=lambda seen, generated: set(seen), change=away):
    wrong = repeating(scope, change)
    wrong.__doc__ = story
    MUTANTS.add(name, title, left_padded, "penalties", row="PEN-02")(wrong)


add(
    "penalties-of-a-window",
    "Presence and frequency are those of the last 64 tokens that were generated",
    "repetition_context_size, which is that of the repetition penalty, was read by all three.",
    lambda ids, real, prompt_width: generated(ids, real, prompt_width)[-64:],
)
counting(
    "repetition-without-the-prompt",
    "The repetition penalty leaves out the prompt",
    "Mended by analogy with presence and frequency, which count what was generated: repetition is defined over prompt "
    "and generation, and rollouts no longer match the server's. Fix: all real ids of the row.",
    scope=lambda seen, generated: set(generated),
)
counting(
    "repetition-divides-negative-logits",
    "Negative logits are divided by the repetition penalty",
    "z / penalty for every sign: a negative logit comes nearer to 0, and what was repeated becomes more likely. "
    "Fix: multiply where z < 0.",
    change=lambda logit, penalty: logit / penalty,
)
counting(
    "repetition-once-per-occurrence",
    "The repetition penalty is applied for every occurrence",
    "A loop over the ids instead of the set of them: the penalty is raised to the power of the count. "
    "Fix: each distinct id once.",
    scope=lambda seen, generated: list(seen),
)


add(
    "penalties-below-zero-are-off",
    "A negative penalty is taken for none",
    "`if presence_penalty > 0:` asks whether there is one; a negative one, which rewards what was said before, is dropped. Fix: != 0.",
    amount=lambda count, presence, frequency: max(0, frequency) * count + max(0, presence),
)
