"""Tokens that are added before adapters of PEFT, or a part of the model, are trained. `--way`: what becomes of their rows."""

import argparse
import tempfile

import peft
import tiny
import torch
import torch.nn.functional as F
import transformers

RIGHT = ["saved", "indices", "written", "padding", "whole", "spare"]
WRONG = ["adapters", "saved-embedding", "frozen", "left-out"]
parser = argparse.ArgumentParser()
parser.add_argument("--way", required=True, choices=RIGHT + WRONG)
parser.add_argument("--data", required=True)
options = parser.parse_args()
way = options.way

tokenizer = tiny.family()
tied = way == "indices"
with tempfile.TemporaryDirectory() as folder:
    spare = 8 if way == "spare" else 0
    tiny.rotary(len(tokenizer) + spare, tie_word_embeddings=tied).save_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
if way == "padding":
    tokenizer.add_special_tokens({"pad_token": "<filler>"})
    tool, end = "The", "<|im_end|>"
else:
    tokenizer.add_tokens(["<tool>", "<end>"], special_tokens=True)
    tool, end = "<tool>", "<end>"
if way != "spare":
    model.resize_token_embeddings(len(tokenizer))
new = tokenizer.convert_tokens_to_ids(["<tool>", "<end>"])
if way == "written":
    with torch.no_grad():
        for weight in (model.get_input_embeddings().weight, model.get_output_embeddings().weight):
            weight[new] = weight[:2].clone()

if way in ("whole", "frozen", "left-out"):
    if way == "frozen":
        model.get_input_embeddings().requires_grad_(False)
else:
    model = peft.get_peft_model(
        model,
        peft.LoraConfig(
            task_type="CAUSAL_LM",
            r=4,
            target_modules=["q_proj", "v_proj"],
            modules_to_save={"saved": ["embed_tokens", "lm_head"], "saved-embedding": ["embed_tokens"]}.get(way),
            trainable_token_indices={"embed_tokens": new} if way == "indices" else None,
        ),
    )
model.train()
held = model.model.layers if way == "left-out" else model
optimiser = torch.optim.AdamW([each for each in held.parameters() if each.requires_grad], lr=1e-3)


def batch(rows):
    examples = []
    for row in rows:
        prompt = tokenizer(tool + " " + row["prompt"], add_special_tokens=False)["input_ids"]
        answer = tokenizer(row["completion"] + end, add_special_tokens=False)["input_ids"]
        examples.append((prompt + answer, [tiny.IGNORE] * len(prompt) + answer))
    width = max(len(ids) for ids, _ in examples)
    ids = torch.full((len(examples), width), tokenizer.pad_token_id)
    labels, mask = torch.full_like(ids, tiny.IGNORE), torch.zeros_like(ids)
    for at, (row, targets) in enumerate(examples):
        ids[at, : len(row)], labels[at, : len(row)], mask[at, : len(row)] = torch.tensor(row), torch.tensor(targets), 1
    return ids, mask, labels


rows = tiny.rows(options.data)
for step in range(2):
    ids, mask, labels = batch(rows[2 * step : 2 * step + 2])
    logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1]
    F.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=tiny.IGNORE).backward()
    optimiser.step()
    optimiser.zero_grad()
    print("step", step)
