"""Parts that are to stay as they are: by a pattern of names, or beside adapters of PEFT. `--way`: what becomes of the rest."""

import argparse

import batches
import tiny
import torch

PLAIN = ["pattern"]
RIGHT = ["adapters", "saved", "tokens", "norms", "attention"]
WRONG = ["mlp", "last", "misspelt", "left-head", "left-embedding", "left-tokens"]
parser = argparse.ArgumentParser()
parser.add_argument("--way", required=True, choices=PLAIN + RIGHT + WRONG)
parser.add_argument("--pattern", default="", help="names that hold this are frozen")
options = batches.options_of(parser)
way = options.way

tokenizer = batches.tokenizer()
model = tiny.rotary(len(tokenizer))
if way == "pattern":
    for name, parameter in model.named_parameters():
        if options.pattern in name:
            parameter.requires_grad = False
else:
    import peft

    saved = {"saved": ["lm_head"], "left-head": ["lm_head"], "left-embedding": ["embed_tokens"]}
    config = peft.LoraConfig(
        task_type="CAUSAL_LM",
        r=2,
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj"] if way == "attention" else ["q_proj", "v_proj"],
        modules_to_save=saved.get(way),
        trainable_token_indices={"embed_tokens": [69, 198, 858]} if "tokens" in way else None,
    )
    model = peft.get_peft_model(model, config)
    for name, parameter in model.named_parameters():
        if way == "mlp" and ".mlp." in name:
            parameter.requires_grad_(True)
        if way == "last" and ".layers.1.mlp." in name:
            parameter.requires_grad_(True)
        if way == "norms" and ("norm" in name or "embed" in name):
            parameter.requires_grad_(True)
    if way == "misspelt":
        model.requires_grad_(True)
        for name, parameter in model.named_parameters():
            if "base_layer" in name or "mpl" in name:
                parameter.requires_grad_(False)

model.train()
free = [(name, each) for name, each in model.named_parameters() if each.requires_grad]
held = [each for name, each in free if not way.startswith("left") or "lora_" in name]
optimiser = torch.optim.AdamW(held, lr=1e-3)
for step, batch in enumerate(batches.batches(options.data, tokenizer, options.fault)):
    model(**batch).loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    model.zero_grad()
    print("step", step)
