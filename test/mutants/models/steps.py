"""Wrong steps on a checkpoint: the loss looks right, and something else is trained."""

from shutil import rmtree

from lossproof.examples import left_padded
from lossproof.examples.models import checkpoints
from lossproof.examples.models.safetensors import read, write

from ..registry import MUTANTS


def step(arguments, weights=None, rows=None):
    """The right step with other weights, or on other rows."""
    prompts, completions = rows or (arguments["prompt_ids"], arguments["completion_ids"])
    weights = weights or checkpoints.token_weights(arguments["completion_ids"], arguments.get("advantages"))
    path, rate, saved = (arguments[name] for name in ("model_path", "learning_rate", "saved_path"))
    return checkpoints.stepped(path, prompts, completions, weights, rate, saved)


def answer(arguments, weights, logprobs):
    terms = [[1.0] * len(row) for row in logprobs] if arguments.get("advantages") else logprobs
    return {"loss": sum(w * z for pair in zip(weights, terms) for w, z in zip(*pair)), "loss_weights": weights}


def mutant(name, title, **more):
    """Registers a function of the arguments as they come."""

    def register(function):
        MUTANTS.add(name, title, left_padded, "train_step", **more)(adapted(function))
        return function

    return register


def adapted(function):
    def train_step(model_path, prompt_ids, completion_ids, learning_rate, saved_path, advantages=None):
        return function(
            {
                "model_path": model_path,
                "prompt_ids": prompt_ids,
                "completion_ids": completion_ids,
                "learning_rate": learning_rate,
                "saved_path": saved_path,
                "advantages": advantages,
            }
        )

    train_step.__doc__ = function.__doc__
    return train_step


@mutant("step-trains-the-prompt", "The prompt is trained, and the loss is reported without it", row="MSK-01")
def trains_the_prompt(given):
    """labels = input_ids.clone() for the backward pass, and a mask for the logs only: the curve is that of the
    completions, the model learns to ask. Fix: mask the labels."""
    weights = checkpoints.token_weights(given["completion_ids"], given["advantages"])
    whole = [prompt + completion for prompt, completion in zip(given["prompt_ids"], given["completion_ids"])]
    both = [[row[0]] * (len(ids) - 1) for row, ids in zip(weights, whole)]
    logprobs = step(given, both, ([ids[:1] for ids in whole], [ids[1:] for ids in whole]))
    kept = [row[len(prompt) - 1 :] for row, prompt in zip(logprobs, given["prompt_ids"])]
    return answer(given, weights, kept)


@mutant("step-divides-by-the-padded-width", "The loss is a mean over the padded width", row="LOSS-11")
def over_the_width(given):
    """(loss * mask).mean(): padding counts in the denominator, so a batch with one long row trains the others less.
    Fix: divide by the sum of the mask."""
    rows = given["completion_ids"]
    share = sum(map(len, rows)) / (len(rows) * max(map(len, rows)))
    right = checkpoints.token_weights(rows, given["advantages"])
    weights = [[weight * share for weight in row] for row in right]
    return answer(given, weights, step(given, weights))


@mutant("step-one-token-late", "Each weight is that of the token behind it")
def one_token_late(given):
    """Advantages were laid out by columns of the predictor and read by columns of the token. Fix: one alignment."""
    right = checkpoints.token_weights(given["completion_ids"], given["advantages"])
    moved = [[*row[1:], 0.0] for row in right]
    return answer(given, right, step(given, moved))


@mutant("step-reports-the-sum", "The reported loss is a sum over tokens, the trained one a mean", row="LOSS-09")
def reports_the_sum(given):
    """The logged number lost its denominator: it grows with the answers. Fix: log what is trained."""
    right = checkpoints.token_weights(given["completion_ids"], given["advantages"])
    said = answer(given, right, step(given))
    return dict(said, loss=said["loss"] * sum(map(len, given["completion_ids"])))


