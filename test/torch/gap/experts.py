"""A tiny mixture of experts (Mixtral, or Qwen2-MoE) in FOLDER/model, and its rollouts in FOLDER/rollouts.jsonl: the engine samples in bfloat16 token by
token, the trainer scores in float32, so that routers choose other experts now and then. `--shared`: the trainer is in bfloat16, too."""

import argparse
import json

import torch
import transformers

PROMPTS, GROUP, LENGTH = 15, 4, 40
VOCABULARY = 128

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--kind", default="mixtral", choices=["mixtral", "qwen"])
parser.add_argument("--seed", type=int, default=3)
parser.add_argument("--scale", type=float, default=0.25)
parser.add_argument("--shared", action="store_true")
options = parser.parse_args()

torch.manual_seed(options.seed)
torch.set_num_threads(1)
shared = dict(
    vocab_size=VOCABULARY,
    hidden_size=64,
    intermediate_size=64,
    num_hidden_layers=4,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=128,
    num_experts_per_tok=2,
)
if options.kind == "mixtral":
    model = transformers.MixtralForCausalLM(transformers.MixtralConfig(num_local_experts=8, **shared))
else:
    more = dict(num_experts=16, moe_intermediate_size=32, shared_expert_intermediate_size=64)
    model = transformers.Qwen2MoeForCausalLM(transformers.Qwen2MoeConfig(**more, **shared))
with torch.no_grad():
    for weight in model.parameters():
        if weight.dim() > 1:
            weight.normal_(0, options.scale)
low = model.to(torch.bfloat16).eval()
low.save_pretrained(options.folder + "/model")
kind = torch.bfloat16 if options.shared else torch.float32
trainer = type(model).from_pretrained(options.folder + "/model", dtype=kind).eval()


@torch.inference_mode()
def sampled(prompts):
    ids, past, chosen, logprobs = prompts, None, [], []
    for _ in range(LENGTH):
        out = low(input_ids=ids, past_key_values=past, use_cache=True)
        past = out.past_key_values
        own = out.logits[:, -1].float().log_softmax(-1)
        ids = torch.multinomial(own.exp(), 1)
        chosen.append(ids)
        logprobs.append(own.gather(-1, ids))
    return torch.cat(chosen, 1), torch.cat(logprobs, 1)


with open(options.folder + "/rollouts.jsonl", "w", encoding="utf-8") as file, torch.inference_mode():
    for prompt in range(PROMPTS):
        ids = torch.randint(0, VOCABULARY, (1, 3 + prompt)).repeat(GROUP, 1)
        completions, engine = sampled(ids)
        logits = trainer(input_ids=torch.cat([ids, completions], 1)).logits[:, ids.shape[1] - 1 : -1]
        scores = logits.float().log_softmax(-1).gather(-1, completions[..., None])[..., 0]
        for row in range(GROUP):
            fields = {
                "prompt_ids": ids[row],
                "completion_ids": completions[row],
                "rollout_log_probs": engine[row],
                "old_log_probs": scores[row],
            }
            file.write(json.dumps({key: value.tolist() for key, value in fields.items()}) + "\n")
