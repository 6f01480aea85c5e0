"""`python -m lossproof.adapters.openrlhf`: OpenRLHF's own functions, unmodified, on the CPU without Ray, vLLM or DeepSpeed.

Log-probabilities come from Actor, the policy loss from ActorPPOTrainer.training_step behind iter_grad_accum_global_norm, the
critic's from CriticPPOTrainer.training_step, the supervised one from SFTTrainer.fit, the preference loss from DPOTrainer, the reward model's from PairWiseLoss, advantages
from RemoteExperienceMaker, rows from SFTDataset, RewardDataset and SamplesGenerator, which filters groups as well. Settings: LOSSPROOF_TOKENIZER=folder,
LOSSPROOF_DATA (of SFTDataset: multiturn, every answer is trained, or last), LOSSPROOF_ADVANTAGE (estimator: group_norm, rloo,
reinforce_baseline, dr_grpo, reinforce or flash_reinforce), LOSSPROOF_LOSS (loss_agg_mode: token-mean or seq-mean-token-mean),
LOSSPROOF_POLICY (policy_loss_type: ppo or gspo), LOSSPROOF_OBJECTIVE=dpo|ipo."""

from lossproof.adapters.openrlhf._parts import openrlhf
from lossproof.adapters.openrlhf import (  # noqa: F401, their ops
    advantages,
    filtering,
    preferences,
    reinforcement,
    scores,
    steps,
    supervised,
    text,
    trajectories,
)
from lossproof.adapters.openrlhf._model import FOLDER, tokens
from lossproof.adapters.openrlhf._settings import SEMANTICS

if __name__ == "__main__":
    openrlhf.serve(
        "openrlhf",
        layout={"alignment": "predictor", "span": "row"},
        semantics=SEMANTICS,
        tokens=tokens,
        tokenizer=FOLDER,
    )
