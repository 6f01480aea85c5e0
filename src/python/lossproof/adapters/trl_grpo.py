"""`python -m lossproof.adapters.trl_grpo`: TRL's own GRPOTrainer, unmodified, on a tiny random model on the CPU.

Every answer is computed by a method of the trainer. What stands in a model's place (its sampler, its logits, its
log-probabilities) comes from the request; nothing that TRL computes is computed here. Settings:
LOSSPROOF_TOKENIZER=folder, LOSSPROOF_MODEL=qwen2|gpt2, LOSSPROOF_STOPS='<|im_end|> <|endoftext|>' (the stop
tokens, if the sampler has others than the tokenizer's eos; TRL gets them as generation_kwargs), LOSSPROOF_LOSS (TRL's
loss_type: dapo, bnpo, grpo, dr_grpo, luspo or cispo), LOSSPROOF_RATIO=token|sequence (importance_sampling_level)."""

import os

import lossproof
from lossproof import Reject
from lossproof.adapters.common._grpo import build, prompted
from lossproof.adapters.common._models import descend, frozen, kept
from lossproof.adapters.common._standin import rendering, same_ids
from lossproof.adapters.common._tiny import VERSION, declared_tokens, load_tokenizer, named_stops, stop, tokenizer_folder
from lossproof.testing import Table, replaced, spy

import torch

BETA = 0.04  # any value but TRL's default of 0, which switches the KL and the reference model off

ENTROPY_COEF = 0.01  # likewise

# TRL's loss types in the words of the protocol: how tokens are averaged, and over what a micro-batch does it.
AGGREGATIONS = {
    "dapo": ("token-mean", "global"),
    "cispo": ("token-mean", "global"),
    "bnpo": ("token-mean", "local"),
    "grpo": ("seq-mean-token-mean", "local"),
    "luspo": ("seq-mean-token-sum", "local"),
    "dr_grpo": ("token-sum-norm", "local"),
}
LOSS = os.environ.get("LOSSPROOF_LOSS") or "dapo"
RATIO = os.environ.get("LOSSPROOF_RATIO") or "token"
if LOSS not in AGGREGATIONS or RATIO not in ("token", "sequence"):
    stop("LOSSPROOF_LOSS is one of %s, LOSSPROOF_RATIO token or sequence" % ", ".join(AGGREGATIONS))
# For CISPO TRL takes the bound itself, not its distance from 1, and has no lower one; its documentation says 5.
HELD_AT = {"epsilon_high": 5.0} if LOSS == "cispo" else {}

FOLDER = tokenizer_folder()
tokenizer = load_tokenizer(FOLDER)


def made(model=None):
    return build(
        tokenizer,
        model=model,
        beta=BETA,
        stops=named_stops(tokenizer),
        entropy_coef=ENTROPY_COEF,
        loss_type=LOSS,
        importance_sampling_level=RATIO,
        **HELD_AT,
    )


trainer = made()
trainer_of = kept(made)  # of a checkpoint
tokens = declared_tokens(tokenizer)


def rollout_of(rows, trainer=trainer, **stand_ins):
    """TRL's batch for one prompt a row, as one group; `rows` are dataset rows, `stand_ins` attributes of the trainer."""
    trainer._metrics["train"].clear()
    with replaced(trainer, num_generations=len(rows), **stand_ins):
        return trainer._generate_and_score_completions(rows)


def block(batch):
    """TRL's training row: (B, P + C), as _compute_loss concatenates it."""
    return {
        "input_ids": torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1),
        "attention_mask": torch.cat([batch["prompt_mask"], batch["completion_mask"]], dim=1),
        "completion_mask": batch["completion_mask"],
    }


def plain(count):
    """Dataset rows whose prompt text is replaced by ids anyway."""
    return [{"prompt": "x", "reward": 0.0} for _ in range(count)]


def given_prompts(prompt_ids):
    return lambda prompts: (prompt_ids, None, {})


@lossproof.op(route=["rl"], chat_template=True)
def render(route, messages, add_generation_prompt, chat_template=None):
    return {"text": prompted(trainer, route, messages, add_generation_prompt, chat_template)[1]}


