"""What was sampled outside of the process's own models, by an engine or behind a server, as a `generate` record."""

import sys
import time

# What does nothing, of each setting.
NEUTRAL = {
    "top_p": (1.0,),
    "top_k": (0.0, -1.0),
    "min_p": (0.0,),
    "repetition_penalty": (1.0,),
    "presence_penalty": (0.0,),
    "frequency_penalty": (0.0,),
}


class Answer:
    """Ids of a prompt and of what was sampled behind it; `stop`: the id that it names as what ended it. That it ended is no
    such word: a stop string ends an answer, too, and its last token is any. `logprobs`: one per token, of the sampled one."""

    def __init__(self, prompt, completion, stop=None, logprobs=None):
        self.prompt, self.completion = ids(prompt), ids(completion)
        fits = self.completion is not None and logprobs is not None and len(logprobs) == len(self.completion)
        self.logprobs = [number(each) for each in logprobs] if fits else None
        self.stop = stop if isinstance(stop, int) and not isinstance(stop, bool) else None


def ids(values):
    """A list of whole numbers, or None."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    if not isinstance(values, (list, tuple)) or not values:
        return [] if isinstance(values, (list, tuple)) else None
    return [int(value) for value in values] if all(isinstance(value, int) for value in values) else None


def tell(session, source, answers, asked, when=None):
    """`asked(name)`: what was asked for by this name, or None; `when`: (step, time), now. Whether there was anything to tell."""
    torch = sys.modules.get("torch")
    answers = [each for each in answers if each.prompt and each.completion is not None]
    if torch is None or not answers or not any(each.completion for each in answers):
        return False
    used = {token for each in answers for token in (*each.prompt, *each.completion)}
    pad = next(token for token in range(len(used) + 1) if token not in used)
    before, behind = (max(map(len, rows)) for rows in zip(*((each.prompt, each.completion) for each in answers)))
    temperature = number(asked("temperature"))
    greedy = temperature == 0.0
    step, at = when or (session.step, time.time())
    session.write(
        "generate",
        generate=session.next_generation(),
        step=step,
        time=at,
        source=source,
        input_ids=torch.tensor([[pad] * (before - len(each.prompt)) + each.prompt for each in answers]),
        attention_mask=torch.tensor([[0] * (before - len(each.prompt)) + [1] * len(each.prompt) for each in answers]),
        sequences=torch.tensor(
            [
                [pad] * (before - len(each.prompt)) + each.prompt + each.completion + [pad] * (behind - len(each.completion))
                for each in answers
            ]
        ),
        prompt_width=before,
        copies=1,
        eos_token_ids=stops(answers, asked),
        pad_token_id=None,
        do_sample=not greedy,
        temperature=None if greedy else temperature,
        max_new_tokens=asked("max_tokens") or asked("max_new_tokens"),
        settings={name: asked(name) for name in NEUTRAL if number(asked(name)) not in (None, *NEUTRAL[name])},
        lengths=[len(each.completion) for each in answers],
        **sampling(torch, answers, behind),
    )
    return True


def sampling(torch, answers, width):
    """The log-probabilities that came with the answers, where any did."""
    if not any(each.logprobs for each in answers):
        return {}
    none = float("nan")
    rows = [[none if each is None else each for each in answer.logprobs or ()] for answer in answers]
    return {"sampling_logprobs": torch.tensor([row + [none] * (width - len(row)) for row in rows])}


def stops(answers, asked):
    """Ids that end answers: those that somebody says do, and none that one of these answers goes on behind."""
    from ..models import _models
    from . import _sequences

    known = set() if asked("ignore_eos") else _sequences.known_stops(*_models.known())
    wanted = asked("stop_token_ids")
    known.update(wanted if isinstance(wanted, (list, tuple, set, frozenset)) else ())
    known.update(each.stop for each in answers if each.stop is not None)
    return sorted(known - {token for each in answers for token in each.completion[:-1]})


def number(value):
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
