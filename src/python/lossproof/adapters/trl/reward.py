"""`python -m lossproof.adapters.trl.reward`: TRL's own RewardTrainer, unmodified, on a tiny random model on the CPU.

Scores are those of its batch, laid out by its collator, inside its compute_loss; op reward_loss is that loss, of scores and
margins that come from the request.
Settings: LOSSPROOF_TOKENIZER=folder."""

import lossproof
from lossproof import Reject
from lossproof.adapters.common._tiny import VERSION, declared_tokens, load_tokenizer, tiny_scorer, tokenizer_folder
from lossproof.adapters.common._rows import Rows
from lossproof.adapters.common._standin import rendering
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


def names_of(columns):
    return next(pair for pair in NAMES if pair[0] in columns)


def batch_of(chosen, rejected, margins=None):
    """TRL's batch of these rows, under the names that its collator asks for."""
    names = names_of(trainer.train_dataset.column_names)
    examples = []
    for sides in zip(chosen, rejected):
        example = dict(zip(names, sides))
        if names == NAMES[-1]:  # its collator wants masks beside the ids
            example.update(zip(("attention_mask_chosen", "attention_mask_rejected"), ([1] * len(ids) for ids in sides)))
        examples.append(example)
    for example, margin in zip(examples, margins or ()):
        example["margin"] = margin
    return trainer.data_collator(examples)


@lossproof.op
def preference_batch(prompts, chosen, rejected):
    """A data set of conversations through the preparation, and its rows through the collator. What is scored is a row: there are
    no masks of answers."""
    said = [[[{"role": "assistant", "content": text}] for text in half] for half in (chosen, rejected)]
    rows = [dict(zip(("prompt", "chosen", "rejected"), row)) for row in zip(prompts, *said)]
    with rendering(tokenizer, None):
        found = list(trainer._prepare_dataset(Rows(rows), tokenizer, trainer.args, "train"))
    if len(found) < len(rows):
        raise Reject("RewardTrainer drops a pair of which a half is longer than max_length")
    names = names_of(found[0])
    batch = batch_of(*([row[name] for row in found] for name in names))
    fields = ("input_ids", "attention_mask")
    return {
        "%s_%s" % (half, field): batch[field].chunk(2)[at]
        for at, half in enumerate(("chosen", "rejected"))
        for field in fields
    }


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


@lossproof.op(margins=True)
def reward_loss(chosen_scores, rejected_scores, margins=None):
    count = len(chosen_scores)
    scores = torch.tensor([*chosen_scores, *rejected_scores], requires_grad=True)
    loss = loss_of(scores, margins)
    loss.backward()
    alone = [loss_of(scores[[row, count + row]], margins and [margins[row]]).item() for row in range(count)]
    chosen_weights, rejected_weights = scores.grad.chunk(2)
    return {
        "loss": loss.detach(),
        "losses": alone,
        "chosen_weights": chosen_weights,
        "rejected_weights": rejected_weights,
    }


def loss_of(scores, margins):
    rows = [[tokenizer.eos_token_id]] * (len(scores) // 2)
    return trainer.compute_loss(Given(scores), batch_of(rows, rows, margins))


if __name__ == "__main__":
    lacks = {}
    if not hasattr(RewardTrainer, "_prepare_dataset"):
        lacks["preference_batch"] = "TRL %s prepares its data set in the constructor of the trainer" % VERSION
    serve(
        "trl-reward",
        trainer.args,
        lacks=lacks,
        layout={"alignment": "token", "span": "row"},
        semantics={"reward_centering": trainer.args.center_rewards_coefficient or 0.0},
        tokens=tokens,
        tokenizer=FOLDER,
    )
