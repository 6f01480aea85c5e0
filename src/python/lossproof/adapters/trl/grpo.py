"""`python -m lossproof.adapters.trl.grpo`: TRL's own GRPOTrainer, unmodified, on a tiny random model on the CPU.

Every answer is computed by a method of the trainer. What stands in a model's place (its sampler, its logits, its
log-probabilities) comes from the request; nothing that TRL computes is computed here. Settings:
LOSSPROOF_TOKENIZER=folder, LOSSPROOF_MODEL=qwen2|gpt2, LOSSPROOF_STOPS='<|im_end|> <|endoftext|>' (the stop
tokens; TRL gets them as generation_kwargs; two by default), LOSSPROOF_LOSS (TRL's loss_type: dapo, bnpo, grpo, dr_grpo, luspo or
cispo; its version's default), LOSSPROOF_RATIO=token|sequence (importance_sampling_level)."""

import os

import lossproof
from lossproof import Reject
from lossproof.adapters.common._tiny import (
    VERSION,
    declared_tokens,
    load_tokenizer,
    several_stops,
    stop,
    tokenizer_folder,
)
from lossproof.adapters.common._grpo import build, scored_rows
from lossproof.adapters.common._models import descend, kept
from lossproof.adapters.common._policy import Policy
from lossproof.adapters.common._policy_ops import register
from lossproof.adapters.common._settings import within
from lossproof.adapters.common._trl import has_field, logged, serve
from lossproof.testing import replaced

import torch
from trl import GRPOConfig

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
# The first versions had one loss, which got its name afterwards, and no ratio but that of a token.
LOSS = os.environ.get("LOSSPROOF_LOSS") or getattr(GRPOConfig, "loss_type", "grpo")
RATIO = os.environ.get("LOSSPROOF_RATIO") or "token"
if LOSS not in AGGREGATIONS or RATIO not in ("token", "sequence"):
    stop("LOSSPROOF_LOSS is one of %s, LOSSPROOF_RATIO token or sequence" % ", ".join(AGGREGATIONS))
if not has_field(GRPOConfig, "loss_type") and LOSS != "grpo":
    stop("LOSSPROOF_LOSS=%s: GRPOTrainer of TRL %s has the loss of grpo only" % (LOSS, VERSION))
if not has_field(GRPOConfig, "importance_sampling_level") and RATIO != "token":
    stop("LOSSPROOF_RATIO=%s: GRPOTrainer of TRL %s has a ratio per token only" % (RATIO, VERSION))
# For CISPO TRL takes the bound itself, not its distance from 1, and has no lower one; its documentation says 5.
HELD_AT = {"epsilon_high": 5.0} if LOSS == "cispo" else {}

FOLDER = tokenizer_folder()
tokenizer = load_tokenizer(FOLDER)
STOPS = several_stops(tokenizer) if has_field(GRPOConfig, "generation_kwargs") else None


def made(model=None):
    trainer = build(
        tokenizer,
        model=model,
        beta=BETA,
        stops=STOPS,
        entropy_coef=ENTROPY_COEF,
        loss_type=LOSS,
        importance_sampling_level=RATIO,
        **HELD_AT,
    )
    return Policy(trainer, tokenizer)


policy = made()
policy_of = kept(made)  # of a checkpoint
trainer = policy.trainer
tokens = declared_tokens(tokenizer, STOPS)

# Without a clip there is no ratio to an older policy either: exp(logp - logp.detach()), which is 1.
CLIPS = hasattr(trainer, "epsilon_low")
AVERAGED = AGGREGATIONS[LOSS]
TOKEN_KL = RATIO == "token" and AVERAGED[0] in ("token-mean", "seq-mean-token-mean")


# Completions have a token in the mask until they could be masked out whole; a mean over none of a row's was 0 / 0 then.
ROWS_WITHOUT = has_field(GRPOConfig, "mask_truncated_completions")


def masked_are_counted():
    """Whether num_items_in_batch is that of what was generated, tokens of completions among them that are masked out whole."""
    if not ROWS_WITHOUT or not policy.hands_over:
        return False
    with replaced(trainer, mask_truncated_completions=True):
        return bool(policy.rollout([[0, 1]], completion_ids=[[2]]).get("num_items_in_batch", 0) > 0)


MASKED_ARE_COUNTED = masked_are_counted()


def items(mask):
    """num_items_in_batch of these completions; of a batch without a trained token as this version counts it."""
    return mask.sum() if mask.any() or not MASKED_ARE_COUNTED else torch.tensor(mask.numel())


def batch_of(logps, old, ref, advantage, mask, count):
    """A batch as TRL hands it to its loss."""
    if not ROWS_WITHOUT and (mask.sum(1) == 0).any():
        raise Reject("no row is without a token in GRPOTrainer of TRL %s" % VERSION)
    own = {"old_per_token_logps": old, "ref_per_token_logps": ref, "num_items_in_batch": count}
    return {**scored_rows(mask, advantage), **own}


def descended(leaf, old, ref, advantage, mask, micro_batches, entropy=None):
    """What the optimiser gets of one step over these micro-batches."""
    parts = [part for part in micro_batches if part]
    scores = [(leaf[part], None if entropy is None else entropy[part]) for part in parts]
    batches = [batch_of(leaf[part], old[part], ref[part], advantage[part], mask[part], items(mask)) for part in parts]
    logged(trainer).clear()
    with policy.scored_as(*scores):
        return policy.step(batches)


