"""Scores that are worked out in chunks, to bound their memory, and lose the last chunk where it is not full."""

from lossproof.examples import left_padded
from lossproof.examples.scores.entropies import answer as entropies
from lossproof.examples.scores.entropies import over_completions as entropy_of
from lossproof.examples.scores.full_kls import answer as kls
from lossproof.examples.scores.full_kls import over_completions as full_kl_of

from ..in_place import written
from ..registry import MUTANTS

COLUMNS = 64
ROWS = 8


def full_chunks(values, size, lost=0.0):
    """What stands behind the last full chunk is lost, where there is more than one."""
    done = len(values) // size * size or len(values)
    return [value if at < done else lost for at, value in enumerate(values)]


@MUTANTS.add(
    "logprobs-last-columns-lost",
    "Log-probabilities are gathered 64 columns at a time, and those behind the last full chunk stay 0",
    left_padded,
    row="LP-09",
)
def logprobs(input_ids, logits, prompt_width, temperature):
    """for i in range(T // 64), into a tensor of zeros: a whole vocabulary at once did not fit. Fix: range(0, T, 64)."""
    right = left_padded.logprobs(input_ids, logits, prompt_width, temperature)["logprobs"]
    return {"logprobs": [full_chunks(row, COLUMNS) for row in right]}


@MUTANTS.add(
    "logprobs-last-rows-lost",
    "Log-probabilities are gathered eight rows at a time, and rows behind the last full chunk stay 0",
    left_padded,
    "logprobs",
    row="LP-09",
)
def logprobs_of_rows(input_ids, logits, prompt_width, temperature):
    """The rows of a rank were always a multiple of eight, until the last batch of an epoch was not. Fix: range(0, B, 8)."""
    right = left_padded.logprobs(input_ids, logits, prompt_width, temperature)["logprobs"]
    return {"logprobs": full_chunks(right, ROWS, [0.0] * len(right[0]))}


@MUTANTS.add(
    "logprobs-rows-sorted",
    "Log-probabilities come back sorted by the length of their rows",
    left_padded,
    "logprobs",
    row="PAD-08",
)
def logprobs_sorted(input_ids, logits, prompt_width, temperature, attention_mask):
    """Rows were batched by length for the head, and what came of them was not put back. Fix: the inverse permutation."""
    right = left_padded.logprobs(input_ids, logits, prompt_width, temperature)["logprobs"]
    return {"logprobs": [right[row] for row in sorted(range(len(right)), key=lambda row: sum(attention_mask[row]))]}


@MUTANTS.add(
    "logprobs-annealed-by-the-call",
    "The temperature of scoring is annealed by every call",
    left_padded,
    "logprobs",
    row="LP-14",
)
def logprobs_annealed(input_ids, logits, prompt_width, temperature):
    """The schedule of the sampler's temperature steps whenever it is read, and scoring reads it, too. Fix: read it once a
    step."""
    CALLS.append(temperature)
    return left_padded.logprobs(input_ids, logits, prompt_width, temperature * (1 + 0.01 * len(CALLS)))


CALLS = []


@MUTANTS.add(
    "logprobs-normalised-over-the-block",
    "Each log-probability has a little of the mean of its block taken off",
    left_padded,
    "logprobs",
    row="PAD-09",
)
def logprobs_centred(input_ids, logits, prompt_width, temperature):
    """logits -= logits.mean() keeps a softmax as it is, and was moved behind it, where it does not. Fix: take it out."""
    right = left_padded.logprobs(input_ids, logits, prompt_width, temperature)["logprobs"]
    block = [z for rows in logits for row in rows for z in row]
    mean = sum(block) / len(block)
    return {"logprobs": [[value - mean / 64 for value in row] for row in right]}


def divided(args):
    for rows in args["logits"]:
        for row in rows:
            row[0] -= 1.0


written(
    "logprobs",
    "logprobs-shift-the-logits-in-place",
    "The logits that log-probabilities are made of are written into",
    "logits.div_(temperature), logits.sub_(max): what the entropy reads behind it are other logits. Fix: a copy.",
    divided,
    row="LP-14",
)


def shifted(*fields):
    """logits.sub_(max): right for the answer, and other logits for whoever reads them next."""

    def write(args):
        for field in fields:
            for rows in args[field]:
                for row in rows:
                    row[:] = [z - max(row) - 1.0 for z in row]

    return write


written(
    "entropy",
    "entropy-shifts-the-logits-in-place",
    "The logits that entropies are made of are written into",
    "logits.sub_(logits.max()), and the loss reads them next. Fix: a copy.",
    shifted("logits"),
    row="PPO-08",
)
written(
    "full_kl",
    "full-kl-shifts-the-logits-in-place",
    "The logits that an exact KL is made of are written into",
    "F.log_softmax in place, to save the memory of a vocabulary. Fix: a copy.",
    shifted("logits"),
    row="KL-08",
)


@MUTANTS.add(
    "entropy-last-columns-lost",
    "Entropies are taken 64 columns at a time, and those behind the last full chunk stay 0",
    left_padded,
    row="PPO-08",
)
def entropy(logits, completion_mask, prompt_width):
    """for i in range(T // 64), into a tensor of zeros. Fix: range(0, T, 64)."""
    right = entropy_of(logits, completion_mask, prompt_width)["entropy"]
    return entropies([full_chunks(row, COLUMNS) for row in right], completion_mask)


@MUTANTS.add(
    "full-kl-last-columns-lost",
    "The exact KL is taken 64 columns at a time, and is 0 behind the last full chunk",
    left_padded,
    row="KL-08",
)
def full_kl(logits, ref_logits, completion_mask, prompt_width, temperature):
    """for i in range(T // 64), into a tensor of zeros. Fix: range(0, T, 64)."""
    right = full_kl_of(logits, ref_logits, completion_mask, prompt_width, temperature)["kl"]
    return kls([full_chunks(row, COLUMNS) for row in right], completion_mask)


@MUTANTS.add(
    "kl-last-columns-lost",
    "The KL is taken 64 columns at a time, and is 0 behind the last full chunk",
    left_padded,
    row="KL-08",
)
def kl(logprobs, ref_logprobs, completion_mask):
    """for i in range(T // 64), into a tensor of zeros. Fix: range(0, T, 64)."""
    right = left_padded.kl(logprobs, ref_logprobs, completion_mask)["kl"]
    kept = [full_chunks(row, COLUMNS) for row in right]
    return {"kl": kept, "mean_kl": sum(map(sum, kept)) / max(left_padded.count(completion_mask), 1)}
