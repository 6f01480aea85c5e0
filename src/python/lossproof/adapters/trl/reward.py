"""`python -m lossproof.adapters.trl.reward`: TRL's own RewardTrainer, unmodified, on a tiny random model on the CPU.

Scores are those of its batch, laid out by its collator, inside its compute_loss; op preference_loss is that loss, of
scores that come from the request: a pair's score is the sum of its log-ratios, so the loss is DPO's with a beta of 1.
Settings: LOSSPROOF_TOKENIZER=folder."""

import lossproof
from lossproof import Reject
from lossproof.adapters.common._tiny import declared_tokens, load_tokenizer, tiny_scorer, tokenizer_folder
from lossproof.adapters.common._trl import configured, rows_of, serve
from lossproof.testing import spy

import torch
from datasets import Dataset
from trl import RewardConfig, RewardTrainer

FOLDER = tokenizer_folder()
tokenizer = load_tokenizer(FOLDER)

# The names of the ids of an example's two sides, the latest first.
NAMES = (
    ("chosen_ids", "rejected_ids"),
    ("chosen_input_ids", "rejected_input_ids"),
    ("input_ids_chosen", "input_ids_rejected"),
)

trainer = rows_of(
    RewardTrainer(
        model=tiny_scorer(tokenizer),
        args=configured(RewardConfig),
        train_dataset=Dataset.from_list([{"chosen": "b", "rejected": "c"}]),
        processing_class=tokenizer,
    )
)
tokens = declared_tokens(tokenizer)


def batch_of(chosen, rejected):
    """TRL's batch of these rows, under the names that its collator asks for."""
    prepared = trainer.train_dataset.column_names
    names = next(pair for pair in NAMES if pair[0] in prepared)
    examples = []
    for sides in zip(chosen, rejected):
        example = dict(zip(names, sides))
        if names == NAMES[-1]:  # its collator wants masks beside the ids
            example.update(zip(("attention_mask_chosen", "attention_mask_rejected"), ([1] * len(ids) for ids in sides)))
        examples.append(example)
    return trainer.data_collator(examples)


@lossproof.op
def reward_model(prompt_ids, completion_ids):
    """Each row is both sides of a pair."""
    rows = [[*prompt, *completion] for prompt, completion in zip(prompt_ids, completion_ids)]
    with torch.no_grad(), spy(trainer.model, "forward") as calls:
        trainer.compute_loss(trainer.model, batch_of(rows, rows))
    scores = torch.cat([call.result.logits[:, 0] for call in calls])
    return {"scores": scores[: len(rows)]}


class Given:
    """A model whose scores are given: of all rows of a batch, in one call or in several."""

    def __init__(self, scores):
        self.left = scores

    def __call__(self, input_ids, **_):
        scores, self.left = self.left[: len(input_ids)], self.left[len(input_ids) :]
        return Scored(logits=scores[:, None])


class Scored(dict):
    @property
    def logits(self):
        return self["logits"]


@lossproof.op
def preference_loss(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings=None):
    if settings:
        raise Reject("RewardTrainer has no setting %s" % sorted(settings)[0])
    policy, reference = chosen_logprobs + rejected_logprobs, ref_chosen_logprobs + ref_rejected_logprobs
    scores = torch.tensor([sum(row) - sum(other) for row, other in zip(policy, reference)])
    count = len(chosen_logprobs)
    alone = [loss_of(scores[[row, count + row]]).item() for row in range(count)]
    return {"loss": loss_of(scores), "losses": alone}


def loss_of(scores):
    rows = [[tokenizer.eos_token_id]] * (len(scores) // 2)
    with torch.no_grad():
        return trainer.compute_loss(Given(scores), batch_of(rows, rows))


if __name__ == "__main__":
    serve(
        "trl-reward",
        layout={"alignment": "token", "span": "row"},
        semantics={"preference_objective": "dpo", "preference_beta": 1.0, "preference_label_smoothing": 0.0},
        tokens=tokens,
        tokenizer=FOLDER,
    )
