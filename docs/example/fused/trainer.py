"""A GRPO trainer as many are: one method that does everything, with inference by vLLM and packed attention, neither of
which is installed where its tests run. Written to be read by slice_of; nothing in it knows of lossproof."""

import logging
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from flash_attn.bert_padding import pad_input, unpad_input
from vllm import LLM, SamplingParams
from vllm.distributed.parallel_state import destroy_model_parallel

log = logging.getLogger(__name__)
STOPS = SamplingParams(n=1, temperature=0.7, max_tokens=256)


@dataclass
class Args:
    steps: int = 100
    prompts_per_step: int = 4
    group_size: int = 4
    temperature: float = 0.7
    beta: float = 0.04
    clip_low: float = 0.2
    clip_high: float = 0.28
    learning_rate: float = 1e-6
    max_grad_norm: float = 1.0
    packed: bool = False


class Trainer:
    def __init__(self, model, ref_model, tokenizer, reward_fn, args=None):
        self.model, self.ref_model, self.tokenizer = model, ref_model, tokenizer
        self.reward_fn, self.args = reward_fn, args or Args()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=self.args.learning_rate)
        self.history = []

    def train(self, dataset):
        args, tokenizer, pad = self.args, self.tokenizer, self.tokenizer.pad_token_id
        engine = LLM(model=self.model.config._name_or_path, enable_sleep_mode=True)
        for step in range(args.steps):
            start = step * args.prompts_per_step % len(dataset)
            chats = [row["messages"] for row in dataset[start : start + args.prompts_per_step]]
            if not chats:
                continue
            chats = [chat for chat in chats for _ in range(args.group_size)]
            texts = [tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True) for chat in chats]
            prompts = [tokenizer.encode(text, add_special_tokens=False) for text in texts]
            outputs = engine.generate(prompts, STOPS)
            answers = [list(output.outputs[0].token_ids) for output in outputs]

            # Rows: prompts padded on the left, answers on the right.
            prompt_width = max(len(ids) for ids in prompts)
            width = prompt_width + max(len(ids) for ids in answers)
            rows = [
                [pad] * (prompt_width - len(prompt)) + prompt + answer + [pad] * (width - prompt_width - len(answer))
                for prompt, answer in zip(prompts, answers)
            ]
            sequences = torch.tensor(rows)
            lengths = torch.tensor([[len(prompt), len(answer)] for prompt, answer in zip(prompts, answers)])
            columns = torch.arange(width).unsqueeze(0)
            attention_mask = (columns >= prompt_width - lengths[:, :1]) & (columns < prompt_width + lengths[:, 1:])
            attention_mask = attention_mask.long()

            # What is trained: from the first column of the answer to its first stop token.
            columns = torch.arange(sequences.size(1)).expand_as(sequences)
            in_answer = columns >= prompt_width
            stops = (sequences == tokenizer.eos_token_id) & in_answer
            behind = stops.long().cumsum(dim=1) - stops.long()
            mask = (in_answer & (behind == 0)).float()
            mask = mask[:, 1:]

            # Rewards, and from them one advantage per row.
            decoded = tokenizer.batch_decode([answer for answer in answers], skip_special_tokens=True)
            rewards = torch.tensor([self.reward_fn(chat, text) for chat, text in zip(chats, decoded)])
            grouped = rewards.float().view(-1, args.group_size)
            spread = grouped.std(dim=1, keepdim=True)
            advantages = (grouped - grouped.mean(dim=1, keepdim=True)) / (spread + 1e-4)
            advantages = advantages.reshape(-1)

            # Log-probabilities of each next token, under the policy and the reference.
            if args.packed:
                packed, indices, *_ = unpad_input(sequences.unsqueeze(-1), attention_mask)
                logits = pad_input(self.model(packed).logits, indices, *sequences.shape)
            else:
                logits = self.model(input_ids=sequences, attention_mask=attention_mask).logits
            logits = logits[:, :-1] / args.temperature
            targets = sequences[:, 1:]
            logps = F.log_softmax(logits, dim=-1).gather(2, targets.unsqueeze(-1)).squeeze(-1)
            with torch.no_grad():
                ref_logits = self.ref_model(input_ids=sequences, attention_mask=attention_mask).logits[:, :-1]
                ref_logps = F.log_softmax(ref_logits / args.temperature, dim=-1).gather(2, targets.unsqueeze(-1)).squeeze(-1)
            old_logps = logps.detach()

            # The loss: the clipped objective and k3, a mean over the trained tokens of the step.
            ratio = torch.exp(logps - old_logps)
            clipped = ratio.clamp(1 - args.clip_low, 1 + args.clip_high)
            gain = advantages.unsqueeze(1)
            per_token = -torch.min(ratio * gain, clipped * gain)
            apart = ref_logps - logps
            kl = torch.exp(apart) - apart - 1
            per_token = per_token + args.beta * kl
            loss = (per_token * mask).sum() / mask.sum().clamp(min=1)

            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), args.max_grad_norm)
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.history.append(loss.item())
            log.info("step %d: loss %.4f, reward %.3f, kl %.4f", step, loss, rewards.mean(), (kl * mask).sum() / mask.sum())
        destroy_model_parallel()
        return self.history
