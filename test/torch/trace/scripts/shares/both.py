"""Supervised training on a few chats, and answers sampled from the same model to look at. `--fault` plants one mistake."""

import argparse

import tiny
import torch
import torch.nn.functional as F

FAULTS = ["bare-rows", "no-header", "two-bos"]
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--system", help="of the prompts that are sampled from alone")
parser.add_argument("--fault", choices=FAULTS)
options = parser.parse_args()

tokenizer = tiny.family("qwen")
tokenizer.chat_template = tiny.GENERATION_TEMPLATE
if options.fault == "two-bos":
    tokenizer.bos_token = "<|endoftext|>"
model = tiny.rotary(len(tokenizer))
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)


def row_of(messages):
    """A chat as the template writes it; the question and the answer alone, where that is forgotten."""
    if options.fault != "bare-rows":
        return tiny.chat_ids(tokenizer, messages)
    text = "\n".join(message["content"] for message in messages) + "<|im_end|>"
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    return {"input_ids": ids, "labels": ids}


def asked(messages):
    question = [message for message in messages if message["role"] == "user"][:1]
    if options.system:
        question = [{"role": "system", "content": options.system}, *question]
    ending = options.fault != "no-header"
    text = tokenizer.apply_chat_template(question, tokenize=False, add_generation_prompt=ending)
    if options.fault == "two-bos":
        text = tokenizer.bos_token + text
    return tokenizer(text, return_tensors="pt", add_special_tokens=False)["input_ids"]


chats = [row["messages"] for row in tiny.rows(options.data)]
for step in range(2):
    with torch.no_grad():
        for messages in chats[step * 2 : step * 2 + 2]:
            ids = asked(messages)
            model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                do_sample=True,
                max_new_tokens=4,
                pad_token_id=tokenizer.pad_token_id,
            )
    total, count = 0.0, 0
    for messages in chats[step * 2 : step * 2 + 2]:
        row = row_of(messages)
        ids, labels = torch.tensor([row["input_ids"]]), torch.tensor([row["labels"]])[:, 1:]
        logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[:, :-1]
        total = total + F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")
        count += int((labels != tiny.IGNORE).sum())
    (total / count).backward()
    optimiser.step()
    optimiser.zero_grad()
    print("step", step, "loss", float(total / count))
