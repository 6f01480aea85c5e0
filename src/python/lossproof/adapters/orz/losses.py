"""Losses of policy and critic: ppo_train of either, on a buffer with a packed row a micro-batch."""

from types import SimpleNamespace

import lossproof
from lossproof.adapters.common._losses import average
from lossproof.adapters.common._models import frozen, stepped
from lossproof.adapters.common._settings import within
from lossproof.adapters.orz._model import acting, scored
from lossproof.adapters.orz._outside import Packed, Schedule, Strategy, on_cpu
from lossproof.adapters.orz._parts import actors, buffers, models
from lossproof.adapters.orz._rows import Trained, laid
from lossproof.adapters.orz._settings import BETA, RELEASED
from lossproof.testing import Settings, Table, instance, replaced, spy

import torch

KNOBS = {"kl_coef": [BETA, 0.5], "eps_clip": [RELEASED.eps_clip, 0.5]}


def experience(batch, **tracks):
    """A packed row as make_experience puts it into the buffer; tracks are (1, N)."""
    unknown = torch.zeros(1, sum(batch.actions))
    names = ["action_log_probs", "base_action_log_probs", "values", "returns", "advantages"]
    return buffers.Experience(
        sequences=batch.ids,
        attention_mask=batch.mask,
        action_mask=None,
        num_actions=torch.tensor([batch.actions]),
        packed_seq_lens=torch.tensor([batch.lengths]),
        # Logged, and read there.
        info={name: torch.ones(1) for name in ("kl", "return", "response_length", "total_length")},
        **{name: tracks.get(name, unknown) for name in names},
    )


def stepping(role, model, rank, own, **settings):
    """One optimiser step of this role on these packed rows. Returns the loss."""
    buffer = instance(
        buffers.NaiveReplayBuffer, sample_batch_size=1, limit=0, cpu_offload=True, packing_samples=True, items=[]
    )
    for each in rank:
        buffer.append(each)
    fixed = {"max_epochs": 1, "policy_update_steps": 1, "critic_update_steps": 1}
    strategy, args = Strategy(), Settings({**fixed, **settings})
    made = instance(
        getattr(actors, role), model=model, strategy=strategy, args=args, optimizer=None, scheduler=Schedule(), **own
    )
    with on_cpu(), replaced(actors, tqdm=bar):
        made.ppo_train(0, buffer)
    return strategy.total


class bar(list):
    """In the place of a progress bar."""

    def __init__(self, steps, **_):
        super().__init__(steps)

    def set_postfix(self, _):
        pass


def policy_step(actor, rank, kl_coef=BETA, eps_clip=RELEASED.eps_clip):
    return stepping(
        "PolicyRayActorBase",
        actor,
        rank,
        {"actor_loss_fn": actors.PolicyLoss(eps_clip)},
        eps_clip=eps_clip,
        use_kl_loss=True,
        use_kl_estimator_k3=RELEASED.use_kl_estimator_k3,
        kl_loss_coef=kl_coef,
    )


class Rows:
    """Rows (B, T) of a request of which one track is a leaf, and the packed rows of its micro-batches. Their ids say which rows they
    are."""

    def __init__(self, leaf, completion_mask, prompt_width):
        self.leaf, self.trained = leaf, Trained(completion_mask, prompt_width)

    def batch(self, part):
        lengths = [self.trained.ends[row] for row in part]
        return SimpleNamespace(
            ids=torch.cat([torch.full((1, count), row) for row, count in zip(part, lengths)], dim=1),
            mask=torch.cat([torch.full((1, count), at + 1) for at, count in enumerate(lengths)], dim=1),
            actions=[self.trained.counts[row] for row in part],
            lengths=lengths,
        )

    def given(self, track, part):
        return torch.cat([torch.tensor(track[row])[self.trained.mask[row]] for row in part])[None]

    def answering(self, ids):
        """(1, N) of the leaf, each number where the token before its own is."""
        rows, counts = ids[0].unique_consecutive(return_counts=True)
        moved = torch.nn.functional.pad(self.leaf[:, 1:], (0, 1))
        return torch.cat([moved[row, :count] for row, count in zip(rows, counts)])[None]

    def experiences(self, micro_batches, **tracks):
        parts = [[row for row in part if row in self.trained.counts] for part in micro_batches]
        if not all(parts):
            raise lossproof.Reject("Open-Reasoner-Zero drops empty responses, and has no micro-batch of none")
        return [
            experience(self.batch(part), **{name: self.given(track, part) for name, track in tracks.items()})
            for part in parts
        ]


