"""`python -m lossproof.adapters.llama_factory`: LLaMA-Factory's own code, unmodified, on the CPU.

Rows come from its converter, processors and collators, losses from its trainers of supervised fine-tuning, DPO and reward models.
Settings: LOSSPROOF_TOKENIZER=folder, LOSSPROOF_TEMPLATE (`template`; else it is read off the tokenizer's own), LOSSPROOF_DATA
(assistant: every answer is trained; last-assistant: mask_history; all: train_on_prompt), LOSSPROOF_OBJECTIVE (`pref_loss`: sigmoid,
hinge, ipo, simpo or orpo), LOSSPROOF_LOSS (ce, dft or asft)."""

from lossproof.adapters.llama_factory._parts import factory
from lossproof.adapters.llama_factory import pairs, rewards, rows, supervised, text  # noqa: F401, their ops
from lossproof.adapters.llama_factory._model import FOLDER, tokens
from lossproof.adapters.llama_factory._settings import SEMANTICS

if __name__ == "__main__":
    factory.serve(
        "llama-factory",
        layout={"alignment": "token", "span": "row"},
        semantics=SEMANTICS,
        tokens=tokens,
        tokenizer=FOLDER,
    )
