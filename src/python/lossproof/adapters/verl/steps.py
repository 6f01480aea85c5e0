"""Op train_step: one step of a checkpoint, supervised or by the policy's loss."""

import lossproof
from lossproof.adapters.common._models import stepped
from lossproof.adapters.verl._model import engine_of, laid_out
from lossproof.adapters.verl._parts import losses
from lossproof.adapters.verl.losses import policy_config, supervised
from lossproof.adapters.verl.scores import scored

import torch


@lossproof.op
def train_step(model_path, prompt_ids, completion_ids, learning_rate, saved_path, advantages=None):
    """forward_backward_batch with the engine's own forward pass; the step itself is plain descent."""
    owner = engine_of(model_path)
    model = owner.engine.module.requires_grad_(True)
    ids, real, width = laid_out(prompt_ids, completion_ids)
    if advantages is None:
        behind = torch.arange(ids.size(1)) >= width
        labels = torch.where(real.bool() & behind, ids, -100)
        data = supervised(owner, ids, real, labels)
        total = owner.accumulate(data, lambda **kwargs: losses.sft_loss(None, **kwargs), [list(range(len(ids)))])
    else:
        old = scored(owner, prompt_ids, completion_ids)[0]
        response = real[:, width:]
        track = torch.zeros(response.shape)
        for row, values in enumerate(old):
            track[row, : len(values)] = torch.tensor(values)
        data = owner.rows(
            ids,
            real,
            width,
            old_log_probs=track,
            ref_log_prob=track,
            advantages=torch.tensor(advantages)[:, None] * response,
            global_batch_size=len(ids),
        )
        config = policy_config({"kl_coef": 0.0}, (0.0, 0.0))
        total = owner.accumulate(data, lambda **kwargs: losses.ppo_loss(config, **kwargs), [list(range(len(ids)))])
    stepped(model, learning_rate, saved_path)
    model.requires_grad_(False)
    return {"loss": total}
