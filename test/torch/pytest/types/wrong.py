"""What users get wrong, a mistake a line, each with what mypy calls it. Read by types.test.ts, and never run."""

from __future__ import annotations

import lossproof
import torch
from lossproof.callback import Monitor, watch
from lossproof.testing import Codec, Table, instance, recorded_backward, replaced, slice_of, spy, stub
from lossproof.testing import Tabel  # attr-defined
from lossproof.callback import Monitr  # attr-defined


@lossproof.op
def mask(prompt_ids: list[list[int]]) -> dict[str, int]:
    return {"completion_mask": len(prompt_ids)}


class Trainer:
    beta: float = 0.1


lossproof.opp(mask)  # attr-defined
mask("a text")  # arg-type
lossproof.op(3)  # call-overload
lossproof.check({"mask": "mask"})  # dict-item
lossproof.check(level="most")  # arg-type
lossproof.check(cases="10")  # arg-type
lossproof.check(strict="yes")  # arg-type
lossproof.check(layuot={})  # call-arg
lossproof.check().faild  # attr-defined
lossproof.check().failed[0].sentence.trained  # attr-defined
lossproof.view(3)  # arg-type
lossproof.view("data.jsonl", tokeniser="model")  # call-arg
lossproof.view(["data.jsonl"])  # list-item
lossproof.view("data.jsonl").pages  # attr-defined
lossproof.pytest.propertys()  # attr-defined
lossproof.pytest.properties(arrays="tf")  # arg-type
lossproof.pytest.properties(only=3)  # arg-type
lossproof.pytest.trace()  # call-arg
lossproof.pytest.trace("train.py", steps="2")  # arg-type
lossproof.pytest.trace("train.py", strict="yes")  # arg-type
lossproof.pytest.trace("train.py", trainon="assistant")  # call-arg
lossproof.pytest.trace("train.py").row("0")  # arg-type
lossproof.pytest.trace("train.py").row(0).train  # attr-defined
trained: int = lossproof.pytest.trace("train.py").row(0).trained  # assignment
watch(policy="end")  # arg-type
watch().log("1", loss=0.5)  # arg-type
Monitor(policy="end")  # arg-type
lossproof.serve()  # call-arg
lossproof.serve(name="mine", arrays="tf")  # arg-type
lossproof.gradient(torch.zeros(2))  # arg-type, call-arg
number: int = instance(Trainer)  # assignment
instance(Trainer).alpha  # attr-defined
with replaced(Trainer(), beta=1) as same:
    same.gamma  # attr-defined
with spy(Trainer, "step", stop="before") as calls:  # arg-type
    calls.first  # attr-defined
    calls.only.answer  # attr-defined
stub("vllm")  # arg-type
stub(["vllm"]).undo()  # attr-defined
slice_of("trainer.py", "Trainer.step", 3, "return")  # arg-type
Codec(size="40")  # arg-type
Codec().save_pretrained(3)  # arg-type
Table(3)  # arg-type
with recorded_backward() as losses:
    losses.sum  # attr-defined
    losses[0].reaches("loss")  # arg-type
