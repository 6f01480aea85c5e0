"""Tiny Hugging Face models under the tracer's hooks; a JSON line a case, read by forward.test.ts."""

import sys
import types

import torch
from peft_like import LoraLinear, PeftModel
from torch import nn
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    LlamaForSequenceClassification,
    Qwen2Config,
    Qwen2ForCausalLM,
)
from watching import SESSION, B, T, V, batch, case, compare, loss_of, plain, run

SMALL = dict(vocab_size=V, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2)


def llama(tied=False, **more):
    return LlamaForCausalLM(LlamaConfig(**{**SMALL, "num_key_value_heads": 2, "tie_word_embeddings": tied, **more}))


def qwen2():
    return Qwen2ForCausalLM(Qwen2Config(**SMALL, num_key_value_heads=1, tie_word_embeddings=True))


def gpt2():
    return GPT2LMHeadModel(GPT2Config(vocab_size=V, n_embd=16, n_layer=2, n_head=2, n_positions=32))


def gemma2():
    return Gemma2ForCausalLM(Gemma2Config(**SMALL, num_key_value_heads=1, head_dim=8, final_logit_softcapping=0.5))


@case
def llama_untied():
    return plain(llama())


@case
def llama_tied():
    return plain(llama(tied=True))


@case
def qwen2_by_name():
    return plain(qwen2(), lambda m, i: m(input_ids=i, attention_mask=torch.ones_like(i)).logits)


@case
def gpt2_by_place():
    return plain(gpt2())


@case
def gemma2_with_softcap():
    return plain(gemma2())


@case
def gemma2_hidden_with_softcap():
    model = gemma2()
    ids, weights = batch()
    h = model.model(input_ids=ids).last_hidden_state
    z = h @ model.lm_head.weight.t()
    loss_of(0.5 * torch.tanh(z / 0.5)[:, :-1], ids[:, 1:], weights).backward()
    return compare(SESSION.of("trained")[0], weights, ids[:, 1:])


@case
def temperature():
    return plain(llama(), temperature=0.7)


@case
def temperature_in_place():
    def call(model, ids):
        logits = model(ids).logits
        logits.div_(0.7)
        return logits

    return plain(llama(), call)


@case
def temperature_in_place_on_a_view():
    model = llama()
    ids, weights = batch()
    logits = model(ids).logits[:, :-1]
    logits.div_(0.7)
    loss_of(logits, ids[:, 1:], weights).backward()
    return compare(SESSION.of("trained")[0], weights, ids[:, 1:])


@case
def logits_to_keep():
    model = llama()
    ids, weights = batch()
    weights = weights[:, -4:]
    logits = model(ids, logits_to_keep=5).logits[:, :-1]
    loss_of(logits, ids[:, -4:], weights).backward()
    return compare(SESSION.of("trained")[0], weights, ids[:, -4:], T - 5)


@case
def labels_in_the_model():
    model = llama()
    ids, _ = batch()
    labels = ids.clone()
    labels[:, :3] = -100
    model(input_ids=ids, labels=labels).loss.backward()
    weights = (labels[:, 1:] != -100).float()
    out = compare(SESSION.of("trained")[0], weights / weights.sum(), ids[:, 1:])
    out["labels"] = bool((SESSION.of("forward")[0]["labels"] == labels).all())
    return out


@case
def all_labels_ignored():
    model = llama()
    ids, _ = batch()
    loss = model(input_ids=ids, labels=torch.full_like(ids, -100)).loss
    loss.backward()
    record = SESSION.of("trained")[0]
    return {"n": len(record["rows"]), "not_finite": record["not_finite"]}


@case
def nothing_but_zeros():
    model = llama()
    ids, weights = batch()
    loss_of(model(ids).logits[:, :-1], ids[:, 1:], weights * 0).backward()
    record = SESSION.of("trained")[0]
    return {"n": len(record["rows"]), "not_finite": record["not_finite"]}


@case
def same_token_and_next_but_one():
    out = {}
    for name, targets in (("same", lambda i: i), ("skip", lambda i: i.roll(-2, 1)), ("any", lambda i: (i * 7 + 3) % V)):
        for route in ("logits", "hidden"):
            SESSION.records.clear()
            model = llama()
            ids, weights = batch()
            weights[:, -1] = 0
            if route == "logits":
                logits = model(ids).logits
            else:
                logits = model.model(ids).last_hidden_state @ model.lm_head.weight.t()
            loss_of(logits[:, :-1], targets(ids)[:, :-1], weights).backward()
            out[name + " " + route] = compare(SESSION.of("trained")[0], weights, targets(ids)[:, :-1])
    return out


