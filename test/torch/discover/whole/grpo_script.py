"""A GRPO script as people write them: everything at the top."""
import argparse
import os

import torch
import torch.distributed as dist
from transformers import AutoModelForCausalLM, AutoTokenizer
from vllm import LLM, SamplingParams

import wandb

parser = argparse.ArgumentParser()
parser.add_argument("--model", required=True)
parser.add_argument("--beta", type=float, default=0.04)
args = parser.parse_args()

dist.init_process_group("nccl")
rank = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", rank)
torch.cuda.set_device(device)
tokenizer = AutoTokenizer.from_pretrained(args.model)
model = AutoModelForCausalLM.from_pretrained(args.model).to(device)
wandb.init(project="grpo")


def get_per_token_logps(logits, input_ids):
    logits = logits[:, :-1]
    labels = input_ids[:, 1:]
    return torch.gather(logits.log_softmax(-1), 2, labels.unsqueeze(-1)).squeeze(-1)


def grpo_loss(logps, old_logps, ref_logps, advantages, mask, eps=0.2, beta=0.04):
    ratio = torch.exp(logps - old_logps)
    adv = advantages.unsqueeze(1)
    pg = -torch.min(ratio * adv, torch.clamp(ratio, 1 - eps, 1 + eps) * adv)
    d = ref_logps - logps
    kl = torch.exp(d) - d - 1
    return ((pg + beta * kl) * mask).sum() / mask.sum()


def group_advantages(rewards, group_size=8):
    r = rewards.view(-1, group_size)
    return ((r - r.mean(1, keepdim=True)) / (r.std(1, keepdim=True) + 1e-4)).flatten()


optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6)
for step in range(100):
    print(step)
    loss = grpo_loss(*model(step))
    loss.backward()
