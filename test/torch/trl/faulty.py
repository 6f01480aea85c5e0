"""`python faulty.py FAULT ADAPTER`: a ready-made adapter on a TRL with one fault. The source of one of TRL's functions is
changed at run time, in one line; everything else, the adapter too, is as it is."""

import inspect
import os
import runpy
import sys
import textwrap

import lossproof.adapters.common._tiny  # before transformers: it is offline
import trl.trainer.dpo_trainer
import trl.trainer.grpo_trainer
import trl.trainer.sft_trainer

GRPO = trl.trainer.grpo_trainer.GRPOTrainer
PADDING = trl.trainer.sft_trainer.DataCollatorForLanguageModeling
DPO = trl.trainer.dpo_trainer.DPOTrainer

# Fault: the class, its function, the text that is there once, and what stands in its place.
FAULTS = {
    "mask-off-by-one": (GRPO, "_generate_single_turn", "<= eos_idx.unsqueeze(1)", "<= eos_idx.unsqueeze(1) + 1"),
    "stop-token-unmasked": (GRPO, "_generate_single_turn", "<= eos_idx.unsqueeze(1)", "< eos_idx.unsqueeze(1).clamp(min=1)"),
    "pads-in-the-kl-mean": (
        GRPO,
        "_compute_loss",
        "(x * mask).sum(), mask.sum().float()",
        "x.sum(), torch.tensor(float(x.numel()))",
    ),
    "temperature-dropped": (
        GRPO,
        "_get_per_token_logps_and_entropies",
        "logits = logits / self.temperature",
        "logits = logits / 1.0",
    ),
    "advantages-over-the-batch": (
        GRPO,
        "_generate_and_score_completions",
        "torch.nanmean(rewards.view(-1, num_generations), dim=1)",
        "torch.nanmean(rewards).expand(len(rewards) // num_generations)",
    ),
    "ratio-detached": (
        GRPO,
        "_compute_loss",
        "coef_1 = torch.exp(log_importance_weights)",
        "coef_1 = torch.exp(log_importance_weights).detach() + 0.0 * log_importance_weights",
    ),
    "clip-bounds-swapped": (
        GRPO,
        "_compute_loss",
        "1 - self.epsilon_low, 1 + self.epsilon_high)",
        "1 - self.epsilon_high, 1 + self.epsilon_low)",
    ),
    "deviation-of-the-population": (
        GRPO,
        "_generate_and_score_completions",
        "std_rewards = nanstd(rewards.view(-1, num_generations), dim=1)",
        "std_rewards = rewards.view(-1, num_generations).std(dim=1, correction=0)",
    ),
    "prompts-begin-twice": (
        GRPO,
        "_tokenize_prompts",
        'prompt_ids = tokenized["input_ids"]\n',
        'prompt_ids = [ids[:1] + ids for ids in tokenized["input_ids"]]\n',
    ),
    # Rendered as text, and tokenised by a tokenizer that puts a BOS of its own before it.
    "bos-twice": (
        GRPO,
        "_tokenize_prompts",
        'prompt_ids = tokenized["input_ids"]\n',
        'prompt_ids = [self.processing_class(self.processing_class.decode(ids))["input_ids"] for ids in tokenized["input_ids"]]\n',
    ),
    "label-shift": (
        GRPO,
        "_get_per_token_logps_and_entropies",
        "logits = logits[:, :-1, :]",
        "logits = logits[:, 1:, :]",
    ),
    # Of a packed row, the only one that TRL counts positions for; without packing it leaves them to the model.
    "positions-missing": (
        PADDING,
        "get_position_ids_from_packed_seq_lengths",
        "position_ids[batch_seq_lengths[:-1].cumsum(0)] = -(batch_seq_lengths[:-1] - 1)",
        "position_ids[batch_seq_lengths[:-1].cumsum(0)] = 1",
    ),
    "preference-one-token-late": (
        DPO,
        "_compute_loss",
        "shift_completion_mask = completion_mask[..., 1:]",
        "shift_completion_mask = torch.nn.functional.pad(completion_mask[..., 1:-1], (1, 0))",
    ),
}


def put(fault):
    owner, name, text, instead = FAULTS[fault]
    function = getattr(owner, name)
    source = textwrap.dedent(inspect.getsource(function))
    if source.count(text) != 1:
        raise SystemExit("%s.%s has this text %d times: %s" % (owner.__name__, name, source.count(text), text))
    made = {}
    # super() without arguments knows its class by a cell, which a function outside of it has not.
    source = source.replace(text, instead).replace("super()", "super(%s, self)" % owner.__name__)
    exec(compile(source, os.path.basename(__file__), "exec"), vars(sys.modules[owner.__module__]), made)
    setattr(owner, name, made[name])


if __name__ == "__main__":
    fault, adapter = sys.argv[1:]
    put(fault)
    runpy.run_module("lossproof.adapters.trl.%s" % adapter, run_name="__main__")
