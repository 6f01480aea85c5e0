"""Samples that the script itself tells, by `lossproof_trace.watch_sample`: of a sampler that the tracer cannot see."""

from ..models import _models
from ..script import _tokenizers

NOT_IDS = (
    "watch_sample() was not given token ids: prompt_ids and completion_ids are lists of ids, or lists of such lists, without "
    "padding. This call is not recorded."
)


def sample(session, prompt_ids, completion_ids, temperature, eos_token_id):
    prompts, completions = rows_of(prompt_ids), rows_of(completion_ids)
    if prompts is None or completions is None:
        session.blind("watch_sample", NOT_IDS)
        return
    if len(prompts) == 1:
        # One prompt, answered several times.
        prompts = prompts * len(completions)
    if len(prompts) != len(completions):
        session.blind(
            "watch_sample",
            "watch_sample() was given %d prompts and %d completions, which are not recorded: give each completion its prompt."
            % (len(prompts), len(completions)),
        )
        return
    import torch

    for prompt, completion in zip(prompts, completions):
        # Nothing was sampled, or nothing that the tracer knows how to lay out.
        if not prompt or not completion:
            continue
        session.write(
            "generate",
            # One a row: nothing is padded, and no padding is to be told from what was sampled.
            generate=session.next_generation(),
            source="declared",
            model=policy(),
            step=session.step,
            input_ids=torch.tensor([prompt]),
            attention_mask=None,
            sequences=torch.tensor([prompt + completion]),
            prompt_width=len(prompt),
            copies=1,
            eos_token_ids=stops() if eos_token_id is None else ids_of(eos_token_id) or [],
            pad_token_id=None,
            do_sample=temperature is not None and float(temperature) > 0,
            temperature=float(temperature) if temperature is not None and float(temperature) > 0 else None,
            max_new_tokens=None,
            settings={},
        )


def rows_of(value):
    """A list of lists of ids, or None. Tensors and arrays are lists, too."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, (list, tuple)) or len(value) == 0:
        return None
    if all(isinstance(each, (list, tuple)) or hasattr(each, "tolist") and getattr(each, "ndim", 0) == 1 for each in value):
        rows = [ids_of(each) for each in value]
        return None if any(row is None for row in rows) else rows
    row = ids_of(value)
    return None if row is None else [row]


def ids_of(value):
    if hasattr(value, "tolist"):
        value = value.tolist()
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    values = [each.item() if hasattr(each, "item") else each for each in values]
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in values):
        return None
    return values


def policy():
    """Index of the model that is trained; 0 where none is known yet, as the first will be."""
    for model in _models.known():
        root = model.root
        if root is not None and any(parameter.requires_grad for parameter in root.parameters()):
            return model.index
    return 0


def stops():
    found = {getattr(each, "eos_token_id", None) for each in _tokenizers.candidates()}
    return sorted(each for each in found if isinstance(each, int) and not isinstance(each, bool))
