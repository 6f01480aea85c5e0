"""LLaMA-Factory's own command, `sft` of all weights, on a tiny model that it loads from a folder."""

import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "trace" / "scripts"), str(HERE.parents[2] / "src" / "python")]
import tiny  # noqa: E402
import transformers.utils  # noqa: E402, F401  It looks for peft, and must not find a stub.
from lossproof.testing import stub  # noqa: E402

# Imported at the top of its files, and not needed by what is done here.
with stub(["peft", "torchaudio", "omegaconf", "matplotlib", "einops", "av"]):
    os.environ["DISABLE_VERSION_CHECK"] = "1"
    from llamafactory.train.tuner import run_exp

folder = Path(sys.argv[1])
rank = os.environ.get("RANK", "0")
model = folder / f"model-{rank}"
tokenizer = tiny.family("qwen")
tokenizer.chat_template = tiny.GENERATION_TEMPLATE
tokenizer.save_pretrained(model)
tiny.rotary(len(tokenizer)).save_pretrained(model)
rows = [
    {"instruction": f"question {at} " * (1 + at % 3), "input": "", "output": f"answer {at * 7} " * (1 + at % 4)}
    for at in range(48)
]
(model / "chats.json").write_text(json.dumps(rows))
(model / "dataset_info.json").write_text(json.dumps({"chats": {"file_name": "chats.json"}}))
run_exp(
    dict(
        stage="sft",
        do_train=True,
        finetuning_type="full",
        model_name_or_path=str(model),
        dataset="chats",
        dataset_dir=str(model),
        template="qwen",
        cutoff_len=64,
        output_dir=str(folder / "out"),
        overwrite_output_dir=True,
        overwrite_cache=True,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=2,
        learning_rate=1e-3,
        max_steps=6,
        disable_gradient_checkpointing=True,
        flash_attn="sdpa",
        **{name: value for name, value in tiny.PLAIN.items() if name != "seed"},
    )
)
