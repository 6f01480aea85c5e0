"""A trainer that loads the checkpoints it is handed, scores with them and trains them for one step, in plain Python.

Rows go through the model one by one, without padding: positions count from 0, and nothing sees another row."""

from functools import lru_cache
from math import exp
from operator import mul, sub

from ..losses import preference_loss
from .safetensors import read, write
from .transformer import Model


# As many as a run of `check` has: kinds, tied or not, policies and references.
@lru_cache(maxsize=16)
def load(path):
    return Model(*read(path))


def predicted(model, prompt, completion, temperature, tape=None):
    """log-softmax over the vocabulary before each token of the completion."""
    ids = [*prompt, *completion]
    states = model.forward(ids, range(len(ids)), tape)
    first = len(prompt) - 1
    return model.log_softmax(states.part(first, first + len(completion)), temperature, tape)


@lru_cache(maxsize=64)
def scored(path, prompt, completion, temperature):
    """Log-probabilities and probabilities; a row goes through the model alone, so its numbers can be kept."""
    rows = predicted(load(path), prompt, completion, temperature)
    return rows, [list(map(exp, row)) for row in rows]


def model_score(
    model_path, prompt_ids, completion_ids, temperature, padding_side=None, packed=False, reference_path=None
):
    """Nothing is padded, so neither side makes a difference; packed rows are taken apart again."""
    answer = {"logprobs": [], "entropy": []}
    if reference_path:
        answer.update(ref_logprobs=[], kl=[])
    for prompt, completion in zip(prompt_ids, completion_ids):
        rows, chances = scored(model_path, tuple(prompt), tuple(completion), temperature)
        answer["logprobs"].append([row[id] for row, id in zip(rows, completion)])
        # Over the whole vocabulary, as the KL(p || q) is.
        answer["entropy"].append([-sum(map(mul, *pair)) for pair in zip(chances, rows)])
        if reference_path:
            others, _ = scored(reference_path, tuple(prompt), tuple(completion), temperature)
            answer["ref_logprobs"].append([row[id] for row, id in zip(others, completion)])
            answer["kl"].append([sum(map(mul, p, map(sub, z, w))) for p, z, w in zip(chances, rows, others)])
    return answer


def token_weights(completion_ids, advantages):
    """dL/dlogprob of each completion token: minus its advantage over the tokens of the batch. A supervised loss weighs
    all alike; a policy that has not moved yet has the ratio 1, where nothing is clipped."""
    count = sum(map(len, completion_ids))
    factors = [1.0] * len(completion_ids) if advantages is None else advantages
    return [[-factor / count] * len(ids) for ids, factor in zip(completion_ids, factors)]


def train_step(model_path, prompt_ids, completion_ids, learning_rate, saved_path, advantages=None):
    weights = token_weights(completion_ids, advantages)
    logprobs = stepped(model_path, prompt_ids, completion_ids, weights, learning_rate, saved_path)
    # Of a policy step the ratios are what is weighed, and they are all 1.
    terms = [[1.0] * len(row) for row in logprobs] if advantages is not None else logprobs
    loss = sum(w * term for pair in zip(weights, terms) for w, term in zip(*pair))
    return {"loss": loss, "loss_weights": weights}


def slopes(objective, halves, move=2.0**-12):
    """dL/dlogprob of each token of the chosen rows, then of the rejected ones. An objective only knows sums and means
    of a row, so that all its tokens weigh what its first does; central differences are exact to 1e-8."""

    def loss(half, row, by):
        moved = [[list(ids) for ids in rows] for rows in halves]
        moved[half][row][0] += by
        return objective(*moved)["loss"]

    return [
        [(loss(half, row, move) - loss(half, row, -move)) / (2 * move)] * len(ids)
        for half in (0, 1)
        for row, ids in enumerate(halves[half])
    ]


def preference_step(objective, weights=slopes):
    """The step on preference pairs under this objective, one of `preference`: chosen and rejected completions are rows
    whose tokens weigh what the loss moves by when their log-probability does."""

    def step(model_path, reference_path, prompt_ids, chosen_ids, rejected_ids, learning_rate, saved_path):
        rows = [*prompt_ids, *prompt_ids], [*chosen_ids, *rejected_ids]
        model, tape, predictions = taped(model_path, *rows)
        policy, pairs = sampled(predictions, rows[1]), len(prompt_ids)
        reference = [logprobs_of(reference_path, *row) for row in zip(*rows)]
        halves = [half for all in (policy, reference) for half in (all[:pairs], all[pairs:])]
        descend(model, tape, predictions, rows[1], weights(objective, halves), learning_rate, saved_path)
        return {"loss": objective(*halves)["loss"]}

    return step


def logprobs_of(path, prompt, completion):
    rows, _ = scored(path, tuple(prompt), tuple(completion), 1.0)
    return [row[id] for row, id in zip(rows, completion)]


def stepped(model_path, prompt_ids, completion_ids, weights, learning_rate, saved_path):
    """One step of plain gradient descent on the weighted sum of log-probabilities, saved; (B, .) log-probabilities."""
    model, tape, predictions = taped(model_path, prompt_ids, completion_ids)
    descend(model, tape, predictions, completion_ids, weights, learning_rate, saved_path)
    return sampled(predictions, completion_ids)


def taped(model_path, prompt_ids, completion_ids):
    """The model, its tape, and what it predicts for each row."""
    model, tape = load(model_path), []
    model.forget()
    return model, tape, [predicted(model, *row, 1.0, tape) for row in zip(prompt_ids, completion_ids)]


def sampled(predictions, completion_ids):
    """Of what was predicted the log-probabilities of the tokens that came, (B, .)."""
    return [[row[id] for row, id in zip(*pair)] for pair in zip(predictions, completion_ids)]


def descend(model, tape, predictions, completion_ids, weights, learning_rate, saved_path):
    for rows, completion, row_weights in zip(predictions, completion_ids, weights):
        for grad, id, weight in zip(rows.grad, completion, row_weights):
            grad[id] = weight
    for back in reversed(tape):
        back()
    write(saved_path, model.stepped(learning_rate))


SCORE = {
    "temperature": True,
    "packed": True,
    "reference": True,
    "padding_side": ["left", "right"],
    "kl": "exact",
}
OPS = {
    "model_score": (model_score, SCORE),
    "train_step": (train_step, {"route": ["sft", "rl"]}),
    "preference_step": preference_step(preference_loss.dpo_loss),
}
