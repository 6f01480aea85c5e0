import grpo
import lossproof

cfg = grpo.Config()
TOKENS = {"vocab_size": 32, "pad_token_id": 0, "eos_token_ids": [2]}  # generation stops at one id


@lossproof.op(layout={"alignment": "token", "span": "row"})
def mask(sequences, attention_mask, prompt_width):
    starts = grpo.completion_starts(attention_mask, prompt_width)
    return {"completion_mask": grpo.completion_mask(sequences, starts, TOKENS["eos_token_ids"][0])}


@lossproof.op
def logprobs(logits, input_ids):
    return {"logprobs": grpo.get_logprobs(logits, input_ids)}


@lossproof.op
def kl(logprobs, ref_logprobs):
    return {"kl": grpo.k3(logprobs, ref_logprobs)}


@lossproof.op(group_size=4)
def advantages(rewards):
    return {"advantages": grpo.group_advantages(rewards, cfg.group_size)}


@lossproof.op
def loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask):
    return {
        "loss": grpo.grpo_loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, cfg)
    }


lossproof.serve(
    name="grpo-by-hand", arrays="torch", layout={"alignment": "predictor", "span": "row"}, tokens=TOKENS
)
