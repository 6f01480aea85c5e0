"""From prompts to packed rows."""

import random

import torch
from loguru import logger


class Said(str):
    """A completion's text, and the ids that were sampled."""

    ids = None


class RayPPOTrainer:
    def __init__(self, cfg, strategy, tokenizer, train_dataset, vllm_engines=None):
        self.cfg, self.strategy, self.tokenizer = cfg, strategy, tokenizer
        self.train_dataset, self.vllm_engines = train_dataset, vllm_engines

    async def make_experience(self, all_inputs):
        rows = [row for row in all_inputs for _ in range(self.cfg.n_samples_per_prompt)]
        random.Random(0).shuffle(rows)
        prompts, extras = ([row[at] for row in rows] for at in (0, 1))
        outputs = await self.generate_vllm(self._get_generate_function(0), prompts, extras=extras)
        prompts, outputs, rewards = await self.custom_reward_fn(prompts, outputs, extras, None)
        packed = self._convert_prompts_outputs_to_batch_tensors_packing(
            prompts, outputs, rewards, self.cfg.packing_max_len
        )
        logger.info("%d packed rows" % len(packed[0]))

    async def custom_reward_fn(self, prompts, outputs, extras, reward_model_fn):
        raise NotImplementedError

    def _ids(self, texts):
        encoded = self._tokenize(list(texts), self.cfg.generate_max_len, padding=False)["input_ids"]
        return [list(getattr(text, "ids", None) or ids) for text, ids in zip(texts, encoded)]

    def _convert_prompts_outputs_to_batch_tensors(self, prompts, outputs):
        """Prompts end in one column."""
        before = self._tokenize(list(prompts), self.cfg.prompt_max_len, padding=False)["input_ids"]
        behind = self._ids(outputs)
        width, room = max(map(len, before)), max(map(len, behind))
        pad = self.tokenizer.pad_token_id
        sequences, real, trained = [], [], []
        for prompt, answer in zip(before, behind):
            left, right = width - len(prompt), room - len(answer)
            sequences.append([pad] * left + list(prompt) + answer + [pad] * right)
            real.append([0] * left + [1] * (len(prompt) + len(answer)) + [0] * right)
            trained.append([1] * len(answer) + [0] * right)
        return torch.tensor(sequences), torch.tensor(real), torch.tensor(trained).bool()

    def _convert_prompts_outputs_to_batch_tensors_packing(self, prompts, outputs, custom_rewards, packing_max_len):
        before = self._tokenize(list(prompts), self.cfg.prompt_max_len, padding=False)["input_ids"]
        behind = self._ids(outputs)
        packs, room = [], 0
        for at, (prompt, answer) in enumerate(zip(before, behind)):
            row = list(prompt) + answer
            if len(row) > room:
                packs.append([])
                room = packing_max_len
            room -= len(row)
            packs[-1].append((row, len(answer), at))
        sequences, masks, counts, lengths = [], [], [], []
        for pack in packs:
            sequences.append(torch.tensor([[id for row, _, _ in pack for id in row]]))
            masks.append(torch.tensor([[index + 1 for index, (row, _, _) in enumerate(pack) for _ in row]]))
            counts.append([count for _, count, _ in pack])
            lengths.append([len(row) for row, _, _ in pack])
        rewards = None if custom_rewards is None else [[custom_rewards[at] for _, _, at in pack] for pack in packs]
        return sequences, masks, counts, lengths, rewards

    def _get_generate_function(self, dp_rank):
        engine = self.vllm_engines[dp_rank]

        async def generate(prompts, sampling_params, **_):
            ids = self._tokenize(prompts, self.cfg.prompt_max_len, padding=False)["input_ids"]
            outputs = await engine.generate.remote(prompt_token_ids=ids, sampling_params=sampling_params)
            texts, reasons = [], []
            for output in outputs:
                text = Said(output.outputs[0].text)
                text.ids = output.outputs[0].token_ids
                texts.append(text)
                reasons.append(output.outputs[0].finish_reason)
            return texts, reasons

        return generate

    def _tokenize(self, texts, max_length=None, padding=True):
        return self.tokenizer(texts, add_special_tokens=False, max_length=max_length, truncation=True, padding=padding)

    def _detokenize(self, token_ids):
        return self.tokenizer.decode(token_ids, skip_special_tokens=False)
