"""Samples that a script tells by `watch_sample`, under the tracer's hooks; a JSON line a case, read by declared.test.ts."""

import torch

import lossproof_trace
from lossproof_trace.recording import _session
from watching import SESSION, case, run


def recorded(*args, **kwargs):
    lossproof_trace.watch_sample(*args, **kwargs)
    return [
        {
            "prompt": record["input_ids"].tolist(),
            "sequence": record["sequences"].tolist(),
            "eos": record["eos_token_ids"],
            "sampled": record["do_sample"],
            "temperature": record["temperature"],
            "index": record["generate"],
        }
        for record in SESSION.of("generate")
    ]


@case
def one_row():
    state = torch.random.get_rng_state()
    out = recorded([5, 6, 7], [8, 9, 2], temperature=0.7, eos_token_id=2)
    return {"rows": out, "random": bool((state == torch.random.get_rng_state()).all())}


@case
def several_rows_as_tensors():
    return recorded([torch.tensor([5, 6]), torch.tensor([7])], [[8, 2], torch.tensor([9])], eos_token_id=[2, 3])


@case
def several_completions_of_one_prompt():
    return recorded([5, 6], torch.tensor([[8, 9], [9, 2]]), temperature=0.0)


@case
def what_is_no_ids():
    rows = recorded("abc", [8, 2])
    rows += recorded([5.0, 6.0], [8, 2])
    rows += recorded([[5], [6]], [[8], [9], [2]])
    return {"rows": rows, "said": [record["sentence"] for record in SESSION.of("blind")]}


@case
def without_a_trace():
    _session.use(None)
    try:
        return {"answer": lossproof_trace.watch_sample([5], [6])}
    finally:
        _session.use(SESSION)


if __name__ == "__main__":
    run()