@lossproof.op(route=["rl"], chat_template=True)
def tokenize(route, messages, add_generation_prompt, chat_template=None):
    return {"input_ids": prompted(trainer, route, messages, add_generation_prompt, chat_template)[0]}


@lossproof.op(padding_side=["left"])
def extract(padding_side, prompt_ids, sampled_ids, pad_token_id, eos_token_ids):
    same_ids(tokens, pad_token_id, eos_token_ids)
    if padding_side != "left":
        raise Reject("GRPOTrainer pads prompts on the left before it generates")
    with replaced(trainer.model, generate=Table(sampled=sampled_ids).generate):
        completion_ids, _ = trainer._generate_single_turn(prompt_ids, None, {})
    return {"completion_ids": completion_ids}


@lossproof.op(after_stop="any")
def mask(prompt_ids, sequences, prompt_width, pad_token_id, eos_token_ids):
    same_ids(tokens, pad_token_id, eos_token_ids)
    columns = torch.tensor(sequences)[:, prompt_width:]
    with replaced(trainer.model, generate=Table(sampled=columns).generate):
        return block(rollout_of(plain(len(prompt_ids)), _tokenize_prompts=given_prompts(prompt_ids)))


@lossproof.op
def rollout(conversations, sampled_ids):
    model = Table(sampled=sampled_ids, pad_token_id=tokenizer.pad_token_id)
    rows = [{"prompt": conversation, "reward": 0.0} for conversation in conversations]
    with rendering(tokenizer, None), replaced(trainer.model, generate=model.generate):
        batch = rollout_of(rows)
    prompt_ids = [ids[real.bool()].tolist() for ids, real in zip(batch["prompt_ids"], batch["prompt_mask"])]
    return {"prompt_ids": prompt_ids, **block(batch)}


@lossproof.op(temperature=True)
def logprobs(input_ids, attention_mask, logits, prompt_width, temperature):
    ids = torch.tensor(input_ids)
    with replaced(trainer, temperature=temperature):
        logps, _, _ = trainer._get_per_token_logps_and_entropies(
            Table(torch.tensor(logits)), ids, torch.tensor(attention_mask), ids.size(1) - prompt_width
        )
    return {"logprobs": logps}


def given_rollout(prompt_ids, completion_ids, trainer=trainer, **settings):
    """TRL's batch of these prompts and completions, as if the policy had sampled them."""
    return rollout_of(
        plain(len(prompt_ids)),
        trainer,
        _tokenize_prompts=given_prompts(prompt_ids),
        _generate_single_turn=lambda *_: (completion_ids, None),
        **settings,
    )


def scored(trainer, batch, **settings):
    """(logps, entropies) that _compute_loss asks for, on the batch that TRL padded and masked."""
    with torch.no_grad(), replaced(trainer, **settings), spy(trainer, "_get_per_token_logps_and_entropies") as calls:
        trainer._compute_loss(trainer.model, batch)
    return calls[0].result[:2]


def ragged(block, completion_ids):
    """The columns of each row's own tokens."""
    return [row[: len(ids)].tolist() for row, ids in zip(block, completion_ids)]


@lossproof.op
def score(prompt_ids, completion_ids):
    """The policy's log-probabilities inside _compute_loss."""
    return {"logprobs": ragged(scored(trainer, given_rollout(prompt_ids, completion_ids))[0], completion_ids)}


# Whether the KL of a single token can be read off TRL's loss: see kl below.
TOKEN_KL = AGGREGATIONS[LOSS] == ("token-mean", "global") and RATIO == "token"


