"""A supervised loop with accumulation, clipping and two groups of weight decay, over a model of transformers. `--fault` plants
one mistake of a whole step; `--shape` is another loop that is right."""

import argparse
import copy

import few
import tiny
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--accumulate", type=int, default=2)
parser.add_argument("--fault", default="")
parser.add_argument("--optimiser", default="adamw")
parser.add_argument("--tied", action="store_true")
parser.add_argument("--zero-at-head", action="store_true")
parser.add_argument("--probe", action="store_true", help="a first pass that only claims memory")
options = parser.parse_args()
fault = options.fault

model = tiny.rotary(len(few.tokenizer), tie_word_embeddings=options.tied or fault == "untied", attention_bias=True)
model.train()
if fault == "no-freeze":
    model.model.embed_tokens.requires_grad = False
if fault in ("few-trained", "thawed", "thawed-in-part", "thawed-by-hand", "thawed-unheld", "in-turn"):
    model.requires_grad_(False)
    model.model.norm.requires_grad_(True)
if fault == "untied":
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())


def free(name):
    if fault == "decay":  # A list for another model: the norms of this one are called layernorm.
        return any(word in name for word in ("bias", "LayerNorm.weight"))
    return name.endswith("bias") or "norm" in name


def groups_of(model):
    named = list(model.named_parameters())
    if fault == "swapped-decay":
        return [
            {"params": [p for name, p in named if free(name)], "weight_decay": 0.1},
            {"params": [p for name, p in named if not free(name)], "weight_decay": 0.0},
        ]
    if fault in ("held-in-part", "thawed-unheld"):
        kept = "lm_head" if fault == "held-in-part" else "model.norm"
        named = [(name, p) for name, p in named if kept in name]
    return [
        {"params": [p for name, p in named if not free(name)], "weight_decay": 0.0 if fault == "undecayed" else 0.1},
        {"params": [p for name, p in named if free(name)], "weight_decay": 0.0},
    ]


def make():
    groups = [group for group in groups_of(model) if group["params"]]
    if options.optimiser == "sgd":  # Remembers nothing.
        return torch.optim.SGD(groups, lr=1e-3)
    return torch.optim.AdamW(groups, lr=1e-3)


optimiser = make()
begun = copy.deepcopy(optimiser.state_dict())
if fault == "copied":
    model = copy.deepcopy(model)
if fault == "resized":
    model.resize_token_embeddings(len(few.tokenizer) + 8)
if fault == "cut":
    model.model.layers[0].register_forward_hook(lambda module, args, out: out.detach() if torch.is_tensor(out) else (out[0].detach(), *out[1:]))
if fault == "unmoved":
    kept = {}

    def keep(*_):
        kept["weight"] = model.model.layers[1].mlp.up_proj.weight.detach().clone()

    def put_back(*_):
        model.model.layers[1].mlp.up_proj.weight.data.copy_(kept["weight"])

    optimiser.register_step_pre_hook(keep)
    optimiser.register_step_post_hook(put_back)
parameters = model.parameters()
made_before = copy.deepcopy(model)

data = few.batches(options.data, 1)
if options.probe:
    few.total(model(*data[0][:2]).logits, data[0][2]).backward()
    optimiser.zero_grad()
for step in range(4):
    micro = [data[(step * options.accumulate + each) % len(data)] for each in range(options.accumulate)]
    if options.zero_at_head:
        optimiser.zero_grad()
    if fault == "made-again" or (fault == "phase" and step == 2):
        optimiser = make()
    if fault == "emptied":
        optimiser.state.clear()
    if fault == "reloaded":
        optimiser.load_state_dict(begun)
    if fault == "moments-zeroed":
        for state in optimiser.state.values():
            state["exp_avg"].zero_()
    tokens = few.count(micro)
    for at, (ids, mask, labels) in enumerate(micro):
        if fault == "zero-each":
            optimiser.zero_grad()
        (few.total(model(ids, attention_mask=mask).logits, labels) / tokens).backward()
        if fault == "clip-early" and at == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    if fault == "zero-before":
        optimiser.zero_grad()
    if fault == "clip-used-up":
        torch.nn.utils.clip_grad_norm_(parameters, 0.1)
    elif fault == "clip-part":
        torch.nn.utils.clip_grad_norm_(model.model.parameters(), 0.1)
    elif fault == "clip-gradients":
        torch.nn.utils.clip_grad_norm_([p.grad for p in model.parameters()], 0.1)
    elif fault == "clip-detached":
        torch.nn.utils.clip_grad_norm_([p.detach() for p in model.parameters()], 0.1)
    elif fault == "clip-other":
        torch.nn.utils.clip_grad_norm_(made_before.parameters(), 0.1)
    elif fault == "clip-copies":
        copies = [p.detach().clone() for p in model.parameters()]
        for each, p in zip(copies, model.parameters()):
            each.grad = p.grad.clone()
        torch.nn.utils.clip_grad_norm_(copies, 0.1)
    elif fault == "clip-beside":  # Something else has a gradient of its own; nothing of the model is to be clipped.
        noise = torch.zeros(3, requires_grad=True)
        noise.sum().backward()
        torch.nn.utils.clip_grad_norm_(noise, 0.1)
    elif fault == "clip-measured":  # A call that only measures, and one by the script's own hand.
        torch.nn.utils.clip_grad_norm_([p.detach() for p in model.parameters()], float("inf"))
        for p in model.parameters():
            p.grad.clamp_(-0.1, 0.1)
    elif fault not in ("clip-behind", "clip-early"):
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    optimiser.step()
    if fault == "again":
        optimiser.step()
    if fault == "anew" and step == 0:
        model.model.layers[0].mlp.down_proj.reset_parameters()
    if fault in ("thawed", "thawed-unheld"):  # As a validation does that freezes the model for its own time.
        model.requires_grad_(True)
    if fault == "thawed-in-part":
        model.model.embed_tokens.requires_grad_(True)
    if fault == "thawed-by-hand":
        for p in model.model.layers[0].parameters():
            p.requires_grad = True
    if fault == "in-turn":
        model.requires_grad_(False)
        (model.model.norm if step % 2 else model.model.layers[0]).requires_grad_(True)
    if fault == "clip-behind":
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    if not options.zero_at_head and fault != "no-zero":
        optimiser.zero_grad()
    print("step", step)
