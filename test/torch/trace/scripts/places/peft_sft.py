"""Adapters of the peft library on a tiny model, trained by a loop or by transformers' Trainer."""

import argparse

import batches
import peft
import tiny
import torch

KINDS = ["lora", "saved-head", "quantised", "prompt", "prefix"]
parser = argparse.ArgumentParser()
parser.add_argument("--kind", default="lora", choices=KINDS)
parser.add_argument("--output", help="with Trainer")
options = batches.options_of(parser)

tokenizer = batches.tokenizer()
model = tiny.rotary(len(tokenizer))
if options.kind == "quantised":
    import bitsandbytes

    model.save_pretrained(options.output + "/base")
    import transformers

    four = transformers.BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.float32
    )
    model = transformers.AutoModelForCausalLM.from_pretrained(options.output + "/base", quantization_config=four)
    assert any(isinstance(part, bitsandbytes.nn.Linear4bit) for part in model.modules())
if options.kind == "prompt":
    config = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3)
elif options.kind == "prefix":
    config = peft.PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3)
else:
    config = peft.LoraConfig(
        task_type="CAUSAL_LM",
        r=4,
        target_modules=["q_proj", "v_proj"],
        modules_to_save=["lm_head"] if options.kind == "saved-head" else None,
    )
model = peft.get_peft_model(model, config)
model.print_trainable_parameters()

optimiser = torch.optim.AdamW([each for each in model.parameters() if each.requires_grad], lr=1e-3)
for step, batch in enumerate(batches.batches(options.data, tokenizer, options.fault)):
    loss = model(**batch).loss
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    print("step", step, "loss", float(loss))
