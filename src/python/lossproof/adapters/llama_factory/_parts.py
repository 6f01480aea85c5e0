"""What of LLaMA-Factory is driven, and which ops a version without it lacks."""

from lossproof.adapters.common._library import Library, quietly
from lossproof.testing import stub

# Imported at the top of files, and needed by nothing that is asked here; only what is not installed is stubbed.
IDLE = ["peft", "torchaudio", "omegaconf", "matplotlib", "einops", "av"]
TEXT = ["tokenize", "sft_batch", "preference_batch"]
GIVEN = ["truncate", "pack", "preference"]
FORWARD = ["score", "model_score", "sft_loss", "train_step"]
PAIRS = ["preference", "preference_batch", "preference_loss", "preference_step"]

with stub(IDLE), quietly():
    factory = Library("llamafactory", "LLaMA-Factory", known=("0.9.5",))
    DatasetAttr = factory.part("data.parser:DatasetAttr", TEXT)
    converter = factory.part("data.converter:get_dataset_converter", TEXT)
    processor_of = factory.part("data.loader:_get_dataset_processor", [*TEXT, *GIVEN])
    template_of = factory.part("data.template:get_template_and_fix_tokenizer", [*TEXT, *GIVEN, *FORWARD, *PAIRS, "collate"])
    collators = factory.part("data.collator", [*TEXT, *GIVEN, *FORWARD, *PAIRS, "collate", "reward_loss", "reward_model"])
    hparams = factory.part("hparams", [*TEXT, *GIVEN, *FORWARD, *PAIRS, "collate", "reward_loss", "reward_model", "logprobs"])
    utils = factory.part("train.trainer_utils", [*PAIRS, "logprobs"])
    SFTTrainer = factory.part("train.sft.trainer:CustomSeq2SeqTrainer", FORWARD)
    DPOTrainer = factory.part("train.dpo.trainer:CustomDPOTrainer", PAIRS)
    RewardTrainer = factory.part("train.rm.trainer:PairwiseTrainer", ["reward_loss", "reward_model"])
