from types import SimpleNamespace

import lossproof
from lossproof.testing import Codec, Table, slice_of, stub

stub(["vllm", "flash_attn"])
import trainer

ARGS, CODEC = trainer.Args(), Codec(size=32)


def cut(begin, end, inputs, outputs):
    return slice_of(trainer, "Trainer.train", begin, end, inputs, outputs)


mask_of = cut("columns = torch.arange(sequences", "mask = (in_answer", "sequences prompt_width tokenizer".split(), "mask")
advantages_of = cut("grouped = rewards", "advantages = advantages.reshape", ["rewards", "args"], ["advantages"])
logps_of = cut("if args.packed", "logps =", "self args sequences attention_mask".split(), "logps")
terms_of = cut("ratio =", "loss =", "logps old_logps ref_logps advantages mask args".split(), ["loss", "kl"])


@lossproof.op(layout={"alignment": "token", "span": "row"})
def mask(sequences, prompt_width):
    return {"completion_mask": mask_of(sequences, prompt_width, CODEC)}


@lossproof.op(group_size=ARGS.group_size)
def advantages(rewards):
    return advantages_of(rewards, ARGS)


@lossproof.op(temperature=True)
def logprobs(input_ids, attention_mask, logits, temperature):
    args = SimpleNamespace(temperature=temperature, packed=False)
    return {"logprobs": logps_of(SimpleNamespace(model=Table(logits)), args, input_ids, attention_mask)}


@lossproof.op
def kl(logprobs, ref_logprobs, completion_mask):
    zeros = logprobs.new_zeros(len(logprobs))
    return {"kl": terms_of(logprobs, logprobs, ref_logprobs, zeros, completion_mask, ARGS)["kl"]}


@lossproof.op
def loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask):
    fixed = (old_logprobs, ref_logprobs, advantages, completion_mask, ARGS)
    value, weights = lossproof.gradient(lambda leaf: terms_of(leaf, *fixed)["loss"], logprobs)
    return {"loss": value, "loss_weights": weights}


lossproof.serve(
    name="fused",
    arrays="torch",
    layout={"alignment": "predictor", "span": "row"},
    tokens=CODEC.tokens,
    semantics={
        "advantage_baseline": "group-mean",
        "kl_estimator": "k3",
        "kl_coef": ARGS.beta,
        "clip_low": ARGS.clip_low,
        "clip_high": ARGS.clip_high,
        "ratio_level": "token",
        "loss_aggregation": "token-mean",
    },
)
