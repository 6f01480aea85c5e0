"""Two training steps of a random model of 0.1 billion parameters with 150,000 tokens; prints its times and peak memory.

Started by trace.ts, with and without the tracer in its environment. `kept`: the model computes the loss and keeps its
logits; `chunked`: the loss takes hidden states and the head's weight, in checkpointed chunks, as TRL's SFT does by default.
"""

import json
import resource
import sys
import time

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from transformers import LlamaConfig, LlamaForCausalLM

VOCAB, WIDTH, LAYERS, CHUNK = 150_000, 512, 8, 256
# Rows of this length, or one shorter row.
ROW = 4096


def chunk_loss(h, weight, labels):
    logits = (h @ weight.t()).float()
    return F.nll_loss(F.log_softmax(logits, -1), labels, ignore_index=-100, reduction="sum")


def chunked(model, ids):
    h = model.model(input_ids=ids).last_hidden_state[:, :-1].reshape(-1, WIDTH)
    labels = ids[:, 1:].reshape(-1)
    total = 0.0
    for begin in range(0, labels.numel(), CHUNK):
        part = slice(begin, begin + CHUNK)
        total = total + checkpoint(chunk_loss, h[part], model.lm_head.weight, labels[part], use_reentrant=False)
    return total / labels.numel()


def kept(model, ids):
    return model(input_ids=ids, labels=ids).loss


def main(loss, tokens):
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=WIDTH,
        intermediate_size=1408,
        num_hidden_layers=LAYERS,
        num_attention_heads=8,
        max_position_embeddings=ROW,
        tie_word_embeddings=True,
    )
    model = LlamaForCausalLM(config).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    rows = max(1, tokens // ROW)
    seconds, processor = [], []
    for _ in range(2):
        ids = torch.randint(0, VOCAB, (rows, min(tokens, ROW)))
        began, cpu = time.perf_counter(), time.process_time()
        (kept if loss == "kept" else chunked)(model, ids).backward()
        optimizer.step()
        optimizer.zero_grad()
        seconds.append(time.perf_counter() - began)
        processor.append(time.process_time() - cpu)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    parameters = sum(p.numel() for p in model.parameters())
    print(json.dumps({"seconds": seconds, "processor": processor, "peak": peak, "parameters": parameters}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
