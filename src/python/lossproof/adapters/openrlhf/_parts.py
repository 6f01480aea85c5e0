"""What of OpenRLHF is driven, and which ops a version without it lacks."""

from lossproof.adapters.common._library import Library, quietly
from lossproof.testing import stub

# Imported at the top of files, and needed by nothing that is asked here; only what is not installed is stubbed.
IDLE = ["ray", "vllm", "deepspeed", "peft", "flash_attn", "ring_flash_attn", "torchdata", "aiohttp", "einops", "pylatexenc"]
SCORES = ["logprobs", "entropy", "score", "model_score"]
LOSSES = ["loss", "value_loss", "sft_loss"]

with stub(IDLE), quietly():
    openrlhf = Library("openrlhf", "OpenRLHF", known=("0.11.2",))
    utils = openrlhf.part("models.utils", ["kl", "token_rewards"])
    Actor = openrlhf.part("models.actor:Actor", [*SCORES, "sft_loss", "preference_step", "train_step"])
    policy = openrlhf.part("trainer.ray.ppo_actor", ["loss", "train_step"])
    DeepspeedStrategy = openrlhf.part("utils.deepspeed:DeepspeedStrategy", ["loss"])
    PolicyLoss = openrlhf.part("models.loss:PolicyLoss", ["loss", "train_step"])
    critic = openrlhf.part("trainer.ray.ppo_critic", ["value_loss"])
    ValueLoss = openrlhf.part("models.loss:ValueLoss", ["value_loss"])
    normalised = openrlhf.part("utils.loss_utils:iter_grad_accum_global_norm", [*LOSSES, "train_step"])
    Experience = openrlhf.part("trainer.ppo_utils.experience:Experience", ["loss", "value_loss", "advantages", "whiten"])
    makers = openrlhf.part("trainer.ppo_utils.experience_maker", ["advantages", "gae", "returns", "whiten"])
    samples = openrlhf.part("trainer.ppo_utils.samples_generator:SamplesGenerator", ["trajectory", "filter_rollouts"])
    SFTDataset = openrlhf.part("datasets.sft_dataset:SFTDataset", ["tokenize", "sft_batch", "collate"])
    RewardDataset = openrlhf.part(
        "datasets.reward_dataset:RewardDataset", ["preference", "preference_batch", "preference_step"]
    )
    sft = openrlhf.part("trainer.sft_trainer", ["sft_loss", "train_step"])
    SFTLoss = openrlhf.part("models.loss:SFTLoss", ["sft_loss", "train_step"])
    dpo = openrlhf.part(
        "trainer.dpo_trainer", ["preference", "preference_batch", "preference_loss", "preference_step"]
    )
    PairWiseLoss = openrlhf.part("models.loss:PairWiseLoss", ["reward_loss"])
    DPOLoss = openrlhf.part("models.loss:DPOLoss", ["preference_loss", "preference_step"])
