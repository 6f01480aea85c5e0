"""Op schedule: the hybrid pipeline, train_priorzero_orz_complete, run with a learner, a collector and a trainer that only count."""

import asyncio
import os
from types import SimpleNamespace

import lossproof
from lossproof.adapters.common._checkout import Quiet
from lossproof.adapters.priorzero._learn import switched
from lossproof.adapters.priorzero._outside import Trainer
from lossproof.adapters.priorzero._parts import pipeline
from lossproof.testing import Settings, replaced

LOSSES = ["world_model", "llm"]
OPTIONAL = "orz"
LAST = 12  # passes in which an optional trainer has had its turn, whatever the frequency


class Loop:
    """What the pipeline asks of everything around it. `passes`: of each, the losses that were updated."""

    def __init__(self, enabled):
        self.enabled = enabled
        self.passes, self.train_iter, self.taken = [], 0, 0

    @property
    def envstep(self):
        return len(self.passes)

    async def collect(self, **_):
        self.heard()
        self.passes.append([])
        return [SimpleNamespace(raw_obs_segment=["a"], action_segment=["b"], reward_segment=[0.0], mcts_policy_segment=[[1.0]])]

    def train(self, data, envstep=-1, policy_kwargs=None):
        """BaseLearner's: a forward pass of the policy, which trains both models unless it is told which, and one more on its count."""
        told = (policy_kwargs or {}).get("losses", LOSSES)
        self.passes[-1] += [loss for loss in told if loss in self.enabled]
        self.train_iter += 1
        return {}

    def heard(self):
        """What the optional trainer was asked since the last time belongs to the pass that goes on."""
        if self.passes and len(Trainer.episodes) > self.taken:
            self.passes[-1].append("llm")
        self.taken = len(Trainer.episodes)

    def should_eval(self, _):
        return False

    def get_num_of_transitions(self):
        return 1 << 20

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Quiet()


class Log(Quiet):
    """The pipeline goes on where a part of it raises, and says so."""

    def __init__(self):
        self.errors = []

    def error(self, text):
        self.errors.append(text)


def played(mode, iterations, frequencies, enabled, installed):
    """(losses of each pass, whether the optional trainer was asked)."""
    Trainer.episodes.clear()
    loop, log = Loop(enabled), Log()
    given = Settings(
        exp_name="priorzero",
        policy=Settings(
            batch_size=1,
            eval_freq=1,
            learn=Settings(learner=None),
            llm_policy_cfg=Settings(
                pretrain_llm_path="", generate_max_len=1, **switched(["sft", "rft"] if "llm" in enabled else [])
            ),
            collect_mode=None,
        ),
        env=Settings(manager=None, n_evaluator_episode=1, stop_value=1),
    )
    hybrid = SimpleNamespace(
        wm_training_mode=mode,
        wm_train_freq=frequencies["world_model"],
        llm_train_freq=frequencies["llm"],
        use_orz_trainer=installed,
        use_vllm=False,
        vllm_required=False,
    )
    around = {
        "compile_config": lambda cfg, **_: cfg,
        "get_vec_env_setting": lambda _: (None, [], []),
        "create_env_manager": lambda *_: Quiet(),
        "set_pkg_seed": lambda *_, **__: None,
        "get_rank": lambda: 1,  # no files
        "create_policy": lambda *_, **__: Quiet(),
        "BaseLearner": lambda *_, **__: loop,
        "PriorZeroGameBufferOptimized": lambda _: loop,
        "PriorZeroCollector": lambda **_: loop,
        "PriorZeroEvaluator": lambda **_: loop,
        "AutoTokenizer": SimpleNamespace(from_pretrained=lambda *_, **__: Quiet()),
        "ORZ_AVAILABLE": installed,
        "logger": log,
        "os": SimpleNamespace(makedirs=lambda *_, **__: None, path=os.path, environ={}),
    }
    with replaced(pipeline, **around):
        asyncio.run(
            pipeline.train_priorzero_orz_complete(
                given, None, hybrid, max_train_iter=float("inf"), max_env_step=iterations, enable_save=False
            )
        )
    loop.heard()
    if log.errors:
        raise RuntimeError("the pipeline went on after an error: %s" % log.errors[0])
    return loop.passes, bool(Trainer.episodes)


@lossproof.op(losses=LOSSES, modes=["parallel", "sequential", "alternating"], optional_trainers={"llm": OPTIONAL})
def schedule(mode, iterations, frequencies, enabled, optional):
    if "world_model" not in enabled:
        raise lossproof.Reject("PriorZero has no switch for its world model")
    if mode == "alternating":
        frequencies = dict.fromkeys(LOSSES, 1)  # turns have none
    passes, asked = played(mode, max(iterations, LAST), frequencies, enabled, OPTIONAL in optional)
    # A loss has one entry an iteration, whoever updates it.
    updates = [list(dict.fromkeys(each)) for each in passes[:iterations]]
    trainers = {"world_model": "built-in", "llm": OPTIONAL if asked else "built-in"}
    return {"updates": updates, "trainers": [trainers[loss] for loss in enabled]}
