"""Makes a trainer of the script's own, with an access token among its arguments."""

import sys

from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments


class Mine(Trainer):
    pass


model = LlamaForCausalLM(
    LlamaConfig(vocab_size=50, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2)
)
arguments = TrainingArguments(
    output_dir=sys.argv[1], hub_token="a secret", gradient_accumulation_steps=4, use_cpu=True, report_to=[]
)
Mine(model=model, args=arguments)