@case
def hidden_temperature():
    """Twice: the second time, the temperature of the first is tried before any other, be it right or wrong."""
    out = {}
    model = llama()
    with torch.no_grad():
        model.lm_head.weight.mul_(20)
    for name, value in (("first", 0.7), ("again", 0.7), ("another", 1.3), ("none", 1.0)):
        SESSION.records.clear()
        ids, weights = batch()
        h = model.model(ids).last_hidden_state
        loss_of((h @ model.lm_head.weight.t())[:, :-1], ids[:, 1:], weights, value).backward()
        out[name] = dict(compare(SESSION.of("trained")[0], weights, ids[:, 1:]), wanted=value)
    return out


def checkpointed(reentrant):
    model = llama()
    model.gradient_checkpointing_enable({"use_reentrant": reentrant})
    model.enable_input_require_grads()
    model.train()
    out = plain(model)
    out["forwards"] = len(SESSION.of("forward"))
    return out


@case
def checkpointing_reentrant():
    return checkpointed(True)


@case
def checkpointing_not_reentrant():
    return checkpointed(False)


@case
def autocast_bfloat16():
    def call(model, ids):
        with torch.autocast("cpu", torch.bfloat16):
            return model(ids).logits

    return plain(llama(), call)


@case
def model_in_bfloat16():
    return plain(llama().to(torch.bfloat16))


@case
def chunked_loss_of_trl():
    from trl.trainer.sft_trainer import _patch_chunked_ce_lm_head

    model = llama()
    _patch_chunked_ce_lm_head(model, 4)
    ids, _ = batch()
    labels = ids.clone()
    labels[:, :3] = -100
    model(input_ids=ids, labels=labels).loss.backward()
    weights = (labels[:, 1:] != -100).float()
    return compare(SESSION.of("trained")[0], weights / weights.sum(), ids[:, 1:])


@case
def body_called_by_itself():
    model = llama()
    ids, weights = batch()
    h = model.model(input_ids=ids).last_hidden_state
    loss_of((h @ model.lm_head.weight.t())[:, :-1], ids[:, 1:], weights).backward()
    return dict(compare(SESSION.of("trained")[0], weights, ids[:, 1:]), models=SESSION.of("model")[-1]["class"])


@case
def two_backward_passes():
    model = llama()
    ids, weights = batch()
    logits = model(ids).logits[:, :-1]
    loss_of(logits, ids[:, 1:], weights).backward(retain_graph=True)
    loss_of(logits, ids[:, 1:], 2 * weights).backward()
    first, second = SESSION.of("trained")
    return {"first": compare(first, weights, ids[:, 1:]), "second": compare(second, 2 * weights, ids[:, 1:])}


@case
def no_gradients():
    model = llama()
    ids, _ = batch()
    with torch.no_grad():
        logits = model(ids).logits
    record = SESSION.of("forward")[0]
    logp = torch.log_softmax(logits, -1)[:, :-1].gather(-1, ids[:, 1:, None])[..., 0]
    return {
        "grad": record["grad"],
        "off": float((record["logprobs"][:, 1:] - logp).abs().max()),
        "first": bool(record["logprobs"][:, 0].isnan().all()),
    }


@case
def value_head_beside():
    model = llama()
    ids, weights = batch()
    value = nn.Linear(16, 1)
    result = model(ids, output_hidden_states=True)
    loss = loss_of(result.logits[:, :-1], ids[:, 1:], weights) + value(result.hidden_states[-1]).pow(2).mean()
    loss.backward()
    return compare(SESSION.of("trained")[0], weights, ids[:, 1:])


@case
def entropy_bonus():
    model = llama()
    with torch.no_grad():
        model.lm_head.weight.mul_(20)
    ids, weights = batch()
    logits = model(ids).logits[:, :-1]
    logp = torch.log_softmax(logits, -1)
    (loss_of(logits, ids[:, 1:], weights) + 0.5 * (logp.exp() * logp).sum(-1).mean()).backward()
    record = SESSION.of("trained")[0]
    return {"residual": float(record["residuals"].nanmedian()), "terms": record.get("terms")}


@case
def no_language_model():
    model = LlamaForSequenceClassification(LlamaConfig(**SMALL, num_labels=2, pad_token_id=0))
    ids, _ = batch()
    model(input_ids=ids).logits.sum().backward()
    return {"kinds": sorted({record["kind"] for record in SESSION.records})}


@case
def embeddings_given():
    model = llama()
    ids, _ = batch()
    model(inputs_embeds=model.get_input_embeddings()(ids)).logits.sum().backward()
    return {"blind": [record["what"] for record in SESSION.of("blind")], "forwards": len(SESSION.of("forward"))}


