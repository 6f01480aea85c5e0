"""The rows that ms-swift itself makes of configuration files, as JSON: python swift_rows.py FILE..., in the folder of the run."""

import contextlib
import logging
import tempfile
from types import SimpleNamespace

from _told import tell
from lossproof.adapters.common._library import quietly
from lossproof.testing import stub

STUBS = ["modelscope", "addict", "peft", "json_repair", "einops", "oss2", "attrdict", "dacite", "binpacking", "zstandard", "gradio", "fastapi", "uvicorn", "aiohttp", "openai", "deepspeed", "rouge", "jieba", "nltk"]
CACHE = tempfile.mkdtemp()

with stub(STUBS), quietly():
    import modelscope.hub.utils.utils
    import modelscope.utils.logger

    # Asked for while swift is imported.
    modelscope.utils.logger.get_logger = lambda *_, **__: LOGGER
    modelscope.hub.utils.utils.get_cache_dir = lambda *_, **__: CACHE
    LOGGER = logging.getLogger("modelscope")
    LOGGER.addHandler(logging.NullHandler())

    import datasets
    import yaml
    from swift.arguments.sft_args import SftArguments
    from swift.cli.main import parse_yaml_args
    from swift.dataset import AutoPreprocessor
    from swift.loss_scale import get_loss_scale
    from swift.template import TEMPLATE_MAPPING, MaxLengthError
    from swift.utils.utils import _patch_get_type_hints
    from transformers import AutoTokenizer, HfArgumentParser


def arguments(file):
    """As parse_args and SwiftPipeline, without what looks at the model."""
    argv = [file]
    parse_yaml_args(argv)
    with _patch_get_type_hints():
        parser = HfArgumentParser([SftArguments])
    made, remaining = parser.parse_known_args(argv)
    if remaining and not made.ignore_args_error:
        raise ValueError(f"remaining_argv: {remaining}")
    if made.truncation_strategy == "split":
        raise ValueError("split is for pre-training")
    return made


def rows(file):
    args = arguments(file)
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    tokenizer.model_info = SimpleNamespace(config=None, task_type="causal_lm", max_model_len=None, model_dir=args.model)
    tokenizer.model_meta = SimpleNamespace(is_multimodal=False)
    meta = TEMPLATE_MAPPING[args.template]
    template = meta.template_cls(
        tokenizer,
        meta,
        default_system=args.system,
        max_length=args.max_length,
        # As TemplateArguments.get_template_kwargs.
        truncation_strategy={"delete": "raise", None: "raise"}.get(args.truncation_strategy, args.truncation_strategy),
        loss_scale=args.loss_scale,
    )
    get_loss_scale(args.loss_scale)
    template.set_mode("train")
    made = []
    for name in args.dataset:
        loaded = datasets.load_dataset("json", data_files=name)["train"]
        for row in AutoPreprocessor()(loaded, load_from_cache_file=False, strict=False, enable_auto_mapping=True):
            # What EncodePreprocessor takes out of the data set.
            with contextlib.suppress(MaxLengthError, AssertionError):
                encoded = template.encode({key: value for key, value in row.items() if value is not None})
                made.append({"input_ids": encoded["input_ids"], "labels": encoded["labels"]})
    return made


with quietly():
    datasets.disable_progress_bars()
tell(rows)
