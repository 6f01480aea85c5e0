"""What of verl is driven, and which ops a version without it lacks."""

from lossproof.adapters.common._library import Library, quietly
from lossproof.testing import stub

# Imported at the top of files, and needed by nothing that is asked here; only what is not installed is stubbed.
IDLE = ["ray", "peft", "cachetools", "uvicorn", "fastapi", "starlette", "aiohttp", "zmq", "codetiming", "pylatexenc", "transfer_queue"]
LOSSES = ["loss", "value_loss", "sft_loss"]
ENGINE = ["logprobs", "entropy", "score", "model_score", "train_step", *LOSSES]

with stub(IDLE), quietly():
    verl = Library("verl", "verl", known=("0.9.1",))
    core = verl.part("trainer.ppo.core_algos", ["kl", "gae", "returns", "advantages", "loss", "value_loss"])
    functional = verl.part("utils.torch_functional", ["returns", "whiten", "mask"])
    implementation = verl.part("workers.engine.fsdp.transformer_impl", ENGINE)
    EngineConfig = verl.part("workers.config:FSDPEngineConfig", ENGINE)
    losses = verl.part("workers.utils.losses", [*LOSSES, "train_step"])
    padding = verl.part("workers.utils.padding", ENGINE)
    tensordict = verl.part("utils.tensordict_utils", ENGINE)
    ActorConfig = verl.part("workers.config:ActorConfig", ["loss", "train_step"])
    PolicyLossConfig = verl.part("workers.config:PolicyLossConfig", ["loss", "train_step"])
    RolloutCorrectionConfig = verl.part("trainer.config.algorithm:RolloutCorrectionConfig", ["loss"])
    add_correction = verl.part("trainer.ppo.rollout_corr_helper:compute_rollout_correction_and_add_to_batch", ["loss"])
    debug_metrics = verl.part("utils.debug.metrics:calculate_debug_metrics", ["loss"])
    CriticConfig = verl.part("workers.config:CriticConfig", ["value_loss"])
    value_loss = verl.part("workers.utils.losses:value_loss", ["value_loss"])
    AlgoConfig = verl.part("trainer.config:AlgoConfig", ["advantages", "gae", "returns"])
    trainer = verl.part("trainer.ppo.ray_trainer", ["advantages", "gae", "returns", "token_rewards"])
    DataProto = verl.part("protocol:DataProto", ["advantages", "gae", "returns", "token_rewards", "mask", "extract", "loss"])
    rollouts = verl.part("workers.rollout.hf_rollout", ["mask", "extract"])
    agents = verl.part("experimental.agent_loop.agent_loop", ["token_rewards"])
    sft = verl.part("utils.dataset.multiturn_sft_dataset", ["tokenize", "sft_batch"])
    Collator = verl.part("utils.dataset.dataset_utils:SFTTensorCollator", ["sft_batch"])
    prompts = verl.part("utils.tokenizer.continuous_token:ContinuousTokenBuilder", ["tokenize"])
    buffers = verl.part("trainer.ppo.v1.replay_buffer", ["filter_rollouts"])
    servers = verl.part("workers.rollout.llm_server", ["partial_rollout"])