@lossproof.op(temperature=True, reference=True, **({"kl": "k3"} if TOKEN_KL else {}))
def model_score(model_path, prompt_ids, completion_ids, temperature, reference_path=None):
    """The same of a trainer that was given this checkpoint, at this temperature; the reference's log-probabilities are
    those that TRL computes when it makes the batch, and the KL what its loss makes of the two."""
    owner = trainer_of(model_path)
    reference = owner.ref_model if reference_path is None else frozen(reference_path)
    at = {"temperature": temperature, "ref_model": reference}
    batch = given_rollout(prompt_ids, completion_ids, owner, **at)
    logps, entropies = scored(owner, batch, **at)
    answer = {"logprobs": ragged(logps, completion_ids)}
    if entropies is not None:
        answer["entropy"] = ragged(entropies, completion_ids)
    if reference_path is not None:
        others = batch["ref_per_token_logps"]
        answer["ref_logprobs"] = ragged(others, completion_ids)
        if TOKEN_KL:
            tracks = [track.tolist() for track in (logps, logps, others, batch["completion_mask"])]
            answer["kl"] = ragged(kl(*tracks)["kl"], completion_ids)
    return answer


@lossproof.op(route=["rl"])
def train_step(model_path, prompt_ids, completion_ids, learning_rate, saved_path, advantages=None):
    """_compute_loss without KL and entropy, on a batch with these advantages; the step itself is plain descent."""
    owner = trainer_of(model_path)
    owner.model.zero_grad()
    with replaced(owner, beta=0.0, entropy_coef=0.0), replaced(owner.args, steps_per_generation=1):
        batch = given_rollout(prompt_ids, completion_ids, owner)
        batch["advantages"] = torch.tensor(advantages)
        batch["num_items_in_batch"] = batch["completion_mask"].sum()
        loss = owner._compute_loss(owner.model, batch)
    descend(owner.model, loss, learning_rate, saved_path)
    return {"loss": loss.item()}


@lossproof.op
def advantages(rewards, group_ids):
    # TRL's sampler puts the rows of a group side by side; the answer goes back to the order of the question.
    order = sorted(range(len(rewards)), key=lambda row: group_ids[row])
    sizes = {group_ids.count(group) for group in group_ids}
    if len(sizes) != 1:
        raise Reject("GRPOTrainer has num_generations rows in every group")
    rows = [{"prompt": "x", "reward": rewards[row]} for row in order]
    trainer._metrics["train"].clear()
    with replaced(
        trainer,
        num_generations=sizes.pop(),
        _tokenize_prompts=lambda prompts: ([[tokenizer.eos_token_id]] * len(prompts), None, {}),
        _generate_single_turn=lambda prompts, *_: ([[tokenizer.eos_token_id]] * len(prompts), None),
    ):
        found = trainer._generate_and_score_completions(rows)["advantages"].tolist()
    back = dict(zip(order, found))
    return {"advantages": [back[row] for row in range(len(rewards))]}


@lossproof.op
def entropy(input_ids, attention_mask, logits, prompt_width):
    ids = torch.tensor(input_ids)
    with replaced(trainer, temperature=1.0):
        _, entropies, _ = trainer._get_per_token_logps_and_entropies(
            Table(torch.tensor(logits)),
            ids,
            torch.tensor(attention_mask),
            ids.size(1) - prompt_width,
            compute_entropy=True,
        )
    return {"entropy": entropies}


def objective(leaf, old, ref, advantage, mask, count, micro_batches, entropy=None):
    """Sum of _compute_loss over the micro-batches of one optimiser step of `count` completion tokens."""
    parts = [part for part in micro_batches if part]
    entropy = torch.zeros_like(leaf) if entropy is None else entropy
    total = 0.0
    # One generation an optimiser step, TRL's default: steps_per_generation is gradient_accumulation_steps.
    steps = {"current_gradient_accumulation_steps": len(parts)}
    with replaced(trainer, **steps), replaced(trainer.args, steps_per_generation=len(parts)):
        for part in parts:
            ids = torch.zeros(len(part), leaf.size(1), dtype=torch.long)
            batch = {
                "prompt_ids": ids[:, :1],
                "prompt_mask": torch.ones_like(ids[:, :1]),
                "completion_ids": ids,
                "completion_mask": mask[part],
                "advantages": advantage[part],
                "old_per_token_logps": old[part],
                "ref_per_token_logps": ref[part],
                "num_items_in_batch": count,
            }
            scored = (leaf[part], entropy[part], None)
            with spy(trainer, "_get_per_token_logps_and_entropies", returns=scored):
                total = total + trainer._compute_loss(trainer.model, batch)
    return total


