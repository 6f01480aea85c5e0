"""Wrong steps on preference pairs: another reference, other lengths, one half that is not trained."""

from lossproof.examples import left_padded
from lossproof.examples.losses.preference_loss import dpo_loss
from lossproof.examples.models.checkpoints import preference_step, slopes

from ..registry import MUTANTS


def mutant(name, title, **more):
    """Registers the step that the function below makes, with its story."""

    def register(made):
        def step(model_path, reference_path, prompt_ids, chosen_ids, rejected_ids, learning_rate, saved_path):
            return made()(
                model_path, reference_path, prompt_ids, chosen_ids, rejected_ids, learning_rate, saved_path
            )

        step.__doc__ = made.__doc__
        MUTANTS.add("preference-step-" + name, title, left_padded, "preference_step", **more)(step)
        return made

    return register


@mutant("without-its-reference", "The policy is its own reference", row="LP-15")
def without_its_reference():
    """ref_model=model: nothing was copied, so every margin is 0 and every pair weighs the same, however far the policy
    has gone. Fix: load the reference from its own checkpoint."""
    return preference_step(lambda chosen, rejected, *_: dpo_loss(chosen, rejected, chosen, rejected), halves_apart)


@mutant("averages-tokens", "DPO compares means over the tokens of a completion", row="LOSS-13")
def averages_tokens():
    """average_log_prob=True was left over from IPO: long completions count for less. Fix: sums."""
    return preference_step(lambda *halves: dpo_loss(*([[sum(row) / len(row)] for row in half] for half in halves)))


@mutant("forgets-the-rejected", "The rejected half has no gradient")
def forgets_the_rejected():
    """Its forward pass stood inside no_grad(), with those of the reference: loss and margins are right, and nothing
    moves away from what was rejected. Fix: only the reference is without gradient."""

    def weights(objective, halves):
        right = slopes(objective, halves)
        return [row if at < len(halves[0]) else [0.0] * len(row) for at, row in enumerate(right)]

    return preference_step(dpo_loss, weights)


@mutant("swaps-the-references", "The reference's halves change places")
def swaps_the_references():
    """Its log-probabilities were computed ahead and stored with the rejected ones first: each ratio compares two texts.
    Fix: store them under the names of their halves."""
    return preference_step(lambda chosen, rejected, first, second: dpo_loss(chosen, rejected, second, first))


def halves_apart(_, halves):
    """Weights at margin 0, with a reference that is not moved along."""
    return slopes(dpo_loss, [*halves[:2], *halves[:2]])


@mutant("means-of-micro-batches", "The loss is a mean of the means of four pairs each", row="LOSS-12")
def means_of_means():
    """The last micro-batch is not full, and weighs as much as the others. Fix: divide by the pairs of the step."""

    def weights(objective, halves):
        count = len(halves[0])
        starts = range(0, count, 4)
        of = lambda pair: count / (len(starts) * min(4, count - pair // 4 * 4))
        return [[weight * of(at % count) for weight in row] for at, row in enumerate(slopes(objective, halves))]

    return preference_step(dpo_loss, weights)
