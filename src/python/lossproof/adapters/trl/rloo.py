"""`python -m lossproof.adapters.trl.rloo`: TRL's own RLOOTrainer, unmodified, on a tiny random model on the CPU.

Every answer is computed by a method of the trainer, as in trl_grpo. Here the ratio is one of whole completions, by the
sum of their log-ratios, and the KL (k1) is subtracted from the reward. Settings: LOSSPROOF_TOKENIZER=folder,
LOSSPROOF_MODEL=qwen2|gpt2, LOSSPROOF_STOPS='<|im_end|> <|endoftext|>' (the stop tokens; two by default)."""

import lossproof
from lossproof import Reject
from lossproof.adapters.common._tiny import declared_tokens, load_tokenizer, several_stops, tokenizer_folder
from lossproof.adapters.common._grpo import scored_rows, trainer_of
from lossproof.adapters.common._models import descend, kept
from lossproof.adapters.common._policy import Policy
from lossproof.adapters.common._policy_ops import register
from lossproof.adapters.common._settings import within
from lossproof.adapters.common._trl import logged, needed, serve
from lossproof.testing import replaced

import torch
from trl import RLOOConfig, RLOOTrainer

# Before it was written anew after GRPOTrainer, generation, rewards and loss were one loop inside of train().
needed("trl-rloo", "0.22", hasattr(RLOOTrainer, "_generate_and_score_completions"))

FOLDER = tokenizer_folder()
tokenizer = load_tokenizer(FOLDER)
STOPS = several_stops(tokenizer)


def made(model=None):
    """With TRL's defaults, beta among them, which is not 0 here."""
    return Policy(trainer_of(RLOOTrainer, RLOOConfig, tokenizer, STOPS, model), tokenizer)


policy = made()
policy_of = kept(made)  # of a checkpoint
trainer = policy.trainer
tokens = declared_tokens(tokenizer, STOPS)


@lossproof.op
def kl(logprobs, ref_logprobs, completion_mask):
    """mean_kl is TRL's metric; kl is the same of each token alone, in a completion of its own."""
    mask = torch.tensor(completion_mask)
    if any(row.tolist() != sorted(row.tolist(), reverse=True) for row in mask):
        raise Reject("RLOOTrainer takes the KL of whole completions, which have no gap")
    lengths = mask.sum(1).tolist()
    if 0 in lengths:
        raise Reject("RLOOTrainer has no row without a completion there")
    tracks = [torch.tensor(track) for track in (logprobs, ref_logprobs)]
    found = torch.zeros(mask.shape)
    for row, column in mask.nonzero().tolist():
        found[row, column] = mean_kl([track[row : row + 1, column : column + 1] for track in tracks], [1])
    width = max(lengths)
    return {"kl": found, "mean_kl": mean_kl([track[:, :width] for track in tracks], lengths)}


def mean_kl(tracks, lengths):
    """What the rollout logs, of completions of these lengths whose scores are the tracks."""
    eos = tokenizer.eos_token_id
    with policy.scored_as(*((track, None) for track in tracks)):
        policy.rollout([[eos]] * len(lengths), completion_ids=[[eos] * length for length in lengths])
    return logged(trainer)["kl"][-1]


lacks, notes = register(policy, tokens, policy_of)


@lossproof.op(route=["rl"])
def train_step(model_path, prompt_ids, completion_ids, learning_rate, saved_path, advantages=None):
    """The loss on a batch with these advantages; the step itself is plain descent."""
    owner = policy_of(model_path)
    batch = {**owner.rollout(prompt_ids, completion_ids=completion_ids), "advantages": torch.tensor(advantages)}
    loss = owner.loss(batch)
    descend(owner.trainer.model, loss, learning_rate, saved_path)
    return {"loss": loss.item()}


@lossproof.op(micro_batches=True, knobs={"clip_low": [0.2, 0.5], "clip_high": [0.2, 1.0]})
def loss(logprobs, old_logprobs, advantages, completion_mask, micro_batches, settings=None):
    names = {"clip_low": "epsilon_low", "clip_high": "epsilon_high"}
    held = {names[name]: value for name, value in within(settings, names).items()}
    leaf = torch.tensor(logprobs).requires_grad_(True)
    old, advantage, mask = (torch.tensor(given) for given in (old_logprobs, advantages, completion_mask))
    parts = [part for part in micro_batches if part]
    with policy.scored_as(*((leaf[part], None) for part in parts)):
        with replaced(trainer, **held):
            losses = policy.step([batch_of(old[part], advantage[part], mask[part]) for part in parts])
    return {"loss": losses.total.item(), "loss_weights": losses.gradient(leaf)}


def batch_of(old, advantage, mask):
    """A batch as TRL hands it to its loss, which keeps the scores of completions."""
    return {**scored_rows(mask, advantage), "old_logps": torch.where(mask.bool(), old, torch.zeros_like(old)).sum(1)}


if __name__ == "__main__":
    serve(
        "trl-rloo",
        trainer.args,
        lacks=lacks,
        notes=notes,
        layout={"alignment": "token", "span": "completion"},
        semantics={
            "stop_token_in_mask": True,
            "stop_token_in_completion": True,
            "kl_estimator": "k1",
            "kl_clamp": None,
            "kl_ratio_correction": False,
            "kl_placement": "reward",
            "kl_coef": trainer.beta,
            "advantage_baseline": "leave-one-out",
            "advantage_scaling": "none",
            "temperature_in_scoring": True,
            "loss_normalization": "local",
            # One ratio a completion, of the sum of its log-ratios: the protocol's is of their mean.
            "own_formulas": ["loss"],
        },
        tokens=tokens,
        tokenizer=FOLDER,
    )
