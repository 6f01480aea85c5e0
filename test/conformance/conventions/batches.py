"""From ids to batches and to log-probabilities: padding, extraction, masks, scoring, in the layout of the settings.

Every function takes the settings and returns the function of an op; `ops` gathers them."""

from lossproof.examples import left_padded
from lossproof.examples.lists import beside, log_softmax, pad_left, pad_right, positions, through_stop
from lossproof.examples.scores.toy_model import score_rows
from lossproof.examples.stop_excluded import before_stop

from .numbers import MODEL, tensor
from .text import IGNORED


def ops(settings, family):
    return {
        "collate": collate(settings),
        "sft_batch": sft_batch(settings, family),
        "preference_batch": preference_batch(settings, family),
        "extract": extract(settings),
        "mask": mask(settings),
        "rollout": rollout(settings, family),
        "logprobs": logprobs(settings),
        "score": score(settings, family),
    }


def pad_rows(settings, side, rows, fill):
    """Rows flush against `side`, at a width that is a multiple of the settings'."""
    longest = max(map(len, rows), default=0)
    width = -(-longest // settings.multiple) * settings.multiple
    return (pad_left if side == "left" else pad_right)(rows, fill, width)


def collate(settings):
    def op(input_ids, labels, pad_token_id):
        ids, attention_mask = pad_rows(settings, settings.collate, input_ids, pad_token_id)
        padded_labels, _ = pad_rows(settings, settings.collate, labels, IGNORED)
        batch = {"input_ids": ids, "attention_mask": attention_mask, "labels": padded_labels}
        if settings.collate == "left":
            batch["position_ids"] = [positions(row) for row in attention_mask]
        return batch

    return op


def own_pad(settings, family):
    """What it pads with where no request says."""
    return family.tokens("own" if settings.pad == "free" else settings.pad)["pad_token_id"]


def sft_batch(settings, family):
    collated = collate(settings)

    def op(conversations):
        ids = [family.ids(messages, False) for messages in conversations]
        labels = [family.labels(messages, False, settings.sft_target) for messages in conversations]
        return collated(ids, labels, own_pad(settings, family))

    return op


def preference_batch(settings, family):
    def counts(id, label):
        return int(label != IGNORED and (settings.stop_token_in_mask or id != family.stop))

    def half(name, prompts, texts):
        conversations = [[*prompt, {"role": "assistant", "content": text}] for prompt, text in zip(prompts, texts)]
        ids = [family.ids(messages, False) for messages in conversations]
        labels = [family.labels(messages, False, "last-assistant") for messages in conversations]
        input_ids, attention_mask = pad_rows(settings, settings.collate, ids, own_pad(settings, family))
        mask, _ = pad_rows(settings, settings.collate, [list(map(counts, *row)) for row in zip(ids, labels)], 0)
        return {
            name + "_input_ids": input_ids,
            name + "_attention_mask": attention_mask,
            name + "_mask": mask,
        }

    def op(prompts, chosen, rejected):
        return {**half("chosen", prompts, chosen), **half("rejected", prompts, rejected)}

    return op


def extract(settings):
    def finished(ids, stops):
        return through_stop(ids, stops) if settings.stop_token_in_completion else before_stop(ids, stops)[0]

    def sliced(padding_side, prompt_ids, input_ids, sequences, sampled_ids, eos_token_ids):
        cut = left_padded.extract(
            padding_side, prompt_ids, input_ids, sequences, sampled_ids, eos_token_ids
        )["completion_ids"]
        return {"completion_ids": [list(finished(ids, eos_token_ids)) for ids in cut]}

    def sampled(sampled_ids, eos_token_ids):
        return {"completion_ids": [list(finished(ids, eos_token_ids)) for ids in sampled_ids]}

    function = sliced if settings.extraction == "sequences" else sampled
    return function, {"padding_side": ["left", "right"]}


def tracks(settings, rows, prompt_width=0):
    """Token-aligned rows (B, T) as they cross the pipe."""
    if settings.span == "completion":
        return [row[prompt_width:] for row in rows]
    return [row[1:] for row in rows] if settings.alignment == "predictor" else rows


def marks(settings, completion, eos_token_ids):
    """1 on each token of a completion that is trained."""
    said, stop = before_stop(completion, eos_token_ids)
    if not stop and not settings.truncated_completions_trained:
        return [0] * len(said)
    return [1] * len(said) + [int(settings.stop_token_in_mask)] * len(stop)


def laid_anew(settings, prompt_ids, completion_ids, pad_token_id, eos_token_ids):
    """[prompt | completion] of each row beside its padding; the mask is built with the row, not read off its ids."""
    completion_ids = [through_stop(ids, eos_token_ids) for ids in completion_ids]
    input_ids, attention_mask = pad_rows(
        settings, settings.rows, [p + c for p, c in zip(prompt_ids, completion_ids)], pad_token_id
    )
    trained = [
        [0] * len(p) + marks(settings, c, eos_token_ids) for p, c in zip(prompt_ids, completion_ids)
    ]
    completion_mask, _ = pad_rows(settings, settings.rows, trained, 0)
    return {
        "input_ids": input_ids,
        "attention_mask": attention_mask,
        "completion_mask": tracks(settings, completion_mask),
    }


def block_mask(settings, sequences, attention_mask, prompt_width, eos_token_ids):
    """(B, T) in the block that generation left: what stands behind the first stop token is not looked at."""
    rows = []
    for ids, real in zip(sequences, attention_mask):
        completion = [id for id, on in zip(ids[prompt_width:], real[prompt_width:]) if on]
        trained = marks(settings, through_stop(completion, eos_token_ids), eos_token_ids)
        rows.append([0] * prompt_width + trained + [0] * (len(ids) - prompt_width - len(trained)))
    return tracks(settings, rows, prompt_width)


def mask(settings):
    def anew(prompt_ids, completion_ids, pad_token_id, eos_token_ids):
        batch = laid_anew(settings, prompt_ids, completion_ids, pad_token_id, eos_token_ids)
        if settings.rows == "left":
            batch["position_ids"] = [positions(row) for row in batch["attention_mask"]]
        return batch

    def block(sequences, attention_mask, prompt_width, eos_token_ids):
        return {"completion_mask": block_mask(settings, sequences, attention_mask, prompt_width, eos_token_ids)}

    function = block if settings.rows == "block" else anew
    return function, {"after_stop": "any", "unfinished": True}


def rollout(settings, family):
    stops = list(family.stops)

    def op(conversations, sampled_ids):
        prompt_ids = [family.ids(messages, True) for messages in conversations]
        pad = own_pad(settings, family)
        if settings.rows != "block":
            return dict(laid_anew(settings, prompt_ids, sampled_ids, pad, stops), prompt_ids=prompt_ids)
        prompts, prompt_real = pad_left(prompt_ids, pad)
        completions, real = pad_right([through_stop(ids, stops) for ids in sampled_ids], pad)
        input_ids, attention_mask = beside(prompts, completions), beside(prompt_real, real)
        width = len(prompts[0])
        return {
            "prompt_ids": prompt_ids,
            "input_ids": input_ids,
            "attention_mask": attention_mask,
            "completion_mask": block_mask(settings, input_ids, attention_mask, width, stops),
        }

    return op


def logprobs(settings):
    rounded = MODEL[settings.dtype]

    def scored(input_ids, logits, prompt_width, temperature):
        rows = [
            [0.0] + [rounded(log_softmax([z / temperature for z in row], id)) for row, id in zip(cube, ids[1:])]
            for ids, cube in zip(input_ids, logits)
        ]
        rows = tracks(settings, rows, prompt_width)
        return {"logprobs": tensor(rows) if settings.tensors == "base64" else rows}

    def at_temperature(input_ids, logits, prompt_width, temperature):
        return scored(input_ids, logits, prompt_width, temperature if settings.temperature_in_scoring else 1.0)

    def plain(input_ids, logits, prompt_width):
        return scored(input_ids, logits, prompt_width, 1.0)

    return plain if settings.temperature_in_scoring is None else (at_temperature, {"temperature": True})


def score(settings, family):
    rounded = MODEL[settings.dtype]
    side = "right" if settings.rows == "right" else "left"

    def op(prompt_ids, completion_ids):
        input_ids, attention_mask = pad_rows(
            settings, side, [p + c for p, c in zip(prompt_ids, completion_ids)], family.pad
        )
        real_rows = [
            [rounded(value) for value, real in zip(values, mask) if real]
            for values, mask in zip(score_rows(input_ids, attention_mask), attention_mask)
        ]
        return {"logprobs": [row[len(p) :] for row, p in zip(real_rows, prompt_ids)]}

    return op, {"unfinished": True}
