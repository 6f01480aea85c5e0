"""Op train_step: one step of a checkpoint, supervised or by the policy's loss."""

import lossproof
from lossproof.adapters.common._models import frozen, stepped
from lossproof.adapters.openrlhf._model import acting, batch_of
from lossproof.adapters.openrlhf._parts import Experience
from lossproof.adapters.openrlhf._standins import Strategy
from lossproof.adapters.openrlhf.reinforcement import trained
from lossproof.adapters.openrlhf.supervised import fitted
from lossproof.testing import replaced

import torch


@lossproof.op
def train_step(model_path, prompt_ids, completion_ids, learning_rate, saved_path, advantages=None):
    """SFTTrainer's or ActorPPOTrainer's step with Actor's own forward pass; what the optimiser does is plain descent."""
    model = frozen(model_path).requires_grad_(True)
    actor = acting(model)
    ids, attention, action = batch_of(prompt_ids, completion_ids)
    with replaced(actor, train=lambda *_: actor):
        if advantages is None:
            mask = torch.nn.functional.pad(action.float(), (0, 1))
            total = fitted(actor, [(ids[:, None], attention[:, None], mask[:, None])], Strategy())
        else:
            with torch.no_grad():
                old = actor(ids, action, attention_mask=attention)
            experience = Experience(
                sequences=ids,
                attention_mask=attention,
                action_mask=action,
                action_log_probs=old,
                advantages=torch.tensor(advantages)[:, None] * action,
            )
            total = trained(actor, [experience], Strategy(), {"kl_coef": 0.0}, None)
    stepped(model, learning_rate, saved_path)
    model.requires_grad_(False)
    return {"loss": total}