@case
def the_script_fails():
    model = llama()
    try:
        model(torch.full((1, 2), V + 5))
    except IndexError:
        pass
    return plain(model)


@case
def adversarial_deepcopy_and_save():
    import copy
    import io

    model = llama()
    model(torch.zeros(1, 3, dtype=torch.int64)).logits.sum().backward()
    twin = copy.deepcopy(model)
    torch.save(twin, io.BytesIO())
    SESSION.records.clear()
    return plain(twin)


@case
def random_numbers_are_the_scripts():
    values = []
    for seen in (True, False):
        torch.manual_seed(3)
        model = llama()
        SESSION.ended = None if seen else "steps"
        ids, weights = batch()
        loss_of(model(ids).logits[:, :-1], ids[:, 1:], weights).backward()
        values.append((torch.rand(()).item(), float(model.lm_head.weight.grad.sum())))
    SESSION.ended = None
    return {"same": values[0] == values[1]}


def compiled(backend, method, inside):
    torch._dynamo.reset()
    model = llama()
    if method:
        model.compile(backend=backend)
        run = model
    else:
        run = torch.compile(model, backend=backend)
    ids, weights = batch()
    if inside:
        run(input_ids=ids, labels=ids).loss.backward()
        weights = torch.full((B, T - 1), 1 / (B * (T - 1)))
    else:
        loss_of(run(ids).logits[:, :-1], ids[:, 1:], weights).backward()
    trained = SESSION.of("trained")
    out = {"blind": [record["what"] for record in SESSION.of("blind")], "forwards": len(SESSION.of("forward"))}
    return dict(out, **(compare(trained[0], weights, ids[:, 1:]) if trained else {}))


@case
def compiled_models():
    out = {}
    for method in (False, True):
        for inside in (False, True):
            SESSION.records.clear()
            SESSION._told.clear()
            name = "%s%s" % ("by method" if method else "by function", ", loss inside" if inside else "")
            out[name] = compiled("eager", method, inside)
    return out


def hidden_in(dtype, **more):
    model = llama(**more).to(dtype)
    with torch.no_grad():
        model.lm_head.weight.mul_(5)
    ids, weights = batch()
    h = model.model(input_ids=ids).last_hidden_state
    loss_of((h @ model.lm_head.weight.t())[:, :-1], ids[:, 1:], weights).backward()
    return compare(SESSION.of("trained")[0], weights, ids[:, 1:])


@case
def hidden_states_in_other_dtypes():
    out = {}
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        SESSION.records.clear()
        out[str(dtype)] = hidden_in(dtype)
    return out


@case
def hidden_states_in_the_cheap_mode():
    SESSION.mode = "cheap"
    try:
        return hidden_in(torch.float32, hidden_size=192)
    finally:
        SESSION.mode = "auto"


def adapted(head):
    """A model, its layers that carry adapters, and PEFT's wrapper around it."""
    model = llama().requires_grad_(False)
    layers = []
    for layer in model.model.layers:
        layers.append(LoraLinear(layer.self_attn.q_proj))
        layer.self_attn.q_proj = layers[-1]
    if head:
        layers.append(LoraLinear(model.lm_head))
        model.lm_head = layers[-1]
    return PeftModel(model), layers


def with_adapters(head, hidden):
    from lossproof_trace.models import _models

    sys.modules["peft"] = types.ModuleType("peft")
    try:
        peft, layers = adapted(head)
        ids, weights = batch()
        for layer in layers:
            layer._disable_adapters = True
        with torch.no_grad():
            peft(ids)
        for layer in layers:
            layer._disable_adapters = False
        if hidden:
            h = peft.base_model.model.model(input_ids=ids).last_hidden_state
            loss_of((h @ peft.lm_head.base_layer.weight.t())[:, :-1], ids[:, 1:], weights).backward()
        else:
            loss_of(peft(ids).logits[:, :-1], ids[:, 1:], weights).backward()
        trained = SESSION.of("trained")
        out = compare(trained[0], weights, ids[:, 1:]) if trained else {}
        out["off"] = [record["adapters_off"] for record in SESSION.of("forward")]
        out["models"] = [record["class"] for record in SESSION.of("model")]
        out["same"] = _models.index_of(SESSION, peft) == SESSION.of("forward")[-1]["model"]
        return out
    finally:
        del sys.modules["peft"]


@case
def adapters():
    return with_adapters(False, False)


@case
def adapters_on_the_head():
    return with_adapters(True, False)


@case
def adapters_on_the_head_that_is_not_called():
    return with_adapters(True, True)


if __name__ == "__main__":
    run()
