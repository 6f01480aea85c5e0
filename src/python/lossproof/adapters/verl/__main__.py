"""`python -m lossproof.adapters.verl`: verl's own functions, unmodified, on the CPU and without Ray.

Log-probabilities, entropies and losses come from its FSDP engine (forward_step, forward_backward_batch, ppo_loss, value_loss,
sft_loss), advantages from compute_advantage, rollouts from HFRollout, labels from MultiTurnSFTDataset. What stands in a model's
place (its sampler, its logits) comes from the request. Settings: LOSSPROOF_TOKENIZER=folder, LOSSPROOF_ADVANTAGE (verl's
adv_estimator: grpo, grpo_vectorized, rloo, rloo_vectorized, reinforce_plus_plus_baseline, reinforce_plus_plus, gpg or opo),
LOSSPROOF_POLICY (loss_mode: vanilla, gspo, cispo or geo_mean), LOSSPROOF_LOSS (loss_agg_mode: token-mean, seq-mean-token-mean,
seq-mean-token-sum or seq-mean-token-sum-norm)."""

from lossproof.adapters.verl._parts import verl
from lossproof.adapters.verl import advantages, filtering, losses, resuming, rollouts, scores, steps, text  # noqa: F401, their ops
from lossproof.adapters.verl._model import FOLDER, tokens
from lossproof.adapters.verl._settings import SEMANTICS

if __name__ == "__main__":
    verl.serve(
        "verl",
        layout={"alignment": "token", "span": "completion"},
        semantics=SEMANTICS,
        tokens=tokens,
        tokenizer=FOLDER,
    )
