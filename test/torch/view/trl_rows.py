"""The rows that SFTTrainer itself makes of configuration files, as JSON: python trl_rows.py FILE..., in the folder of the run."""


from _told import tell
from lossproof.adapters.common._library import quietly

with quietly():
    import torch
    from accelerate.commands.launch import launch_command_parser
    from datasets import load_dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig
    from trl import SFTTrainer, get_dataset
    from trl.cli.accelerate_config import resolve_accelerate_config_argument
    from trl.scripts.sft import make_parser


def rows(file):
    """As trl/scripts/sft.py, with a small model in place of the one that is named: only its tokenizer makes rows."""
    script, training, model, mixture, remaining = make_parser().parse_args_and_config(["--config", file], return_remaining_strings=True)
    # As trl/cli/commands/training.py: what no dataclass has goes to accelerate.
    launch_command_parser().parse_args([*resolve_accelerate_config_argument(remaining), "sft.py"])
    training.bf16 = False
    tokenizer = AutoTokenizer.from_pretrained(model.model_name_or_path)
    if mixture.datasets:
        dataset = get_dataset(mixture)
    else:
        dataset = load_dataset(script.dataset_name, name=script.dataset_config)
    torch.manual_seed(1)
    size = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    tiny = AutoModelForCausalLM.from_config(LlamaConfig(vocab_size=len(tokenizer), **size))
    trainer = SFTTrainer(model=tiny, args=training, train_dataset=dataset[script.dataset_train_split], processing_class=tokenizer)
    return [{"input_ids": row["input_ids"], "labels": row["labels"]} for row in trainer.train_dataset]


tell(rows)