def kl(logprobs, old_logprobs, ref_logprobs, completion_mask):
    """mean_kl is TRL's metric; kl is what each token adds to the loss when no row has an advantage."""
    trainer._metrics["train"].clear()
    tracks = [torch.tensor(track) for track in (logprobs, old_logprobs, ref_logprobs)]
    rows = list(range(len(logprobs)))
    mask = torch.tensor(completion_mask, dtype=torch.float32)
    # A sum over the mask is linear in it, so its slope there is the term of each token over their number.
    flat = torch.zeros(len(rows))
    _, slope = lossproof.gradient(lambda leaf: objective(*tracks, flat, leaf, mask.sum(), [rows]), mask)
    answer = {"mean_kl": trainer._metrics["train"]["kl"][-1]}
    if AGGREGATIONS[LOSS] == ("token-mean", "global"):
        answer["kl"] = slope * mask * mask.sum() / BETA
    return answer


# With one ratio a row, the KL that TRL logs is multiplied by it, which is no estimate of a token's.
if RATIO == "token":
    lossproof.op(kl)

# Settings of the protocol and what TRL calls them; where CISPO's bound is held, see above.
KNOBS = {"kl_coef": "beta", "clip_low": "epsilon_low", "clip_high": "epsilon_high"}
VALUES = {"kl_coef": [BETA, 0.5], "clip_low": [0.2, 0.5], "clip_high": [0.2, 1.0]}
if LOSS == "cispo":
    VALUES = {"kl_coef": VALUES["kl_coef"]}


@lossproof.op(micro_batches=True, entropy=True, knobs=VALUES)
def loss(
    logprobs,
    old_logprobs,
    ref_logprobs,
    advantages,
    completion_mask,
    micro_batches,
    entropy=None,
    settings=None,
):
    unknown = [name for name in settings or {} if name not in VALUES]
    if unknown:
        raise Reject("no setting %s; there are %s" % (unknown[0], ", ".join(VALUES)))
    trainer._metrics["train"].clear()
    given = (old_logprobs, ref_logprobs, advantages, completion_mask)
    old, ref, advantage, mask = (torch.tensor(values) for values in given)
    bonus = None if entropy is None else torch.tensor(entropy)
    with replaced(trainer, **{KNOBS[name]: value for name, value in (settings or {}).items()}):
        value, weights = lossproof.gradient(
            lambda leaf: objective(leaf, old, ref, advantage, mask, mask.sum(), micro_batches, bonus),
            torch.tensor(logprobs),
        )
    return {"loss": value, "loss_weights": weights}


aggregation, normalization = AGGREGATIONS[LOSS]
SEMANTICS = {
    "stop_token_in_mask": True,
    "stop_token_in_completion": True,
    "kl_estimator": "k3",
    "kl_clamp": None,
    "kl_ratio_correction": trainer.args.use_bias_correction_kl,
    "kl_placement": "loss",
    "kl_coef": trainer.beta,
    "advantage_ddof": 1,
    "advantage_epsilon": 1e-4,
    "advantage_scaling": trainer.scale_rewards,
    "loss_aggregation": aggregation,
    "loss_normalization": normalization,
    "ratio_level": RATIO,
    "policy_objective": "cispo" if LOSS == "cispo" else "clip",
    "dual_clip": trainer.args.delta,
    "clip_low": 1.0 if LOSS == "cispo" else trainer.epsilon_low,
    "clip_high": trainer.epsilon_high - 1 if LOSS == "cispo" else trainer.epsilon_high,
    "entropy_coef": trainer.entropy_coef,
    "temperature_in_scoring": True,
}
if aggregation == "token-sum-norm":
    SEMANTICS["loss_norm"] = trainer.max_completion_length

if __name__ == "__main__":
    lossproof.serve(
        name="trl-grpo",
        version=VERSION,
        layout={"alignment": "token", "span": "completion"},
        semantics=SEMANTICS,
        tokens=tokens,
        tokenizer=FOLDER,
        dtype="float32",
    )
