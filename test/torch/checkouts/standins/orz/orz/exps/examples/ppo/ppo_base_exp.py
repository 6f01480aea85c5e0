"""What every experiment has."""

from dataclasses import dataclass
from functools import cached_property

from transformers import AutoTokenizer


@dataclass
class BasePPOExpConfig:
    pretrain: str = "nobody/nothing"
    disable_fast_tokenizer: bool = False
    prompt_max_len: int = 1024
    generate_max_len: int = 1024
    packing_max_len: int = 4096
    n_samples_per_prompt: int = 8
    eps_clip: float = 0.1
    value_clip: float = 0.3
    normalize_reward: bool = False
    reward_clip_range: tuple = (-5, 5)
    value_head_prefix: str = "head_of_values"
    use_kl_loss: bool = True
    use_kl_estimator_k3: bool = False
    use_grpo: bool = False


class BasePPOExp:
    @cached_property
    def tokenizer(self):
        made = AutoTokenizer.from_pretrained(self.cfg.pretrain, use_fast=not self.cfg.disable_fast_tokenizer)
        made.padding_side = made.truncation_side = "left"
        if made.pad_token is None:
            made.pad_token = made.eos_token
        return made