@lossproof.op(micro_batches=True, knobs=KNOBS)
def loss(
    logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width, advantages, micro_batches, settings=None
):
    held = within(settings, KNOBS)
    leaf = torch.tensor(logprobs).requires_grad_()
    rows = Rows(leaf, completion_mask, prompt_width)
    spread = [[advantage] * leaf.size(1) for advantage in advantages]
    # Scores that are log-probabilities already, whichever token of as many as there are rows is read.
    table = Table(lambda ids, *_: rows.answering(ids)[..., None].expand(-1, -1, len(leaf)))
    tracks = {"action_log_probs": old_logprobs, "base_action_log_probs": ref_logprobs, "advantages": spread}
    with replaced(models, F=SimpleNamespace(log_softmax=lambda scored, dim: scored)):
        total = policy_step(acting(table), rows.experiences(micro_batches, **tracks), **held)
    return {"loss": total, "loss_weights": average(leaf, None)}


@lossproof.op
def entropy(input_ids, attention_mask, logits, completion_mask, prompt_width):
    """The mean that training_step logs, of all rows packed into one."""
    trained = Trained(completion_mask, prompt_width)
    real, ids, table = torch.tensor(attention_mask).bool(), torch.tensor(input_ids), torch.tensor(logits)
    if any(real[at, trained.ends[at] :].any() for at in trained.rows):
        raise lossproof.Reject("Open-Reasoner-Zero trains a row to its end")
    columns = [real[at].nonzero()[:, 0] for at in trained.rows]
    places = list(zip(trained.rows, columns))
    batch = SimpleNamespace(
        ids=torch.cat([ids[at, each] for at, each in places])[None],
        mask=torch.cat([torch.full((len(each),), at + 1) for at, each in enumerate(columns)])[None],
        actions=trained.actions,
        lengths=[len(each) for each in columns],
    )
    given = Table(torch.cat([table[at, each] for at, each in places])[None])
    with spy(actors.PolicyRayActorBase, "training_step") as steps:
        policy_step(acting(given), [experience(batch)])
    return {"mean_entropy": steps.only.result["entropy"]}


class Bare(torch.nn.Module):
    """A base class for the critic, which makes its model of the class it is told."""

    base_model_prefix = "model"

    def __init__(self, _):
        super().__init__()


def critic(rows):
    """The trainer's critic, whose values are these rows' leaf."""

    def hidden(ids, **_):
        return {"last_hidden_state": rows.answering(ids)[..., None]}

    config = SimpleNamespace(hidden_size=1, normalize_reward=RELEASED.normalize_reward)
    made = models._get_critic_model(Bare, lambda _: hidden, RELEASED.value_head_prefix, True)(config)
    setattr(made, RELEASED.value_head_prefix, torch.nn.Identity())
    return made


@lossproof.op(micro_batches=True)
def value_loss(values, old_values, returns, completion_mask, prompt_width, micro_batches):
    leaf = torch.tensor(values).requires_grad_()
    rows = Rows(leaf, completion_mask, prompt_width)
    own = {"critic_loss_fn": actors.ValueLoss(RELEASED.value_clip)}
    rank = rows.experiences(micro_batches, values=old_values, returns=returns)
    return {"loss": stepping("CriticRayActorBase", critic(rows), rank, own), "loss_weights": average(leaf, None)}


@lossproof.op(route=["rl"])
def train_step(model_path, prompt_ids, completion_ids, advantages, learning_rate, saved_path):
    """ppo_train on a checkpoint; what the optimiser does is plain descent."""
    model = frozen(model_path)
    actor = acting(Packed(model))
    rank = []
    at = 0
    for batch in laid(prompt_ids, completion_ids):
        mine = advantages[at : at + len(batch.actions)]
        at += len(mine)
        old = scored("PolicyRayActorBase", actor, batch, num_actions=batch.actions)
        spread = torch.cat([torch.full((count,), each) for count, each in zip(batch.actions, mine)])[None]
        rank.append(experience(batch, action_log_probs=old, base_action_log_probs=old, advantages=spread))
    model.requires_grad_(True)
    total = policy_step(actor, rank, kl_coef=0.0)
    stepped(model, learning_rate, saved_path)
    model.eval().requires_grad_(False)
    return {"loss": total}