def valued(logps, old, ref, advantage, mask):
    """The loss of all rows at once."""
    logged(trainer).clear()
    with torch.no_grad(), policy.scored_as((logps, None)):
        return policy.loss(batch_of(logps, old, ref, advantage, mask, mask.sum()))


def kl(logprobs, old_logprobs, ref_logprobs, completion_mask):
    """mean_kl is TRL's metric; kl is what each token adds to the loss when no row has an advantage and no other token
    counts."""
    tracks = [torch.tensor(track) for track in (logprobs, old_logprobs, ref_logprobs)]
    mask = torch.tensor(completion_mask, dtype=torch.float32)
    answer = {}
    if TOKEN_KL:
        answer["kl"] = alone(tracks, mask)
    valued(*tracks, torch.zeros(len(logprobs)), mask)
    answer["mean_kl"] = logged(trainer)["kl"][-1]
    return answer


def alone(tracks, mask):
    """(B, C): the loss over the coefficient of each token, as the only one of a completion."""
    found = torch.zeros_like(mask)
    for row, column in mask.nonzero().tolist():
        only = (track[row : row + 1, column : column + 1] for track in tracks)
        found[row, column] = valued(*only, torch.zeros(1), torch.ones(1, 1))
    return found / BETA


# With one ratio per row, the KL that TRL logs is multiplied by it, which is no estimate of a token's.
if RATIO == "token":
    lossproof.op(kl)

lacks, notes = register(
    policy, tokens, policy_of, (lambda logps, ref, mask: alone((logps, logps, ref), mask)) if TOKEN_KL else None
)


@lossproof.op(route=["rl"])
def train_step(model_path, prompt_ids, completion_ids, learning_rate, saved_path, advantages=None):
    """The loss without KL and entropy, on a batch with these advantages; the step itself is plain descent."""
    owner = policy_of(model_path)
    off = {name: 0.0 for name in ("beta", "entropy_coef") if hasattr(owner.trainer, name)}
    once = {"steps_per_generation": 1} if hasattr(owner.trainer.args, "steps_per_generation") else {}
    with replaced(owner.trainer, **off), replaced(owner.trainer.args, **once):
        batch = owner.rollout(prompt_ids, completion_ids=completion_ids)
        batch["advantages"] = torch.tensor(advantages)
        batch["num_items_in_batch"] = batch["completion_mask"].sum()
        loss = owner.loss(batch)
    descend(owner.trainer.model, loss, learning_rate, saved_path)
    return {"loss": loss.item()}


# Settings of the protocol and what TRL calls them; where CISPO's bound is held, see above.
KNOBS = {"kl_coef": "beta", "clip_low": "epsilon_low", "clip_high": "epsilon_high"}
VALUES = {"kl_coef": [BETA, 0.5], "clip_low": [0.2, 0.5], "clip_high": [0.2, 1.0]}
if LOSS == "cispo" or not CLIPS:
    VALUES = {"kl_coef": VALUES["kl_coef"]}
BONUS = hasattr(trainer, "entropy_coef")


@lossproof.op(micro_batches=True, knobs=VALUES, **({"entropy": True} if BONUS else {}))
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
    held = {KNOBS[name]: value for name, value in within(settings, VALUES).items()}
    given = (old_logprobs, ref_logprobs, advantages, completion_mask)
    old, ref, advantage, mask = (torch.tensor(values) for values in given)
    bonus = None if entropy is None else torch.tensor(entropy)
    leaf = torch.tensor(logprobs).requires_grad_(True)
    with replaced(trainer, **held):
        losses = descended(leaf, old, ref, advantage, mask, micro_batches, bonus)
    return {"loss": losses.total.item(), "loss_weights": losses.gradient(leaf)}


def scaling():
    """scale_rewards of all versions: it was not there, then true or false, then a name."""
    named = getattr(trainer, "scale_rewards", "group")
    return {True: "group", False: "none"}.get(named, named)


SEMANTICS = {
    "stop_token_in_mask": True,
    "stop_token_in_completion": True,
    "kl_estimator": "k3",
    "kl_clamp": None,
    "kl_ratio_correction": getattr(trainer.args, "use_bias_correction_kl", False),
    "kl_placement": "loss",
    "kl_coef": trainer.beta,
    "advantage_ddof": 1,
    "advantage_epsilon": 1e-4,
    "advantage_scaling": scaling(),
    "loss_aggregation": AVERAGED[0],
    "loss_normalization": AVERAGED[1],
    "temperature_in_scoring": hasattr(trainer, "temperature"),
}
if CLIPS:
    SEMANTICS.update(
        ratio_level=RATIO,
        policy_objective="cispo" if LOSS == "cispo" else "clip",
        dual_clip=getattr(trainer.args, "delta", None),
        clip_low=1.0 if LOSS == "cispo" else trainer.epsilon_low,
        clip_high=trainer.epsilon_high - 1 if LOSS == "cispo" else trainer.epsilon_high,
    )
else:
    # -A, whatever the log-probability is, with the gradient of -A logp: no formula of the protocol has that value.
    SEMANTICS.update(ratio_level="none", own_formulas=["loss"], loss_is_descended=False)
if BONUS:
    SEMANTICS["entropy_coef"] = trainer.entropy_coef
if AVERAGED[0] == "token-sum-norm":
    SEMANTICS["loss_norm"] = trainer.max_completion_length

if __name__ == "__main__":
    serve(
        "trl-grpo",
        trainer.args,
        lacks=lacks,
        notes=notes,
        layout={"alignment": "token", "span": "completion"},
        semantics=SEMANTICS,
        tokens=tokens,
        tokenizer=FOLDER,
    )
