"""Collators and logits processors of transformers on inputs that fit on a line."""

import torch
from transformers import (
    DataCollatorForLanguageModeling,
    DataCollatorForSeq2Seq,
    LogitsProcessorList,
    RepetitionPenaltyLogitsProcessor,
    SuppressTokensLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from sources.huggingface.chats import tokenizer_of
from sources.entries import entry
from sources.pytorch.inputs import wire


def language_modelling(family, side):
    """Labels are the ids, but -100 wherever the id is the padding's: where that is the stop token's too, the stop token's."""
    tokenizer = tokenizer_of(family)
    tokenizer.padding_side = side
    pad, eos = tokenizer.pad_token_id, tokenizer.eos_token_id
    rows = [[40, 41, 42, eos], [50, eos], [60, 61, 62]]
    batch = DataCollatorForLanguageModeling(tokenizer, mlm=False)([{"input_ids": row} for row in rows])
    lost = int(((batch["labels"] == -100) & (batch["attention_mask"] == 1)).sum())
    same = ", whose padding is its stop token" if pad == eos else ""
    return entry(
        f"language-modelling-{family}-{side}",
        f"transformers, DataCollatorForLanguageModeling with the tokenizer {family}{same}",
        "mlm=False; lost counts real tokens whose label is -100, which is every stop token where it is the padding too",
        "language-modelling",
        {"rows": rows, "pad": pad, "side": side},
        wire({"ids": batch["input_ids"], "attention_mask": batch["attention_mask"], "labels": batch["labels"], "lost": lost}),
    )


def given_labels(side):
    tokenizer = tokenizer_of("qwen")
    tokenizer.padding_side = side
    rows, labels = [[40, 41, 42, 858], [50, 858], [60]], [[-100, -100, 42, 858], [-100, 858], [60]]
    features = [{"input_ids": row, "labels": own} for row, own in zip(rows, labels)]
    batch = DataCollatorForSeq2Seq(tokenizer, label_pad_token_id=-100)(features)
    return entry(
        f"given-labels-{side}",
        "transformers, DataCollatorForSeq2Seq with the tokenizer qwen",
        "labels that came with the rows, padded on the tokenizer's side with -100",
        "padded-labels",
        {"rows": rows, "labels": labels, "pad": tokenizer.pad_token_id, "side": side},
        wire({"ids": batch["input_ids"], "attention_mask": batch["attention_mask"], "labels": batch["labels"]}),
    )


LOGITS = [2.0, 1.0, 0.5, -1.0, -3.0, 0.25, 1.5, -0.5]


def sampling(id, temperature=1.0, top_k=0, top_p=1.0, never=()):
    chain = LogitsProcessorList()
    if never:
        chain.append(SuppressTokensLogitsProcessor(list(never), device="cpu"))
    # generate() leaves out what is neutral, and has the others in this order.
    if temperature != 1.0:
        chain.append(TemperatureLogitsWarper(temperature))
    if top_k:
        chain.append(TopKLogitsWarper(top_k))
    if top_p < 1.0:
        chain.append(TopPLogitsWarper(top_p))
    scores = chain(torch.tensor([[0]]), torch.tensor([LOGITS], dtype=torch.float64))
    input = {"logits": LOGITS, "temperature": temperature, "top_k": top_k, "top_p": top_p, "never": list(never)}
    names = ", ".join(type(each).__name__ for each in chain) or "no processor"
    answer = wire({"logprobs": torch.log_softmax(scores, -1)[0]})
    source = "transformers, logits processors in the order of generate, float64"
    return entry(id, source, f"{names}, then log_softmax", "sampling", input, answer)


def repetition(id, prompt, generated, strength):
    seen = torch.tensor([prompt + generated])
    scores = RepetitionPenaltyLogitsProcessor(strength)(seen, torch.tensor([LOGITS], dtype=torch.float64))
    input = {"logits": LOGITS, "prompt": prompt, "generated": generated, "repetition": strength}
    input.update({"frequency": 0.0, "presence": 0.0})
    how = "the processor on prompt and generation together, as generate calls it"
    source = "transformers, RepetitionPenaltyLogitsProcessor, float64"
    return entry(id, source, how, "penalties", input, wire({"logits": scores[0]}))


def collators():
    families = ["llama3", "qwen", "gemma", "deepseek", "phi"]
    return [language_modelling(family, side) for family in families for side in ("left", "right")] + [
        given_labels(side) for side in ("left", "right")
    ]


def processors():
    return [
        sampling("neutral"),
        sampling("temperature", temperature=0.7),
        sampling("top-k", top_k=3),
        sampling("top-p", top_p=0.8),
        sampling("top-p-of-one", top_p=0.05),
        sampling("temperature-top-k-top-p", temperature=1.5, top_k=5, top_p=0.85),
        sampling("cold-top-p", temperature=0.5, top_p=0.9),
        sampling("suppressed", never=[0, 6]),
        sampling("suppressed-top-k", top_k=2, never=[0]),
        repetition("repetition", [0, 3], [1, 1], 1.2),
        repetition("repetition-below-one", [4], [5], 0.8),
        repetition("repetition-of-the-prompt-alone", [0, 4, 7], [], 1.5),
    ]
