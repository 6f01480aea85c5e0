"""Losses on pairs: DPO, its conservative and robust forms, IPO, the hinge, SimPO."""

from sources.entries import entry
from sources.exact import checked_slope, d, shown, sigmoid

DPO = "Rafailov et al. 2023, Direct Preference Optimization (arXiv 2305.18290), equation 7"
IMPLICIT = "the implicit reward beta log(pi / pi_ref) of section 4"
CDPO = "Mitchell 2023, A note on DPO with noisy preferences and relationship to IPO, equation 3"
RDPO = "Chowdhury et al. 2024, Provably Robust DPO (arXiv 2403.00409), the unbiased loss under flipped labels"
IPO = "Azar et al. 2023, A General Theoretical Paradigm to Understand Learning from Human Preferences (arXiv 2310.12036), equation 17"
RSO = "Liu et al. 2023, Statistical Rejection Sampling Improves Preference Optimization (arXiv 2309.06657), the loss hinge-norm"
SIMPO = "Meng et al. 2024, SimPO (arXiv 2405.14734), equation 6"
HOW = (
    "50 digits; the margin is the chosen completion's score less the rejected one's, the slope dloss/dmargin, confirmed by a "
    "difference quotient"
)

PAIR = {
    "chosen": ["-0.5", "-1.2", "-0.3"],
    "rejected": ["-0.9", "-2.1"],
    "refChosen": ["-0.7", "-1.1", "-0.6"],
    "refRejected": ["-0.8", "-1.5"],
}
AT_THE_REFERENCE = {**PAIR, "refChosen": PAIR["chosen"], "refRejected": PAIR["rejected"]}
# The rejected completion is far the likelier one: the sigmoid's far side.
WRONG = {"chosen": ["-30"], "rejected": ["-0.125"], "refChosen": ["-1"], "refRejected": ["-25"]}


def total(values):
    return sum(d(value) for value in values)


def loss_of(margin, objective, b, smoothing, epsilon, gamma):
    # SimPO's margin gamma stands beside beta times the difference in its paper; ours is divided by beta.
    h = b * margin - b * gamma if objective == "simpo" else b * margin
    right, wrong = -sigmoid(h).ln(), -sigmoid(-h).ln()
    if objective == "ipo":
        return (margin - 1 / (2 * b)) ** 2
    if objective == "hinge":
        return max(d(0), 1 - h)
    if smoothing == "robust":
        return ((1 - epsilon) * right - epsilon * wrong) / (1 - 2 * epsilon)
    return (1 - epsilon) * right + epsilon * wrong


def slope_of(margin, objective, b, smoothing, epsilon, gamma):
    """By the margin. DPO's gradient has the weight beta sigmoid(r(rejected) - r(chosen)): section 4, what the update does."""
    h = b * margin - b * gamma if objective == "simpo" else b * margin
    if objective == "ipo":
        return 2 * (margin - 1 / (2 * b))
    if objective == "hinge":
        return -b if h < 1 else d(0)
    right, wrong = -b * sigmoid(-h), b * sigmoid(h)
    if smoothing == "robust":
        return ((1 - epsilon) * right - epsilon * wrong) / (1 - 2 * epsilon)
    return (1 - epsilon) * right + epsilon * wrong


def example(id, source, pair, objective, beta, smoothing=None, share="0", gamma="0", length="sum"):
    b = d(beta)
    referred = [total(pair["chosen"]) - total(pair["refChosen"]), total(pair["rejected"]) - total(pair["refRejected"])]
    if objective == "simpo":
        margin = total(pair["chosen"]) / len(pair["chosen"]) - total(pair["rejected"]) / len(pair["rejected"])
    else:
        margin = referred[0] - referred[1]
    rest = (objective, b, smoothing, d(share), d(gamma))
    slope = checked_slope(lambda x: loss_of(x, *rest), margin, slope_of(margin, *rest))
    answer = {"margin": margin, "loss": loss_of(margin, *rest), "slope": slope}
    if objective != "simpo":
        answer["rewards"] = {"chosen": b * referred[0], "rejected": b * referred[1]}
    settings = {
        "objective": objective,
        "beta": beta,
        "labelSmoothing": share,
        "smoothing": smoothing or "conservative",
        "gamma": gamma,
        "length": length,
    }
    compute = "preference-loss" if objective == "simpo" else "implicit-rewards"
    return entry(id, source, HOW, compute, {"pair": pair, "settings": settings}, shown(answer))


def entries():
    return [
        example("dpo", f"{DPO}, and {IMPLICIT}", PAIR, "dpo", "0.1"),
        example("dpo-at-the-reference", f"{DPO}: where the policy is its reference, log 2", AT_THE_REFERENCE, "dpo", "0.1"),
        example("dpo-far-wrong", f"{DPO}, and {IMPLICIT}", WRONG, "dpo", "0.5"),
        example("cdpo", CDPO, PAIR, "dpo", "0.1", "conservative", "0.1"),
        example("robust-dpo", RDPO, PAIR, "dpo", "0.1", "robust", "0.1"),
        example("ipo", f"{IPO}, whose tau is beta", PAIR, "ipo", "0.1"),
        example("ipo-at-the-reference", f"{IPO}: (1 / (2 tau))^2", AT_THE_REFERENCE, "ipo", "0.1"),
        example("hinge", f"{RSO}, whose gamma is beta", PAIR, "hinge", "0.1"),
        example("hinge-satisfied", f"{RSO}, whose gamma is beta", {**PAIR, "rejected": ["-9", "-12"]}, "hinge", "0.1"),
        example("simpo", f"{SIMPO}, with beta 2 and a target margin gamma of 1", PAIR, "simpo", "2", gamma="0.5", length="mean"),
    ]
