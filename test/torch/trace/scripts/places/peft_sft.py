"""Adapters of the peft library on a tiny model whose prompts or weights are tuned; the base quantised by bitsandbytes, too."""

import argparse

import batches
import peft
import tiny
import torch

KINDS = ["lora", "saved-head", "quantised", "prompt", "prefix"]
parser = argparse.ArgumentParser()
parser.add_argument("--kind", default="lora", choices=KINDS)
parser.add_argument("--output", help="a folder, for what is quantised")
options = batches.options_of(parser)

tokenizer = batches.tokenizer()
model = tiny.rotary(len(tokenizer))
if options.kind == "quantised":
    import bitsandbytes
    import transformers

    # Its blocks of 64 numbers want rows as long as that.
    wide = transformers.LlamaConfig(**{**model.config.to_dict(), "hidden_size": 64, "intermediate_size": 128, "head_dim": 16})
    transformers.LlamaForCausalLM(wide).save_pretrained(options.output)
    four = transformers.BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")
    model = transformers.AutoModelForCausalLM.from_pretrained(
        options.output, quantization_config=four, dtype=torch.float32
    )
    assert any(isinstance(part, bitsandbytes.nn.Linear4bit) for part in model.modules())
    model = peft.prepare_model_for_kbit_training(model)
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
