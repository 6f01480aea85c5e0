"""Penalties on the next token's logits, as samplers apply them.

Frequency and presence count what was generated, never the prompt; repetition also looks at the prompt
(Keskar et al. 2019, section 4.1, as in vLLM's and transformers' samplers)."""

from collections import Counter


def repeated(logits, ids, penalty):
    """Every distinct token seen becomes less likely once, whatever the sign of its logit."""
    row = list(logits)
    for id in set(ids):
        row[id] = row[id] * penalty if row[id] < 0 else row[id] / penalty
    return row


def counted(logits, ids, presence, frequency):
    """z -= frequency * count + presence * [count > 0]."""
    row = list(logits)
    for id, count in Counter(ids).items():
        row[id] -= frequency * count + presence
    return row


def penalties_of(repeat=lambda row, seen, generated, penalty: repeated(row, seen, penalty), count=counted):
    """The op made of its halves, so that a wrong one can stand in for either: repeat(row, real ids, generated ids,
    penalty) and count(row, generated ids, presence, frequency)."""

    def penalties(
        input_ids,
        attention_mask,
        prompt_width,
        logits,
        presence_penalty,
        frequency_penalty,
        repetition_penalty,
    ):
        """(B, V) logits after the penalties: repetition first, then frequency and presence."""
        out = []
        for ids, real, row in zip(input_ids, attention_mask, logits):
            seen = [id for id, is_real in zip(ids, real) if is_real]
            generated = [id for id, is_real in zip(ids[prompt_width:], real[prompt_width:]) if is_real]
            row = repeat(row, seen, generated, repetition_penalty)
            out.append(count(row, generated, presence_penalty, frequency_penalty))
        return {"logits": out}

    return penalties


penalties = penalties_of()
