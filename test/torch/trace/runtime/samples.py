"""Calls of generate() in the ways that people call it, and a loss between them, with a tokenizer at hand."""

import sys

import torch
from transformers import AutoTokenizer, GenerationConfig, LlamaConfig, LlamaForCausalLM

tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
tokenizer.pad_token = tokenizer.eos_token
config = LlamaConfig(
    vocab_size=len(tokenizer),
    hidden_size=16,
    intermediate_size=16,
    num_hidden_layers=1,
    num_attention_heads=2,
    pad_token_id=0,
    eos_token_id=[2, 3],
    bos_token_id=1,
)
torch.manual_seed(0)
model = LlamaForCausalLM(config)
ids = torch.tensor([[5, 6, 7], [8, 9, 10]])
model.generate(ids, max_new_tokens=4)
model.generate(inputs=ids, do_sample=True, temperature=0.7, num_return_sequences=3, max_length=9, return_dict_in_generate=True)
batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
model.generate(**batch, generation_config=GenerationConfig(max_new_tokens=2, repetition_penalty=1.1, eos_token_id=torch.tensor(5)))
model(**batch, labels=ids).loss.backward()
model.generate(inputs_embeds=torch.zeros(1, 2, 16), max_new_tokens=2)
