"""The rows that LLaMA-Factory itself makes of configuration files, as JSON: python factory_rows.py FILE..., in the folder of the run."""

import os
from copy import deepcopy

os.environ["DISABLE_VERSION_CHECK"] = "1"
os.environ["LLAMAFACTORY_VERBOSITY"] = "ERROR"

from _told import tell  # noqa: E402
from lossproof.adapters.common._library import quietly  # noqa: E402
from lossproof.testing import stub  # noqa: E402

with stub(["peft", "torchaudio", "omegaconf", "matplotlib", "einops", "av"]), quietly():
    import yaml
    from llamafactory.data import get_dataset
    from llamafactory.data.template import TEMPLATES, get_template_and_fix_tokenizer
    from llamafactory.hparams import DataArguments, FinetuningArguments, GeneratingArguments, ModelArguments, TrainingArguments
    from transformers import AutoTokenizer, HfArgumentParser

PRISTINE = deepcopy(TEMPLATES)


def rows(file):
    """As get_train_args and run_sft in llamafactory/train/sft/workflow.py."""
    # A configuration changes the template that it names: each is as in a process of its own.
    TEMPLATES.update(deepcopy(PRISTINE))
    with open(file) as opened:
        given = yaml.safe_load(opened)
    parser = HfArgumentParser([ModelArguments, DataArguments, TrainingArguments, FinetuningArguments, GeneratingArguments])
    model, data, training, finetuning, _ = parser.parse_dict(given)
    data.packing = bool(data.packing)
    tokenizer = AutoTokenizer.from_pretrained(model.model_name_or_path)
    template = get_template_and_fix_tokenizer(tokenizer, data)
    made = get_dataset(template, model, data, training, stage=finetuning.stage, tokenizer=tokenizer)["train_dataset"]
    return [{"input_ids": row["input_ids"], "labels": row["labels"]} for row in made]


tell(rows)
