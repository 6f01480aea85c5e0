"""Training steps of a random model; prints the times of each step behind the first ones, and the peak memory.

Started by trace.ts, with and without the tracer in its environment. `kept`: the model computes the loss and keeps its
logits; `chunked`: the loss takes hidden states and the head's weight, in checkpointed chunks, as TRL's SFT does by default.
"""

import argparse
import json
import resource
import sys
import time

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from transformers import LlamaConfig, LlamaForCausalLM

CHUNK = 256
# vocabulary, width, inner width, layers: 0.1 billion parameters, and a model as small as in a first try.
SIZES = {"large": (150_000, 512, 1408, 8), "small": (4_000, 128, 352, 4)}


def chunk_loss(h, weight, labels):
    logits = (h @ weight.t()).float()
    return F.nll_loss(F.log_softmax(logits, -1), labels, ignore_index=-100, reduction="sum")


def chunked(model, ids):
    h = model.model(input_ids=ids).last_hidden_state[:, :-1].flatten(0, 1)
    labels = ids[:, 1:].flatten()
    total = 0.0
    for begin in range(0, labels.numel(), CHUNK):
        part = slice(begin, begin + CHUNK)
        total = total + checkpoint(chunk_loss, h[part], model.lm_head.weight, labels[part], use_reentrant=False)
    return total / labels.numel()


def kept(model, ids):
    return model(input_ids=ids, labels=ids).loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("loss", choices=["kept", "chunked"])
    parser.add_argument("size", choices=list(SIZES))
    for name in ("rows", "columns", "steps", "dropped"):
        parser.add_argument(name, type=int)
    options = parser.parse_args()
    torch.manual_seed(0)
    vocab, width, inner, layers = SIZES[options.size]
    config = LlamaConfig(
        vocab_size=vocab,
        hidden_size=width,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=8,
        max_position_embeddings=options.columns,
        tie_word_embeddings=True,
    )
    model = LlamaForCausalLM(config).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    seconds, processor = [], []
    for _ in range(options.dropped + options.steps):
        ids = torch.randint(0, vocab, (options.rows, options.columns))
        began, cpu = time.perf_counter(), time.process_time()
        (kept if options.loss == "kept" else chunked)(model, ids).backward()
        optimizer.step()
        optimizer.zero_grad()
        seconds.append(time.perf_counter() - began)
        processor.append(time.process_time() - cpu)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    told = {
        "seconds": seconds[options.dropped :],
        "processor": processor[options.dropped :],
        "peak": peak,
        "parameters": sum(p.numel() for p in model.parameters()),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
    }
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
