"""What users write, and a type checker takes as it is. Read by types.test.ts, and never run."""

from __future__ import annotations

from pathlib import Path

import lossproof
import torch
from lossproof.callback import Finding, Monitor, watch
from lossproof.notebook import Result, Verdict
from lossproof.pytest import Ledger
from lossproof.testing import Codec, Settings, Table, instance, recorded_backward, replaced, slice_of, spy, stub


@lossproof.op
def mask(prompt_ids: list[list[int]], completion_ids: list[list[int]]) -> dict[str, list[list[int]]]:
    if not prompt_ids:
        raise lossproof.Reject("no rows")
    return {"completion_mask": completion_ids}


@lossproof.op("kl", kl_estimator=["k3"])
def my_kl(logprobs: list[list[float]]) -> dict[str, float]:
    return {"kl": len(logprobs)}


rows: dict[str, list[list[int]]] = mask([[1]], [[2]])  # the decorator has left it what it was
number: dict[str, float] = my_kl([[0.5]])

result: Result = lossproof.check({"mask": mask, "kl": (my_kl, {"kl_estimator": ["k3"]})}, only="mask", seed=7, dtype="float32")
failed: list[Verdict] = result.failed
sentences: list[str] = [verdict.sentence for verdict in failed if verdict.fails]
page: str = result.html if result else result.text
lossproof.check("python adapter.py", only=["mask/*", "kl"], level="should", known=Path("known.json"))
lossproof.check(["python", Path("adapter.py")], cases=10, op_timeout=2.5, strict=True)

viewed = lossproof.view([{"messages": [{"role": "user", "content": "Hi"}]}], tokenizer=Path("model"), max_length=2048)
code: int = viewed.exit_code
held: bool = bool(lossproof.view("data.jsonl"))
lossproof.view(({"text": text} for text in "ab"), stop=["<s>", 3], row=[1, 2], strict=True, train_on=None)

test_mine = lossproof.pytest.properties(only="mask", cases=10, strict=True, layout={"alignment": "token"}, arrays="torch")


def test_script() -> None:
    ledger: Ledger = lossproof.pytest.trace("train.py", "--fast", 3, steps=2, env={"RANK": "0"}, train_on="assistant", only=["mask", "kl"])
    assert ledger.row(0).trained == "Hello!" and ledger.row(-1).weights[0] is None
    assert ledger.verdicts["trace/loss-is-read"] == "pass"
    tokens: list[int] = ledger.rows[0].trained_ids
    assert tokens


with watch(policy="stop", learning_rate=1e-4) as monitor:
    found: list[Finding] = monitor.log(1, loss=0.5)
    stop: bool = monitor.should_stop
callback = Monitor(policy="stop", level="should", options=["--set", "kl-spike.times=30"])


class Trainer:
    beta: float = 0.1

    def step(self, batch: torch.Tensor) -> torch.Tensor:
        return batch.sum()


trainer: Trainer = instance(Trainer, beta=0.2, args=Settings(clip=0.2))
with replaced(trainer, beta=0.3) as same:
    beta: float = same.beta
with spy(Trainer, "step", stop="after") as calls:
    batch = calls.only["batch"]
    answers: list[object] = calls.results
    last = calls.last.kwargs
with stub(["vllm"]), stub({"flash_attn": "2.0"}, always=True):
    pass
inner = slice_of("trainer.py", "Trainer.step", "loss =", "return loss", inputs=["self"], outputs="return")
answer = inner(trainer)
codec = Codec(size=40, bos="<s>")
folder: str = codec.save_pretrained(Path("model"))
model = Table(torch.zeros(1, 2, 3), pad_token_id=0)
device: torch.device = model.device
with recorded_backward(stop=True) as losses:
    total: torch.Tensor = losses.total
    slope: torch.Tensor = losses[0].gradient(torch.zeros(2))

loss, gradient = lossproof.gradient(lambda each: each.sum(), torch.zeros(2))
lossproof.serve(name="mine", semantics={"kl_estimator": "k3"}, tokens={"pad_token_id": 0}, arrays="torch")
