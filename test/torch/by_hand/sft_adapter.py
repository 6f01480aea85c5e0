import os

import sft
import lossproof
from transformers import AutoTokenizer

MODEL = os.environ["MODEL"]
tokenizer = AutoTokenizer.from_pretrained(MODEL)


@lossproof.op(route=["sft"])
def tokenize(messages):
    return sft.encode(tokenizer, messages)


@lossproof.op
def collate(input_ids, labels, pad_token_id):
    rows = [{"input_ids": i, "labels": k} for i, k in zip(input_ids, labels)]
    return sft.collate(rows, pad_token_id)


@lossproof.op
def sft_loss(logits, labels):
    return {"loss": sft.sft_loss(logits, labels)}


lossproof.serve(name="sft-by-hand", arrays="torch", tokenizer=MODEL)
