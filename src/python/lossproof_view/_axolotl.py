"""Rows as `axolotl train FILE` makes them: axolotl's own schema, loader, prompt strategies and filters."""

import yaml
from axolotl.utils.chat_templates import get_chat_template_from_config
from axolotl.utils.data.shared import load_dataset_with_config, merge_datasets
from axolotl.utils.data.utils import handle_long_seq_in_dataset
from axolotl.utils.data.wrappers import get_dataset_wrapper
from axolotl.utils.dict import DictDefault
from axolotl.utils.schemas.config import AxolotlInputConfig
from axolotl.utils.trainer import process_datasets_for_packing
from datasets import disable_progress_bars
from transformers import AddedToken, AutoTokenizer

# Where a data set lies, and which part of it is read.
PLACE = ("data_files", "ds_type", "name", "revision", "shards", "shards_idx", "split", "trust_remote_code")


def make(config, given, room):
    """The rows that are given, or those that the configuration names: _load_raw_datasets without the files that it saves."""
    with open(config, encoding="utf-8") as opened:
        values = yaml.safe_load(opened)
    cfg = DictDefault(AxolotlInputConfig(**values).model_dump(exclude_none=True))
    settings = {key: value if isinstance(value, (bool, int, float, str, type(None))) else str(value) for key, value in cfg.items()}
    cfg.dataset_num_proc = 1
    cfg.is_preprocess = True
    cfg.shuffle_merged_datasets = False
    disable_progress_bars()
    tokenizer = tokenizer_of(cfg)

    def loaded(each):
        dataset = load_dataset_with_config(each, False)
        base, _, style = (each.type or "").partition(":")
        return get_dataset_wrapper(each, tokenizer, cfg, base or None, dataset, style or None)[0]

    def rows(parts):
        dataset = handle_long_seq_in_dataset(merge_datasets(parts, cfg), cfg.sequence_len, cfg)
        if cfg.sample_packing and len(dataset) > 0:
            dataset, _ = process_datasets_for_packing(cfg, dataset, None)
        return [{"number": None, "ids": list(row["input_ids"]), "labels": list(row["labels"])} for row in dataset]

    def of(at, path):
        part = {key: value for key, value in cfg.datasets[at].items() if key not in PLACE}
        return rows([loaded(DictDefault({**part, "path": path, "ds_type": "json", "split": "train"}))])

    made = rows([loaded(each) for each in cfg.datasets]) if given is None else given.numbered(of)
    return {"rows": made, "settings": settings, "keys": list(AxolotlInputConfig.model_fields)}


def tokenizer_of(cfg):
    """As load_tokenizer, without what asks for the model."""
    tokenizer = AutoTokenizer.from_pretrained(cfg.tokenizer_config or cfg.base_model, local_files_only=True)
    for key, value in (cfg.special_tokens or {}).items():
        tokenizer.add_special_tokens({key: AddedToken(value, rstrip=False, lstrip=False, normalized=False)})
    if cfg.chat_template:
        tokenizer.chat_template = get_chat_template_from_config(cfg=cfg, tokenizer=tokenizer)
    return tokenizer
