"""A tiny Llama in bf16 in FOLDER/model, and its rollouts: FOLDER/temperature.jsonl, the engine samples at 0.7 and the trainer scores
at 1; FOLDER/shift.jsonl, the trainer's values stand one token early; FOLDER/noise.jsonl, both right, in bf16, the engine token by token."""

import json
import sys

import torch
import transformers

PROMPTS, GROUP, LENGTH = 15, 4, 40
VOCABULARY = 97

torch.manual_seed(5)
torch.set_num_threads(1)
config = transformers.LlamaConfig(
    vocab_size=VOCABULARY,
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=128,
)
model = transformers.LlamaForCausalLM(config)
with torch.no_grad():
    for weight in model.parameters():
        if weight.dim() > 1:
            weight.normal_(0, 0.3)
model = model.to(torch.bfloat16).eval()
folder = sys.argv[1]
model.save_pretrained(f"{folder}/model")


@torch.inference_mode()
def sampled(prompts, temperature):
    """Token by token, with a cache: completions, and the log-probabilities that they were sampled with."""
    ids, past, chosen, logprobs = prompts, None, [], []
    for _ in range(LENGTH):
        out = model(input_ids=ids, past_key_values=past, use_cache=True)
        past = out.past_key_values
        own = (out.logits[:, -1].float() / temperature).log_softmax(-1)
        ids = torch.multinomial(own.exp(), 1)
        chosen.append(ids)
        logprobs.append(own.gather(-1, ids))
    return torch.cat(chosen, 1), torch.cat(logprobs, 1)


@torch.inference_mode()
def scored(prompts, completions):
    """In one forward pass, as a trainer does."""
    logits = model(input_ids=torch.cat([prompts, completions], 1)).logits[:, prompts.shape[1] - 1 : -1]
    return logits.float().log_softmax(-1).gather(-1, completions[..., None])[..., 0]


def write(name, temperature=1.0, shift=0):
    with open(f"{folder}/{name}.jsonl", "w", encoding="utf-8") as file:
        for prompt in range(PROMPTS):
            ids = torch.randint(0, VOCABULARY, (1, 3 + prompt)).repeat(GROUP, 1)
            completions, engine = sampled(ids, temperature)
            trainer = scored(ids, completions)
            if shift:
                trainer = torch.cat([trainer[:, shift:], trainer[:, :shift]], 1)
            for row in range(GROUP):
                fields = {
                    "prompt_ids": ids[row],
                    "completion_ids": completions[row],
                    "rollout_log_probs": engine[row],
                    "old_log_probs": trainer[row],
                }
                file.write(json.dumps({key: value.tolist() for key, value in fields.items()}) + "\n")


write("temperature", temperature=0.7)
write("shift", shift=1)
write("noise")
