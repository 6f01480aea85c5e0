"""The policy of the stand-in: a world model, and a language model that is trained on what the search and the environment say."""

import numpy as np
import torch
from ding.utils import POLICY_REGISTRY
from lzero.policy import to_torch_float_tensor
from lzero.policy.unizero import UniZeroPolicy
from transformers import AutoModelForCausalLM, AutoTokenizer

TOP = 5


def build_llm_prompt(current_obs, history=None, use_cot=True):
    past = ["%s > %s (%s)" % step for step in history or []]
    return "\n".join([*past, current_obs, "Think first." if use_cot else "", "Which actions are best?"])


def format_mcts_policy_to_text(mcts_policy, action_inv_map, top_k=TOP):
    best = [at for at in np.argsort(mcts_policy)[::-1] if mcts_policy[at] > 0]
    return "\n".join("%d. %s" % (rank, action_inv_map[at]) for rank, at in enumerate(best[:top_k], 1))


@POLICY_REGISTRY.register("priorzero")
class PriorZeroPolicy(UniZeroPolicy):
    def _init_learn(self):
        super()._init_learn()
        folder = self.llm_policy_cfg.pretrain_llm_path
        self.llm_tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
        if self.llm_tokenizer.pad_token is None:
            self.llm_tokenizer.pad_token = self.llm_tokenizer.eos_token
        self.llm_policy_model = AutoModelForCausalLM.from_pretrained(folder)
        self._optimizer_llm = torch.optim.AdamW(self.llm_policy_model.parameters(), lr=self.llm_policy_cfg.llm_learning_rate)
        self._lr_scheduler_llm = None
        self.action_inv_map = {at: "action_%d" % at for at in range(self._cfg.model.action_space_size)}

    def _forward_learn(self, data):
        if len(data) == 4:
            current_batch, target_batch, train_iter, game_segments = data
        elif len(data) == 3:
            current_batch, target_batch, game_segments = data
        else:
            raise ValueError("a batch has 3 or 4 parts, not %d" % len(data))
        world = self._world_loss(current_batch, target_batch)
        rows = self._rows(game_segments) if game_segments is not None else []
        sft_loss = self._sft_loss(rows) if self.llm_policy_cfg.sft_target == "mcts_policy" and rows else torch.zeros(())
        rewarded = [row for row in rows if row["reward"] != 0]
        rft_loss = self._rft_loss(rewarded) if self.llm_policy_cfg.enable_rft and rewarded else torch.zeros(())
        weights = self.llm_policy_cfg
        total = world + weights.llm_loss_weight * sft_loss + weights.rft_loss_weight * rft_loss
        self._optimizer_world_model.zero_grad()
        self._optimizer_llm.zero_grad()
        total.backward()
        self._optimizer_world_model.step()
        self._optimizer_llm.step()
        return {"llm_sft_loss": sft_loss.item(), "llm_rft_loss": rft_loss.item(), "total_loss": total.item()}

    def _world_loss(self, current_batch, target_batch):
        observations, actions, bootstraps, mask, indices, weights, made, times = current_batch
        mask, rewards, values, policies, weights = to_torch_float_tensor(
            [mask, *target_batch, weights], self._cfg.device
        )
        batch = {
            "observations": torch.as_tensor(observations)[:, :-1],
            "actions": torch.as_tensor(actions).long(),
            "rewards": rewards[:, :-1],
            "target_value": values[:, :-1],
            "target_policy": policies[:, :-1],
            "mask_padding": mask[:, :-1] == 1.0,
        }
        losses = self._learn_model.world_model.compute_loss(
            batch, self._target_model.world_model.tokenizer, self.value_inverse_scalar_transform_handle
        )
        return (weights * losses.loss_total).mean()

    def _rows(self, segments):
        """A row per step: its prompt, what the search says, what was done, and what came of it."""
        found = []
        for segment in segments:
            for at, (text, visits) in enumerate(zip(segment.raw_obs_segment, segment.mcts_policy_segment)):
                if text is None or visits is None:
                    continue
                instruction = build_llm_prompt(current_obs=text, use_cot=self.llm_policy_cfg.use_cot)
                prompt = self.llm_tokenizer.apply_chat_template(
                    [{"role": "user", "content": instruction}], tokenize=False, add_generation_prompt=True
                )
                target = format_mcts_policy_to_text(visits, self.action_inv_map, top_k=TOP)
                done = self.action_inv_map[segment.action_segment[at]]
                found.append({"prompt": prompt, "target": target, "done": done, "reward": float(segment.reward_segment[at])})
        return found

    def _batch(self, rows, answer):
        """Ids, attention mask and labels: prompts with this answer of each row and a stop, on the right of the padding."""
        texts = [row["prompt"] + row[answer] + self.llm_tokenizer.eos_token for row in rows]
        limit = {"truncation": True, "max_length": self.llm_policy_cfg.prompt_max_len}
        inputs = self.llm_tokenizer(texts, padding=True, add_special_tokens=False, return_tensors="pt", **limit)
        labels = inputs.input_ids.masked_fill(inputs.attention_mask == 0, -100)
        for i, row in enumerate(rows):
            padding = int((inputs.attention_mask[i] == 0).sum())
            prompt_len = len(self.llm_tokenizer.encode(row["prompt"], add_special_tokens=False))
            labels[i, : padding + prompt_len] = -100
        return inputs, labels

    def _sft_loss(self, rows):
        inputs, labels = self._batch(rows, "target")
        positions = (inputs.attention_mask.cumsum(1) - 1).clamp(min=0)
        outputs = self.llm_policy_model(
            input_ids=inputs.input_ids, attention_mask=inputs.attention_mask, position_ids=positions, labels=labels
        )
        return outputs.loss

    def _rft_loss(self, rows):
        inputs, labels = self._batch(rows, "done")
        outputs = self.llm_policy_model(input_ids=inputs.input_ids, attention_mask=inputs.attention_mask)
        trained = labels[:, 1:] != -100
        targets = labels[:, 1:].clamp(min=0)
        logprobs = outputs.logits[:, :-1].log_softmax(-1).gather(-1, targets[..., None])[..., 0]
        means = (logprobs * trained).sum(-1) / trained.sum(-1).clamp(min=1)
        rewards = torch.tensor([row["reward"] for row in rows])
        if len(rows) > 1:
            rewards = (rewards - rewards.mean()) / (rewards.std() + 1e-8)
        return -(rewards * means).mean()
