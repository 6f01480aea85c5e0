"""What each model does: it scores, and two of them train."""

import ray
import torch
from torch import nn
from torch.utils.data import DataLoader
from tqdm import tqdm

from orz.ppo.models import of_actions
from orz.ppo.utils import masked_mean


class ValueLoss(nn.Module):
    def __init__(self, clip_eps=None):
        super().__init__()
        self.clip_eps = clip_eps

    def forward(self, values, old_values, returns, action_mask=None):
        held = old_values + (values - old_values).clamp(-self.clip_eps, self.clip_eps)
        return 0.5 * masked_mean(torch.maximum((values - returns) ** 2, (held - returns) ** 2), action_mask, dim=-1).mean()


class PolicyLoss(nn.Module):
    def __init__(self, clip_eps=0.2):
        super().__init__()
        self.clip_eps = clip_eps

    def forward(self, log_probs, old_log_probs, advantages, action_mask=None):
        ratio = torch.exp(log_probs - old_log_probs)
        held = ratio.clamp(1 - self.clip_eps, 1 + self.clip_eps)
        return masked_mean(-torch.minimum(ratio * advantages, held * advantages), action_mask, dim=-1).mean()


def joined(tensors):
    return torch.cat(tensors)[None]


class Role:
    def forward(self, sequences, num_actions=None, attention_mask=None, packed_seq_lens=None):
        device = torch.cuda.current_device()
        self.model.eval()
        with torch.no_grad():
            return self.model(
                sequences.to(device),
                num_actions=num_actions,
                attention_mask=attention_mask.to(device),
                packed_seq_lens=packed_seq_lens,
            ).to("cpu")

    def epochs(self, replay_buffer, update_steps, shuffle):
        """One optimiser step for every so many micro-batches."""
        loader = DataLoader(
            replay_buffer, batch_size=replay_buffer.sample_batch_size, shuffle=shuffle, collate_fn=replay_buffer.collate_fn
        )
        every = max(1, len(loader) // update_steps)
        for _ in range(self.args.max_epochs):
            for step, experience in enumerate(tqdm(loader, disable=not self.strategy.is_rank_0())):
                experience.to_device(torch.cuda.current_device())
                self.strategy.all_reduce(self.training_step(experience, 0, step, every))
        torch.distributed.barrier()

    def rows(self, experience):
        counts, lengths = (
            torch.cat(each).long().tolist() for each in (experience.num_actions, experience.packed_seq_lens)
        )
        return joined(experience.sequences), counts, joined(experience.attention_mask), lengths

    def step(self, loss, local_step, accumulation_steps, name):
        self.strategy.backward(loss / accumulation_steps, self.model, self.optimizer)
        if (local_step + 1) % accumulation_steps == 0:
            self.strategy.optimizer_step(self.optimizer, self.model, self.scheduler, name=name)


class PolicyRayActorBase(Role):
    def ppo_train(self, global_steps, replay_buffer):
        self.epochs(replay_buffer, self.args.policy_update_steps, shuffle=False)

    def training_step(self, experience, global_steps, local_step, accumulation_steps):
        self.model.train()
        sequences, counts, attention_mask, lengths = self.rows(experience)
        found, output = self.model(
            sequences, counts, attention_mask=attention_mask, return_output=True, packed_seq_lens=lengths
        )
        old, base, advantages = (
            joined(each)
            for each in (experience.action_log_probs, experience.base_action_log_probs, experience.advantages)
        )
        loss = self.actor_loss_fn(found, old, advantages, action_mask=experience.action_mask)
        with torch.no_grad():
            chances = torch.softmax(output["logits"][:, :-1], dim=-1)
            entropy = of_actions(torch.special.entr(chances).sum(-1), counts, lengths).mean().item()
        if self.args.use_kl_loss:
            gap = base - found
            kl = torch.exp(gap) - gap - 1 if self.args.use_kl_estimator_k3 else -gap
            loss = loss + self.args.kl_loss_coef * masked_mean(kl, experience.action_mask, dim=-1).mean()
        self.step(loss, local_step, accumulation_steps, "actor")
        return {"policy_loss": loss.item(), "entropy": entropy, "actor_lr": self.scheduler.get_last_lr()[0]}


class CriticRayActorBase(Role):
    def ppo_train(self, global_steps, replay_buffer):
        self.model.train()
        self.epochs(replay_buffer, self.args.critic_update_steps, shuffle=True)

    def training_step(self, experience, global_steps, local_step, accumulation_steps):
        sequences, counts, attention_mask, lengths = self.rows(experience)
        values, _ = self.model(
            sequences, counts, attention_mask=attention_mask, return_output=True, packed_seq_lens=lengths
        )
        loss = self.critic_loss_fn(values, joined(experience.values), joined(experience.returns))
        self.step(loss, local_step, accumulation_steps, "critic")
        return {"critic_loss": loss.item(), "critic_lr": self.scheduler.get_last_lr()[0]}


class RefRayActorBase(Role):
    """A policy that stays as it is."""


class RewardRayActorBase(Role):
    def forward(self, sequences, attention_mask=None, packed_seq_lens=None):
        device = torch.cuda.current_device()
        with torch.no_grad():
            return self.model(
                sequences.to(device), attention_mask=attention_mask.to(device), packed_seq_lens=packed_seq_lens
            ).to("cpu")


PolicyRayActor = ray.remote(num_gpus=1)(PolicyRayActorBase)
CriticRayActor = ray.remote(num_gpus=1)(CriticRayActorBase)
