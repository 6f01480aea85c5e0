"""The pipeline of the stand-in: both models in turn or together, the language model by a trainer of its own where there is one."""

import os

from ding.config import compile_config
from ding.envs import create_env_manager, get_vec_env_setting
from ding.policy import create_policy
from ding.utils import get_rank, set_pkg_seed
from ding.worker import BaseLearner
from loguru import logger
from lzero.mcts.buffer.game_buffer_priorzero import PriorZeroGameBufferOptimized
from priorzero_collector import PriorZeroCollector
from priorzero_evaluator import PriorZeroEvaluator
from transformers import AutoTokenizer

try:
    from orz.ppo import RayPPOTrainer

    ORZ_AVAILABLE = True
except ImportError:
    ORZ_AVAILABLE = False

LOSSES = ["world_model", "llm"]


def due(hybrid_cfg, enabled, iteration):
    if hybrid_cfg.wm_training_mode == "alternating":
        return [enabled[iteration % len(enabled)]]
    every = {"world_model": hybrid_cfg.wm_train_freq, "llm": hybrid_cfg.llm_train_freq}
    return [loss for loss in enabled if iteration % every[loss] == 0]


async def train_priorzero_orz_complete(
    cfg, create_cfg, hybrid_cfg, seed=0, max_train_iter=10000, max_env_step=int(1e10), enable_save=True
):
    cfg = compile_config(cfg, seed=seed, auto=True, create_cfg=create_cfg)
    env_fn, collector_envs, evaluator_envs = get_vec_env_setting(cfg.env)
    env, evaluator_env = create_env_manager(cfg.env.manager, collector_envs), create_env_manager(cfg.env.manager, evaluator_envs)
    set_pkg_seed(seed, use_cuda=False)
    policy = create_policy(cfg.policy, enable_field=["learn", "collect", "eval"])
    os.makedirs(os.path.join(cfg.exp_name, "log"), exist_ok=True)
    learner = BaseLearner(cfg.policy.learn.learner, policy.learn_mode, None, exp_name=cfg.exp_name)
    buffer = PriorZeroGameBufferOptimized(cfg.policy)
    collector = PriorZeroCollector(env=env, policy=policy.collect_mode, exp_name=cfg.exp_name)
    evaluator = PriorZeroEvaluator(env=evaluator_env, policy=policy.eval_mode, eval_freq=cfg.policy.eval_freq)
    chosen = cfg.policy.llm_policy_cfg
    llm = chosen.enable_rft or chosen.sft_target == "mcts_policy"
    enabled = LOSSES if llm else ["world_model"]
    installed = hybrid_cfg.use_orz_trainer and ORZ_AVAILABLE
    tokenizer = AutoTokenizer.from_pretrained(chosen.pretrain_llm_path) if installed else None
    orz_trainer = None
    iteration = 0
    while learner.train_iter < max_train_iter and collector.envstep < max_env_step:
        if evaluator.should_eval(iteration):
            await evaluator.eval(train_iter=iteration, envstep=collector.envstep)
        buffer.push_game_segments(await collector.collect(train_iter=iteration))
        losses = due(hybrid_cfg, enabled, iteration)
        own = [loss for loss in losses if loss != "llm" or not installed]
        if own:
            learner.train(buffer.sample(1, policy), collector.envstep, policy_kwargs={"losses": own})
        if installed and "llm" in losses:
            if orz_trainer is None:
                orz_trainer = RayPPOTrainer(cfg=cfg, tokenizer=tokenizer)
            await orz_trainer.fit_episode()
        logger.info("iteration %d: %s" % (iteration, ", ".join(losses)))
        iteration += 1