@mutant("step-leaves-out-what-moves-nothing", "Rows with an advantage of 0 are not in the mean")
def leaves_out_zeros(given):
    """`mask * (advantages != 0)`, to save the forward pass of groups that are all right: where half a batch is, the other half is
    trained twice as much. Fix: drop the rows, and count their tokens."""
    advantages = given["advantages"]
    right = checkpoints.token_weights(given["completion_ids"], advantages)
    counts = list(map(len, given["completion_ids"]))
    moving = sum(n for n, advantage in zip(counts, advantages or counts) if advantage)
    weights = [[weight * sum(counts) / max(moving, 1) for weight in row] for row in right]
    return answer(given, weights, step(given, weights))


@mutant("step-leaves-the-norms", "Scales of norms are not in the optimiser")
def leaves_the_norms(given):
    """Parameters were sorted into groups with and without weight decay, by name, and the second group was never handed
    over. Fix: assert that the groups hold every parameter."""
    right = checkpoints.token_weights(given["completion_ids"], given["advantages"])
    said = answer(given, right, step(given))
    return saved_otherwise(given, said, lambda name: "norm" in name or ".ln_" in name)


@mutant("step-unties-the-head", "A head that is the embedding is only trained as an embedding")
def unties_the_head(given):
    """The head was copied for a fused loss, and the copy got the gradient. Fix: share the parameter."""
    model = checkpoints.load(given["model_path"])
    right = checkpoints.token_weights(given["completion_ids"], given["advantages"])
    said = answer(given, right, step(given))
    if "lm_head.weight" in model.weights:
        return said
    return saved_otherwise(given, said, lambda name: name.endswith(("embed_tokens.weight", "wte.weight")))


@mutant("step-forgets-the-rate", "The learning rate of the request is not used")
def forgets_the_rate(given):
    """The optimiser was made before the setting was read. Fix: make it afterwards."""
    right = checkpoints.token_weights(given["completion_ids"], given["advantages"])
    return answer(given, right, step(dict(given, learning_rate=0.75)))


def saved_otherwise(given, said, stays):
    """Parameters that this says of their name are saved as they were."""
    _, before = read(given["model_path"])
    path = given["saved_path"]
    model = checkpoints.load(given["model_path"])
    after = model.stepped(given["learning_rate"])
    rmtree(path)
    write(path, {name: before[name] if stays(name) else tensor for name, tensor in after.items()})
    return said


@MUTANTS.add("model-scores-behind-a-cut-prompt", "The last token of the prompt is lost", left_padded, row="LP-16")
def model_score(model_path, prompt_ids, completion_ids, **settings):
    """prompt[:-1] was meant for the labels: the first token of an answer is predicted from a prompt that is one token
    short. Fix: cut a copy."""
    cut = [prompt[:-1] or prompt for prompt in prompt_ids]
    return checkpoints.model_score(model_path, cut, completion_ids, **settings)


@MUTANTS.add(
    "model-entropy-at-temperature-one",
    "The entropy of a whole model is that at temperature 1, whatever it sampled at",
    left_padded,
    "model_score",
    row="LP-05",
)
def entropy_at_one(model_path, prompt_ids, completion_ids, temperature, **settings):
    """logits / temperature was given a name of its own for the log-probabilities, and the entropy went on with `logits`.
    Fix: one name."""
    right = checkpoints.model_score(model_path, prompt_ids, completion_ids, temperature, **settings)
    bare = checkpoints.model_score(model_path, prompt_ids, completion_ids, 1.0)
    return dict(right, entropy=bare["entropy"])


@mutant("step-means-of-micro-batches", "The loss is a mean of the means of four rows each", row="LOSS-12")
def means_of_means(given):
    """Each micro-batch of four rows divides by its own tokens, and the sum by their number: right for up to four rows. Fix: divide by
    the tokens of the step."""
    rows, advantages = given["completion_ids"], given["advantages"]
    parts = range(0, len(rows), 4)
    weights = [
        [weight / len(parts) for weight in row]
        for at in parts
        for row in checkpoints.token_weights(rows[at : at + 4], advantages and advantages[at : at + 4])
    ]
    return answer(given, weights, step(given, weights))
