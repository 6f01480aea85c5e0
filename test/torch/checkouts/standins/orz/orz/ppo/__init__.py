"""PPO on packed rows."""

from .dataset import PromptDataset  # noqa: F401
from .trainer import RayPPOTrainer  # noqa: F401
