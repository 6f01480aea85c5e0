"""Pairs: RewardDataset, DPOTrainer and DPOLoss, and the loss of a reward model."""

import lossproof
from lossproof import Reject
from lossproof.adapters.common._library import template_of
from lossproof.adapters.common._models import frozen, stepped
from lossproof.adapters.openrlhf._model import UNLIMITED, acting, tokenizer, tokens
from lossproof.adapters.openrlhf._parts import DPOLoss, PairWiseLoss, RewardDataset, dpo
from lossproof.adapters.openrlhf._settings import DPO_BETA, OBJECTIVE
from lossproof.adapters.openrlhf._standins import Rows, Strategy, tree
from lossproof.testing import instance

import torch


def preference_trainer():
    return instance(dpo.DPOTrainer, tokenizer=tokenizer, strategy=Strategy(), loss_fn=DPOLoss(DPO_BETA, 0.0, OBJECTIVE == "ipo"))


def paired(prompt_ids, chosen_ids, rejected_ids):
    """RewardDataset's batch: (chosen ids, mask, rejected ids, mask, lengths of the prompts)."""
    items = []
    for prompt, better, worse in zip(prompt_ids, chosen_ids, rejected_ids):
        rows = [torch.tensor([[*prompt, *half]], dtype=torch.long) for half in (better, worse)]
        items.append((rows[0], torch.ones_like(rows[0]), rows[1], torch.ones_like(rows[1]), len(prompt)))
    return instance(RewardDataset, tokenizer=tokenizer, is_dpo=True).collate_fn(items)


@lossproof.op
def preference(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    if pad_token_id != tokens["pad_token_id"]:
        raise Reject("this trainer's collator pads with %d" % tokens["pad_token_id"])
    return halves_of(paired(prompt_ids, chosen_ids, rejected_ids))


@lossproof.op
def preference_batch(prompts, chosen, rejected):
    """A RewardDataset of conversations, as train_dpo makes it, and its rows through its collator."""
    keys = ("prompt", "chosen", "rejected")
    said = [[[{"role": "assistant", "content": text}] for text in half] for half in (chosen, rejected)]
    rows = Rows([dict(zip(keys, row)) for row in zip(prompts, *said)])
    strategy = Strategy(tree(data={**{"%s_key" % key: key for key in keys}, "apply_chat_template": True}))
    with template_of(tokenizer, None):
        data = RewardDataset(rows, tokenizer, UNLIMITED, strategy, is_dpo=True, num_processors=1)
        return halves_of(data.collate_fn([data[at] for at in range(len(data))]))


def halves_of(batch):
    """What goes into the model, and where _get_batch_logps sums: the slope of its sums."""
    trainer = preference_trainer()
    ids, attention, lengths = trainer.concatenated_inputs(*batch)
    leaf = torch.zeros(ids[:, 1:].shape, requires_grad=True)
    trainer._get_batch_logps(leaf, attention, lengths)[0].sum().backward()
    mask = torch.nn.functional.pad(leaf.grad, (1, 0)).long()
    halves = {"input_ids": ids, "attention_mask": attention, "mask": mask}
    return {
        "%s_%s" % (half, name): track.chunk(2)[at]
        for at, half in enumerate(("chosen", "rejected"))
        for name, track in halves.items()
    }


class Saying:
    """A model whose log-probabilities are given: chosen rows, then rejected ones, behind a prompt of one token."""

    def __init__(self, rows):
        self.rows = rows

    def __call__(self, input_ids, **_):
        track = torch.zeros(input_ids.size(0), input_ids.size(1) - 1)
        for row, values in zip(track, self.rows):
            row[: len(values)] = torch.tensor(values)
        return track, {}


@lossproof.op
def preference_loss(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs):
    prompts = [[0]] * len(chosen_logprobs)
    batch = paired(prompts, *([[0] * len(row) for row in half] for half in (chosen_logprobs, rejected_logprobs)))
    trainer = preference_trainer()
    policy = trainer.concatenated_forward(Saying(chosen_logprobs + rejected_logprobs), *batch)[:2]
    reference = trainer.concatenated_forward(Saying(ref_chosen_logprobs + ref_rejected_logprobs), *batch)[:2]
    total, better, worse = trainer.loss_fn(*policy, *reference)
    return {"loss": total, "chosen_rewards": better, "rejected_rewards": worse}


@lossproof.op(margins=True)
def reward_loss(chosen_scores, rejected_scores, margins=None):
    """As RewardModelTrainer.fit calls it, by default: behind model.loss_type "sigmoid"."""
    chosen, rejected = (torch.tensor(half, requires_grad=True) for half in (chosen_scores, rejected_scores))
    loss = PairWiseLoss()(chosen, rejected, None if margins is None else torch.tensor(margins))
    loss.backward()
    return {"loss": loss.detach(), "chosen_weights": chosen.grad, "rejected_weights": rejected.grad}


@lossproof.op
def preference_step(model_path, reference_path, prompt_ids, chosen_ids, rejected_ids, learning_rate, saved_path):
    """concatenated_forward of policy and reference, as DPOTrainer.fit calls it; the step itself is plain descent."""
    model = frozen(model_path).requires_grad_(True)
    trainer, batch = preference_trainer(), paired(prompt_ids, chosen_ids, rejected_ids)
    policy = trainer.concatenated_forward(acting(model), *batch)[:2]
    with torch.no_grad():
        reference = trainer.concatenated_forward(acting(frozen(reference_path)), *batch)[:2]
    total = trainer.loss_fn(*policy, *reference)[0]
    total.backward()
    stepped(model, learning_rate, saved_path)
    model.requires_grad_(False)
    return {"loss": total.detach()}
