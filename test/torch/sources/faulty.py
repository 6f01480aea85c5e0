"""python faulty.py ADAPTER FAULT...: the ready-made adapter of verl, OpenRLHF or LLaMA-Factory, with these faults put into the trainer's code while
it is loaded. A fault is a piece of its text and what stands there instead; the files are left alone."""

import importlib.abc
import importlib.machinery
import runpy
import sys

# Fault: (module, the trainer's text, what stands there instead).
FAULTS = {
    "verl": {
        "stop token unmasked": (
            "verl.utils.torch_functional",
            "return (eos_mask.cumsum(dim=1) - eos_mask).eq(0).to(dtype)",
            "return eos_mask.cumsum(dim=1).eq(0).to(dtype)",
        ),
        "log-probabilities off by one": (
            "verl.workers.utils.padding",
            "F.pad(values[seq_offset - resp_len - 1 : seq_offset - 1], (",
            "F.pad(values[seq_offset - resp_len : seq_offset], (",
        ),
        "temperature dropped": (
            "verl.workers.engine.fsdp.transformer_impl",
            "return logits / temperature.clamp(min=1e-8).to(logits.dtype)",
            "return logits",
        ),
        "positions missing": (
            "verl.workers.engine.fsdp.transformer_impl",
            '"position_ids": position_ids_rmpad,',
            '"position_ids": None,',
        ),
        "advantages over the batch": (
            "verl.trainer.ppo.core_algos",
            "                id2mean[idx] = torch.mean(scores_tensor)\n                id2std[idx] = torch.std(scores_tensor)",
            "                id2mean[idx] = torch.mean(scores)\n                id2std[idx] = torch.std(scores)",
        ),
        "ddof": (
            "verl.trainer.ppo.core_algos",
            "id2std[idx] = torch.std(scores_tensor)",
            "id2std[idx] = torch.std(scores_tensor, correction=0)",
        ),
        "pads in the KL mean": (
            "verl.workers.utils.losses",
            "loss_mat=kld, loss_mask=response_mask,",
            "loss_mat=kld, loss_mask=torch.ones_like(response_mask),",
        ),
        "per-rank normalisation": (
            "verl.workers.utils.losses",
            'config.global_batch_info["batch_num_tokens"] = data["batch_num_tokens"]',
            'config.global_batch_info["batch_num_tokens"] = data["response_mask"].sum() * data["dp_size"]',
        ),
        "ratio detached": (
            "verl.trainer.ppo.core_algos",
            "ratio = torch.exp(negative_approx_kl)\n",
            "ratio = torch.exp(negative_approx_kl).detach()\n",
        ),
        "critic held back": (
            "verl.trainer.ppo.core_algos",
            "clipped_vf_losses = torch.max(vf_losses1, vf_losses2)",
            "clipped_vf_losses = torch.min(vf_losses1, vf_losses2)",
        ),
        "label shift": (
            "verl.workers.utils.losses",
            "torch.roll(loss_mask_flatten, shifts=-1, dims=0)",
            "torch.roll(loss_mask_flatten, shifts=0, dims=0)",
        ),
        "double first token": (
            "verl.utils.tokenizer.continuous_token",
            "        return normalize_token_ids(tokenized)\n",
            "        return normalize_token_ids(tokenized)[:1] + normalize_token_ids(tokenized)\n",
        ),
        # Rendered as text, and tokenised by a tokenizer that puts a BOS of its own before it.
        "double BOS": (
            "verl.utils.tokenizer.continuous_token",
            "        return normalize_token_ids(tokenized)\n",
            '        return self.tokenizer(self.tokenizer.decode(normalize_token_ids(tokenized)))["input_ids"]\n',
        ),
        "answer masked off by one": (
            "verl.utils.dataset.multiturn_sft_dataset",
            "loss_mask[: len(self.generation_prompt)] = 0",
            "loss_mask[: len(self.generation_prompt) - 1] = 0",
        ),
        "groups without a signal kept": (
            "verl.trainer.ppo.v1.replay_buffer",
            "len(values) > 1 and float(np.std(values)) == 0.0",
            "len(values) > 1 and float(np.mean(values)) == 0.0",
        ),
        "the whole budget again": (
            "verl.workers.rollout.llm_server",
            "sampling_params[limit_key] = original_max_tokens - len(final_output.token_ids)",
            "sampling_params[limit_key] = original_max_tokens",
        ),
        "the part forgotten": (
            "verl.workers.rollout.llm_server",
            "prompt_ids=prompt_ids + final_output.token_ids,",
            "prompt_ids=prompt_ids,",
        ),
    },
    "llama-factory": {
        "prompt not masked": (
            "llamafactory.data.processor.supervised",
            "source_label = [IGNORE_INDEX] * source_len",
            "source_label = source_ids",
        ),
        "label shift": (
            "llamafactory.data.processor.supervised",
            "target_label = target_ids",
            "target_label = target_ids[1:] + [IGNORE_INDEX]",
        ),
        "examples see each other": (
            "llamafactory.data.collator",
            "attention_mask_4d = (indices == indices_t) & non_padding_mask & tril_mask",
            "attention_mask_4d = non_padding_mask & tril_mask",
        ),
    },
    "openrlhf": {
        "groups out of bounds kept": (
            "openrlhf.trainer.ppo_utils.samples_generator",
            "if not (min_r < avg_reward < max_r):",
            "if min_r < avg_reward < max_r:",
        ),
        "mask off by one": (
            "openrlhf.datasets.sft_dataset",
            "loss_mask[0, start_idx - 1 : end_idx] = 1",
            "loss_mask[0, start_idx : end_idx + 1] = 1",
        ),
        "stop token unmasked": (
            "openrlhf.datasets.sft_dataset",
            "loss_mask[0, start_idx - 1 : end_idx] = 1",
            "loss_mask[0, start_idx - 1 : end_idx - 1] = 1",
        ),
        # The tokenizer puts a BOS of its own before the one of the rendered row.
        "double BOS": (
            "openrlhf.datasets.sft_dataset",
            'add_special_tokens=False,\n        )\n        input_ids = input_token["input_ids"]',
            'add_special_tokens=True,\n        )\n        input_ids = input_token["input_ids"]',
        ),
        "temperature dropped": (
            "openrlhf.models.actor",
            'output["logits"].div_(self.temperature)',
            "pass",
        ),
        "positions missing": (
            "openrlhf.models.actor",
            "position_ids = attention_mask.long().cumsum(-1) - 1",
            "position_ids = attention_mask.long() * 0",
        ),
        "label shift": (
            "openrlhf.models.actor",
            "rolled_sequences = torch.roll(sequences, shifts=-1, dims=1)",
            "rolled_sequences = sequences",
        ),
        "advantages over the batch": (
            "openrlhf.trainer.ppo_utils.experience_maker",
            "rewards = (rewards - rewards.mean(-1, keepdim=True)) / (rewards.std(-1, keepdim=True) + 1e-9)",
            "rewards = (rewards - rewards.mean()) / (rewards.std() + 1e-9)",
        ),
        "ddof": (
            "openrlhf.trainer.ppo_utils.experience_maker",
            "(rewards.std(-1, keepdim=True) + 1e-9)",
            "(rewards.std(-1, keepdim=True, correction=0) + 1e-9)",
        ),
        "reward at the last column": (
            "openrlhf.models.utils",
            "eos_indices = action_mask.size(1) - 1 - action_mask.long().fliplr().argmax(dim=1, keepdim=True)",
            "eos_indices = torch.full_like(action_mask[:, :1].long(), action_mask.size(1) - 1)",
        ),
        "pads in the KL mean": (
            "openrlhf.trainer.ray.ppo_actor",
            "kl_loss = aggregate_loss(kl, experience.action_mask, **loss_batch_info)",
            "kl_loss = aggregate_loss(kl, torch.ones_like(experience.action_mask), **loss_batch_info)",
        ),
        "per-rank normalisation": (
            "openrlhf.utils.loss_utils",
            "        dist.all_reduce(num_tokens, op=dist.ReduceOp.SUM, group=dp_group)\n",
            "        num_tokens = num_tokens * dp_size\n",
        ),
        "ratio detached": (
            "openrlhf.models.loss",
            "ratio = policy_log_ratio.exp()\n",
            "ratio = policy_log_ratio.exp().detach()\n",
        ),
        "critic held back": (
            "openrlhf.models.loss",
            "loss = torch.max(surr1, surr2)",
            "loss = torch.min(surr1, surr2)",
        ),
        "prompt in the preference": (
            "openrlhf.trainer.dpo_trainer",
            "mask[:source_len] = False",
            "mask[: source_len - 1] = False",
        ),
    },
}


class Loader(importlib.machinery.SourceFileLoader):
    """A module with its text changed; compiled anew, whatever lies in __pycache__."""

    changes = ()

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        text = self.get_data(path).decode()
        for old, new in self.changes:
            if old not in text:
                raise SystemExit("faulty.py: %s has no %r" % (path, old))
            text = text.replace(old, new)
        return compile(text, path, "exec", dont_inherit=True)


class Finder(importlib.abc.MetaPathFinder):
    def __init__(self, changes):
        self.changes = changes

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in self.changes:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        spec.loader = Loader(fullname, spec.origin)
        spec.loader.changes = self.changes[fullname]
        return spec


def main(trainer, *names):
    changes = {}
    for name in names:
        module, old, new = FAULTS[trainer][name]
        changes.setdefault(module, []).append((old, new))
    sys.meta_path.insert(0, Finder(changes))
    runpy.run_module("lossproof.adapters.%s" % trainer.replace("-", "_"), run_name="__main__")


main(*sys.argv[1:])
