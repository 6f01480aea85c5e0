"""What PriorZero's files call of LightZero, DI-engine, Open-Reasoner-Zero and their like, where it does not matter to what is asked:
batches become tensors as they are, the world model has a loss of its own, trainers count how often they are called."""

from types import SimpleNamespace

from lossproof.adapters.common._checkout import Quiet

import numpy
import torch


class WorldModel(torch.nn.Module):
    """Keeps the batch of each call; its loss depends on no token."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(()))
        self.tokenizer, self.batches = None, []

    @property
    def world_model(self):
        return self

    def compute_loss(self, batch, *_):
        self.batches.append(batch)
        return SimpleNamespace(loss_total=self.weight * torch.ones(len(batch["actions"])), intermediate_losses={})

    def update(self, _):
        """As a target model."""


class Trainer:
    """RayPPOTrainer: `episodes` has one entry for each that it was asked to train."""

    episodes = []

    def __init__(self, **_):
        pass

    async def fit_episode(self):
        Trainer.episodes.append(self)


class Dataset:
    def __init__(self, *_, **__):
        pass


class Experiment:
    def create_inference_engine(self):
        return []

    def get_colocate_pg(self):
        return None


def tensors(arrays, device):
    return [torch.as_tensor(numpy.asarray(array), device=device).float() for array in arrays]


def flat(observations, _):
    """(B, S, O) as a model for vectors gets it: (B, S x O)."""
    return numpy.asarray(observations).reshape(len(observations), -1)


def answer():
    """Sets the above in the stubs; to be called before a file that imports them is loaded."""
    import ding.utils
    import loguru
    import lzero.entry.utils
    import lzero.mcts.utils
    import lzero.policy
    import lzero.policy.unizero
    import omegaconf.listconfig
    import orz.exps.examples.ppo.ppo_base_exp
    import orz.ppo.utils
    import ray

    ding.utils.POLICY_REGISTRY = SimpleNamespace(register=lambda *_, **__: lambda registered: registered)
    lzero.policy.to_torch_float_tensor = tensors
    lzero.policy.scalar_transform = lambda values: values
    lzero.policy.phi_transform = lambda _, values: values
    lzero.policy.unizero.UniZeroPolicy.config = {}
    lzero.policy.unizero.UniZeroPolicy._init_learn = lambda self: None
    lzero.mcts.utils.prepare_observation = flat
    lzero.entry.utils.calculate_update_per_collect = lambda *_, **__: 1
    loguru.logger = Quiet()
    ray.is_initialized = lambda: True
    omegaconf.listconfig.ListConfig = list
    orz.ppo.RayPPOTrainer, orz.ppo.PromptDataset = Trainer, Dataset
    orz.ppo.utils.get_strategy = lambda _: Quiet()
    orz.exps.examples.ppo.ppo_base_exp.BasePPOExp = Experiment
