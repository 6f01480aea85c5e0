"""What a loop of the script's own sampled, as generate() would return it: prompts, completions, what stopped them."""

import torch

from ..script import _tokenizers


def of(loop):
    """The fields of a `generate` record that are the rows', or None where nothing was drawn."""
    rows = loop.rows.all()
    known = known_stops(loop.model) | loop.stops
    stops, cut = ended(rows, known, loop.rows.stops)
    kept = []
    for (ids, drawn, mask), end in zip(rows, cut):
        drawn = [each is not False for each in drawn[:end]]
        if True not in drawn:
            continue
        first = drawn.index(True)
        # Tokens that were given behind the first drawn one: a longer prompt, fed column by column.
        given = [at for at in range(first, len(drawn)) if not drawn[at]]
        prompt = given[-1] + 1 if given else first
        end = len(drawn)
        while end > prompt and not drawn[end - 1]:
            end -= 1
        kept.append((ids[:prompt], ids[prompt:end], first, mask))
    if not kept:
        return None
    longest = max(len(prompt) for prompt, _, _, _ in kept)
    ragged = any(first < len(prompt) for prompt, _, first, _ in kept)
    told = pad_of()
    told = loop.pad if told is None else told
    used = {token for prompt, completion, _, _ in kept for token in (*prompt, *completion)}
    # Else one that stands nowhere, for the record alone.
    pad = next(each for each in range(len(used) + 1) if each not in used) if told is None else told
    width = max(len(completion) for _, completion, _, _ in kept)
    inputs, masks, sequences = [], [], []
    for prompt, completion, _, mask in kept:
        left = longest - len(prompt)
        inputs.append([pad] * left + prompt)
        masks.append([0] * left + real(prompt, mask, told, stops))
        sequences.append([pad] * left + prompt + completion + [pad] * (width - len(completion)))
    return {
        "input_ids": torch.tensor(inputs),
        "attention_mask": torch.tensor(masks),
        "sequences": torch.tensor(sequences),
        "prompt_width": longest,
        "copies": 1,
        "eos_token_ids": stops,
        "pad_token_id": told,
        "max_new_tokens": width,
        "lengths": [len(completion) for _, completion, _, _ in kept],
        # So many of the prompt's last tokens had been drawn too, and so many of the completion's first may have been given.
        "unsure_before": [len(prompt) - first for prompt, _, first, _ in kept],
        "unsure_behind": [
            min(len(completion), longest - len(prompt)) if ragged else 0 for prompt, completion, _, _ in kept
        ],
        "open": loop.rows.grown and loop.draws == 0,
    }


def ended(rows, known, stops):
    """(ids that stop, where each row ends). A row that has stopped is filled up with one id, whatever is drawn for it."""
    tails = []
    for ids, drawn, _ in rows:
        fed = len(ids) - (len(drawn) > 0 and drawn[-1] is None)
        start = fed
        while start > 0 and ids[start - 1] == ids[fed - 1]:
            start -= 1
        filled = True in drawn[:fed] and any(each is False for each in drawn[max(start, drawn.index(True)) : fed])
        tails.append(start if filled and start > 0 else None)
    filled = [(row, start) for row, start in zip(rows, tails) if start is not None]
    own = sum(1 for (ids, drawn, _), start in filled if drawn[start])
    # What rows are filled with may be what stopped them: then the first of it was drawn.
    same = bool(filled) and (own * 2 > len(filled) or filled[0][0][0][filled[0][1]] in known)
    stops, ends = set(stops), []
    for (ids, drawn, _), start in zip(rows, tails):
        end = len(ids) if start is None else start + (1 if same and drawn[start] else 0)
        if start is not None and drawn[end - 1]:
            stops.add(ids[end - 1])
        ends.append(end)
    return sorted(stops or known), ends


def real(prompt, mask, pad, stops):
    """1 and 0: what of the prompt is not padding."""
    if mask is not None:
        return (mask + [1] * len(prompt))[: len(prompt)]
    start = 0
    while pad is not None and pad not in stops and start < len(prompt) - 1 and prompt[start] == pad:
        start += 1
    return [0] * start + [1] * (len(prompt) - start)


def known_stops(*models):
    found = set()
    said = (getattr(model.root, name, None) for model in models for name in ("generation_config", "config"))
    for holder in (*said, *_tokenizers.candidates()):
        value = getattr(holder, "eos_token_id", None)
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(each, int) and not isinstance(each, bool):
                found.add(each)
    return found


def pad_of():
    """As one of the script's tokenizers has it."""
    for tokenizer in _tokenizers.candidates():
        if isinstance(getattr(tokenizer, "pad_token_id", None), int):
            return int(tokenizer.pad_token_id)
    return None
