"""The tokenizer, its templates and data arguments, and trainers around models."""

import functools
import tempfile

from lossproof import Reject
from lossproof.adapters.common._library import quietly
from lossproof.adapters.common._tiny import declared_tokens, load_tokenizer, stop, tokenizer_folder
from lossproof.adapters.llama_factory._parts import DPOTrainer, RewardTrainer, SFTTrainer, collators, hparams, template_of
from lossproof.adapters.llama_factory._settings import BETA, DATA, LOSS, OBJECTIVE, SIMPO_GAMMA, TARGETS, TEMPLATE

UNLIMITED = 1 << 20
MULTIPLE = 8  # its workflows pad to a multiple of this
FOLDER = tokenizer_folder()
tokenizer = load_tokenizer(FOLDER)
tokenizer.padding_side = "right"  # as its load_tokenizer has it


def arguments(cutoff_len=UNLIMITED, **settings):
    return hparams.DataArguments(template=TEMPLATE, cutoff_len=cutoff_len, **{**TARGETS[DATA], **settings})


@functools.lru_cache(maxsize=256)
def template_for(chat_template):
    """The template that LLaMA-Factory reads off this chat template, which the tokenizer has while it is asked."""
    try:
        return template_of(tokenizer, arguments())
    except ValueError as refusal:
        raise Reject("LLaMA-Factory reads no template off this chat template: %s" % refusal)


try:
    template = template_for(tokenizer.chat_template)
except Reject as refusal:
    stop(str(refusal))
except ValueError as refusal:
    stop("LOSSPROOF_TEMPLATE: %s" % refusal)
tokens = declared_tokens(tokenizer)  # behind it: a template may give the tokenizer another eos and a pad token


def collating(kind, model=None, **settings):
    """As its workflows make it, around the ids of -100."""
    return kind(template=template, model=model, pad_to_multiple_of=MULTIPLE, label_pad_token_id=-100, tokenizer=tokenizer, **settings)


def supervised(model):
    made = tuned(SFTTrainer, "sft", model, use_dft_loss=LOSS == "dft", use_asft_loss=LOSS == "asft")
    return trained(made, collating(collators.SFTDataCollatorWith4DAttentionMask, model, attn_implementation="sdpa"))


def preferring(model, reference):
    settings = {"pref_loss": OBJECTIVE, "pref_beta": BETA, "simpo_gamma": SIMPO_GAMMA}
    made = tuned(DPOTrainer, "dpo", model, {"ref_model": reference}, **settings)
    return trained(made, collating(collators.PairwiseDataCollatorWithPadding, model))


def rewarding(model):
    return trained(tuned(RewardTrainer, "rm", model), collating(collators.PairwiseDataCollatorWithPadding, model))


def tuned(kind, stage, model, more=None, **settings):
    """One of its trainers, with its own arguments' defaults, on the CPU."""
    with tempfile.TemporaryDirectory(prefix="lossproof-") as folder, quietly():
        args = hparams.TrainingArguments(
            output_dir=folder, use_cpu=True, report_to="none", remove_unused_columns=False, gradient_checkpointing=False
        )
        finetuning = hparams.FinetuningArguments(stage=stage, finetuning_type="full", **settings)
        return kind(model=model, args=args, finetuning_args=finetuning, processor=None, tokenizer=tokenizer, **(more or {}))


def trained(trainer, collator):
    """In training mode, as Trainer.train() has it at its first step."""
    trainer.data_collator = collator
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1
    return trainer
