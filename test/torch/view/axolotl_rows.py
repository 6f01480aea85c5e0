"""The rows that axolotl itself makes of configuration files, as JSON: python axolotl_rows.py FILE..., in the folder of the run."""

import sys
import types

from _told import tell
from lossproof.adapters.common._library import quietly
from lossproof.testing import stub

STUBS = ["bitsandbytes", "fire", "peft", "modelscope", "posthog", "s3fs", "dotenv", "flash_attn", "deepspeed", "xformers", "torchao", "triton", "scipy", "numba", "optimum", "liger_kernel", "kernels"]


class Dict(dict):
    """Of addict, which is not installed, what DictDefault makes use of: keys as attributes, and the same below."""

    def __init__(self, *given, **more):
        super().__init__()
        for key, value in dict(*[each for each in given if each is not None], **more).items():
            self[key] = self._hooked(value)

    @classmethod
    def _hooked(cls, value):
        if isinstance(value, dict):
            return cls(value)
        return [cls._hooked(each) for each in value] if isinstance(value, list) else value

    def __getattr__(self, name):
        return self[name]

    def __setattr__(self, name, value):
        self[name] = value

    def to_dict(self):
        return {key: value.to_dict() if isinstance(value, Dict) else value for key, value in self.items()}


sys.modules["addict"] = types.SimpleNamespace(Dict=Dict)
sys.modules["colorama"] = types.SimpleNamespace(Fore=types.SimpleNamespace(CYAN="", RESET=""), Style=None, init=None)

with stub(STUBS), quietly():
    import datasets
    import yaml
    from axolotl.utils.chat_templates import get_chat_template_from_config
    from axolotl.utils.data.shared import load_dataset_with_config, merge_datasets
    from axolotl.utils.data.utils import handle_long_seq_in_dataset
    from axolotl.utils.data.wrappers import get_dataset_wrapper
    from axolotl.utils.dict import DictDefault
    from axolotl.utils.schemas.config import AxolotlInputConfig
    from axolotl.utils.trainer import process_datasets_for_packing
    from transformers import AddedToken, AutoTokenizer


def tokenizer_of(cfg):
    """As load_tokenizer, without what asks for the model."""
    tokenizer = AutoTokenizer.from_pretrained(cfg.tokenizer_config or cfg.base_model)
    for key, value in (cfg.special_tokens or {}).items():
        tokenizer.add_special_tokens({key: AddedToken(value, rstrip=False, lstrip=False, normalized=False)})
    if cfg.chat_template:
        tokenizer.chat_template = get_chat_template_from_config(cfg=cfg, tokenizer=tokenizer)
    return tokenizer


def rows(file):
    """As _load_raw_datasets in axolotl/utils/data/sft.py, without the files that it saves."""
    with open(file) as opened:
        given = yaml.safe_load(opened)
    cfg = DictDefault(AxolotlInputConfig(**given).model_dump(exclude_none=True))
    cfg.dataset_num_proc = 1
    cfg.is_preprocess = True
    cfg.shuffle_merged_datasets = False
    tokenizer = tokenizer_of(cfg)
    made = []
    for each in cfg.datasets:
        loaded = load_dataset_with_config(each, False)
        base, _, style = (each.type or "").partition(":")
        made.append(get_dataset_wrapper(each, tokenizer, cfg, base or None, loaded, style or None)[0])
    dataset = handle_long_seq_in_dataset(merge_datasets(made, cfg), cfg.sequence_len, cfg)
    if cfg.sample_packing:
        dataset, _ = process_datasets_for_packing(cfg, dataset, None)
    return [{"input_ids": row["input_ids"], "labels": row["labels"]} for row in dataset]


with quietly():
    datasets.disable_progress_bars()
tell(rows)
