"""Wrong entropy bonuses beside a right policy term: their sign, and what they are a mean of."""

from conformance import data_parallel
from conformance.data_parallel import configured, loss_of

from ..registry import MUTANTS


def add(name, title, story, wrong, row):
    wrong.__doc__ = story
    MUTANTS.add(name, title, data_parallel, "loss", row=row)(wrong)


def with_mean(mean):
    """The right loss, and -coef * mean(entropy, mask, micro_batches, ranks, advantages)."""
    right = loss_of()

    def loss(
        logprobs,
        old_logprobs,
        ref_logprobs,
        advantages,
        completion_mask,
        micro_batches,
        ranks=None,
        entropy=None,
        sampling_logprobs=None,
        settings=None,
    ):
        answer = right(
            logprobs,
            old_logprobs,
            ref_logprobs,
            advantages,
            completion_mask,
            micro_batches,
            ranks,
            None,
            sampling_logprobs,
            settings,
        )
        if entropy is None:
            return answer
        parts = ranks or [list(range(len(advantages)))]
        nats = mean(entropy, completion_mask, micro_batches, parts, advantages)
        return dict(answer, loss=answer["loss"] - configured(settings).entropy_coef * nats)

    return loss


def mean_of(values):
    return sum(values) / max(1, len(values))


def trained(entropy, mask, rows):
    return [nats for b in rows for nats, on in zip(entropy[b], mask[b]) if on]


def means_of(entropy, mask, parts):
    means = [trained(entropy, mask, rows) for rows in parts]
    return mean_of([mean_of(nats) for nats in means if nats])


add(
    "entropy-penalised",
    "The entropy bonus is added to the loss",
    "loss = pg + beta * H: exploration is punished.",
    loss_of(bonus=lambda entropy, s: s.entropy_coef * entropy),
    "PPO-07",
)
add(
    "entropy-by-micro-batches",
    "The entropy bonus is the mean of the means of the micro-batches, the rest a mean over all tokens",
    "The policy's term was mended to divide by the tokens of the whole batch, and the bonus beside it was forgotten.",
    with_mean(lambda entropy, mask, micro_batches, ranks, advantages: means_of(entropy, mask, micro_batches)),
    "LOSS-01",
)
add(
    "entropy-by-ranks",
    "The entropy bonus is the mean of the means of the ranks, the rest a mean over all tokens",
    "The sum of the policy's term is divided by the tokens of all ranks; the mean of the entropies is left to the average of DDP.",
    with_mean(lambda entropy, mask, micro_batches, ranks, advantages: means_of(entropy, mask, ranks)),
    "LOSS-02",
)
add(
    "entropy-of-all-columns",
    "The entropy bonus is the mean over prompts and padding, too",
    "entropy.mean() instead of masked_mean(entropy, mask): the policy is paid for what it was given.",
    with_mean(
        lambda entropy, mask, micro_batches, ranks, advantages: mean_of([nats for row in entropy for nats in row])
    ),
    "PPO-08",
)
add(
    "entropy-of-good-rows",
    "The entropy bonus is the mean over the rows that do best",
    "The mask of the clipped surrogate, advantages >= their mean, was still called `mask` where the bonus is taken.",
    with_mean(
        lambda entropy, mask, micro_batches, ranks, advantages: mean_of(
            trained(
                entropy, mask, [b for b, value in enumerate(advantages) if value >= mean_of(advantages)]
            )
        )
    ),
    "PPO-08",
)
