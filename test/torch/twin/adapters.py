"""LoRA of the peft library by hand, on a linear layer or one that keeps its weight transposed (GPT-2). `--fault`: a layer of the
script's own that leaves the scale out, or weights that get the adapter twice when it is merged."""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "trace", "scripts"))
import peft  # noqa: E402
import tiny  # noqa: E402
import torch  # noqa: E402
from peft.tuners.lora import layer as lora  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="rotary", choices=["rotary", "absolute"])
parser.add_argument("--dora", action="store_true")
parser.add_argument("--dropout", type=float, default=0.0)
parser.add_argument("--fault", choices=["fused-forward", "merged-twice"])
options = parser.parse_args()


def fused(self, x, *args, **kwargs):
    result = self.base_layer(x)
    for name in [] if self.merged or self.disable_adapters else self.active_adapters:
        result = result + self.lora_B[name](self.lora_A[name](x))
    return result


if options.fault == "fused-forward":
    lora.Linear.forward = fused
if options.fault == "merged-twice":
    delta = lora.Linear.get_delta_weight
    lora.Linear.get_delta_weight = lambda self, name: 2 * delta(self, name)

tokenizer = tiny.letters()
transposed = options.model == "absolute"
model = tiny.absolute(len(tokenizer)) if transposed else tiny.rotary(len(tokenizer))
config = peft.LoraConfig(
    task_type="CAUSAL_LM",
    r=4,
    lora_alpha=16,
    lora_dropout=options.dropout,
    use_dora=options.dora,
    fan_in_fan_out=transposed,
    target_modules=["c_attn"] if transposed else ["q_proj", "v_proj"],
)
model = peft.get_peft_model(model, config)
optimiser = torch.optim.AdamW([each for each in model.parameters() if each.requires_grad], lr=1e-3)
generator = torch.Generator().manual_seed(1)
rows = torch.randint(3, len(tokenizer), (12, 9), generator=generator)
for step, ids in enumerate(rows.split(4)):
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    print("step", step, "loss", float(loss))
